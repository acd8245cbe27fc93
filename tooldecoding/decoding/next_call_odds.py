"""How likely another call follows a call, as log-odds; ``PromptDecoder`` decides by them."""

import bisect
import json
import math
from collections.abc import Sequence
from typing import Final

from lookup.dictionary import ToolSpec
from lookup.languages.codepoints import RESERVED
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.tokens.branch import Branch
from tooldecoding.tokens.log_odds import Verdict, log_odds_of_going_on
from tooldecoding.tokens.token_table import shared_length
from tooldecoding.tokens.token_texts import END

_FURTHER: Final = ",\n"


class NextCallOdds:
    """The choice behind a call: another call follows only if the model wants one (``tooldecoding.tokens.log_odds``).

    White space does not tell them apart: models write it as they like. A format without a closer ends where the model
    ends its turn; any end of a turn, any other special token and any text is an end as well. Where the closer begins as
    a further call does, the names tell them apart::

        hermes   on: \\n<tool_call>…   {"name"…     out: <|im_end|>   \\n<|endoftext|>   \\n\\nThe timer is set.
        olmo3    on: \\nget_time(…                  out: \\n</function_calls>

    Parameters
    ----------
    tools : sequence of ToolSpec
        Those that may be called.
    number : int
        The number of the call that may follow.
    """

    def __init__(self, tools: Sequence[ToolSpec], call_format: CallFormat, number: int) -> None:
        self._start, self._end = call_format.start(number), call_format.closer or END
        self._out = _squeezed(self._end.encode())
        starts = [form.start(number) for form in call_format.spellings if form.parallel]
        names = [tool.name + call_format.bracket_of(number) for tool in tools]
        self._on = sorted((_squeezed((start + name).encode()), _shown(start)) for start in starts for name in names)
        by_mark = self._start.strip() and ord(self._start.strip()[0]) in RESERVED
        space = self._start[: len(self._start) - len(self._start.lstrip())]
        self._expected = (self._start[: shared_length(self._start, self._end)] or space) if by_mark else self._start

    async def log_odds(self, branch: Branch) -> float:
        """Return the natural log-odds of another call against the end; see ``log_odds_of_going_on``."""
        return await log_odds_of_going_on(branch, self._verdict, self._expected)

    def write(self, branch: Branch, goes_on: bool) -> None:
        """Write what opens the next call, or the end."""
        branch.keep((self._start if goes_on else self._end).encode(), "constrained")

    def _verdict(self, text: bytes) -> Verdict:
        written = _squeezed(text)
        place = bisect.bisect_left(self._on, (written, 0))
        near = self._on[max(0, place - 1) : place + 1]  # sorted: what begins with it stands here, its beginning before
        agreeing = [shown for on, shown in near if on.startswith(written) or written.startswith(on)]
        if not agreeing:
            return "out"
        return "on" if len(written) > min(agreeing) and not self._out.startswith(written) else "open"


class CallsAsList:
    """Asks whether another call follows, on a branch beside the writing: it has read the calls so far as a JSON list.

    Small models that never write a second call by themselves often know that one is wanted, and show it best in a list
    as they write it in answers, whatever format they write calls in. The log-odds of a comma against all else; the
    brace before it is not settled, since models write both in one token::

        ```json
        [
          {
            "name": "get_weather",
            "arguments": {
              "city": "Rome"
            }
         ──┬── },\\n   goes on
           └── }\\n    leaves

    Parameters
    ----------
    branch : Branch
        Ends where the prompt ends.
    """

    def __init__(self, branch: Branch) -> None:
        self._branch = branch
        branch.write("```json\n[")
        self._before = "\n"

    async def log_odds(self, call: Call) -> float:
        """Add a call; returns the natural log-odds of another one against the end, -inf where the context is full."""
        written = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False, indent=2)
        self._branch.write(self._before + "  " + written.replace("\n", "\n  "))
        self._before = _FURTHER
        if self._branch.room_behind is not None and self._branch.room_behind < len(_FURTHER):
            return -math.inf
        return await log_odds_of_going_on(self._branch, _further_item, _FURTHER)

    def release(self) -> None:
        """Tell the engine that nothing more is asked."""
        self._branch.release()


def _further_item(text: bytes) -> Verdict:
    if not text:
        return "open"
    return "on" if text.startswith(b",") else "out"


def _shown(start: str) -> int:
    """Return how many bytes of what opens a call, without white space, still may open something else: up to its mark.

    Text, as ``, `` or ``{"name": "``, shows a call only with the name behind it.
    """
    squeezed = _squeezed(start.encode())
    mark = next((n for n, character in enumerate(squeezed.decode()) if ord(character) in RESERVED), None)
    return len(squeezed) if mark is None else len(squeezed.decode()[:mark].encode())


def _squeezed(text: bytes) -> bytes:
    """Return a text without white space."""
    return b"".join(text.split())
