"""Choices of what is called: the name trie (paper, section 3.1), and a further call or the end of all calls."""

import bisect
import itertools
from collections.abc import Sequence
from typing import NamedTuple

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError
from lookup.languages.codepoints import RESERVED
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.tokens.branch import Branch
from tooldecoding.tokens.token_table import TokenTable, shared_length
from tooldecoding.tokens.token_texts import END
from tooldecoding.tokens.trie import Trie
from tooldecoding.tokens.way_out import Verdict, log_odds_of_going_on


class _Entry(NamedTuple):
    """The number of a tool, and the text behind its name and bracket that tells it from longer names."""

    tool: int
    behind: str


class NameTrie(Trie):
    """The names of tools, each with the bracket that opens its arguments.

    Where a format has no bracket, what may come next ends a name: a key, or the end of a call without arguments.

    Parameters
    ----------
    tools : sequence of ToolSpec
    number : int
        The number of the call among those of a turn.

    Raises
    ------
    DocumentationError
        If one name with its bracket is the beginning of another.
    """

    def __init__(self, table: TokenTable, tools: Sequence[ToolSpec], call_format: CallFormat, number: int) -> None:
        bracket = call_format.bracket_of(number)
        self._entries = [_Entry(n, text) for n, tool in enumerate(tools) for text in _behind(tool, call_format)]
        texts = [tools[n].name + bracket + behind for n, behind in self._entries]
        demand_distinct(texts, "tools")
        super().__init__(table, texts, [entry.tool for entry in self._entries])

    async def choose(self, branch: Branch) -> int:
        """Let the model choose a tool, and write its name and bracket; returns the number of the tool."""
        number, _ = await branch.choose(self)
        tool, behind = self._entries[number]
        branch.take_back(behind)
        return tool

    def called(self, written: bytes) -> tuple[int, int] | None:
        """Return the tool whose name and bracket ``written`` begins with, and the number of their bytes."""
        place = self.covered(written)
        if place is None:
            return None
        tool, behind = self._entries[self.number(place)]
        return tool, place.written - len(behind.encode())


class NextCall:
    """The choice behind a call: another call follows only if the model wants one (``tooldecoding.tokens.way_out``).

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
        starts = [form.start(number) for form in (call_format, *call_format.also) if form.parallel]
        names = [tool.name + call_format.bracket_of(number) for tool in tools]
        self._on = sorted((_squeezed((start + name).encode()), _shown(start)) for start in starts for name in names)
        by_mark = self._start.strip() and ord(self._start.strip()[0]) in RESERVED
        space = self._start[: len(self._start) - len(self._start.lstrip())]
        self._expected = (self._start[: shared_length(self._start, self._end)] or space) if by_mark else self._start

    async def choose(self, branch: Branch) -> bool:
        """Let the model choose, and write what opens the next call, or the end; returns whether a call follows."""
        goes_on = await log_odds_of_going_on(branch, self._verdict, self._expected) > 0
        branch.keep((self._start if goes_on else self._end).encode(), "constrained")
        return goes_on

    def _verdict(self, text: bytes) -> Verdict:
        written = _squeezed(text)
        place = bisect.bisect_left(self._on, (written, 0))
        near = self._on[max(0, place - 1) : place + 1]  # sorted: what begins with it stands here, its beginning before
        agreeing = [shown for on, shown in near if on.startswith(written) or written.startswith(on)]
        if not agreeing:
            return "out"
        return "on" if len(written) > min(agreeing) and not self._out.startswith(written) else "open"


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


def _behind(tool: ToolSpec, call_format: CallFormat) -> list[str]:
    if call_format.bracket:
        return [""]
    key, end = call_format.key_opener, call_format.end_of(empty=True)
    return [key] * bool(tool.parameters) + [end] * (not tool.required)


def demand_distinct(texts: Sequence[str], what: str) -> None:
    """DocumentationError if one text is the beginning of another: a call could not tell them apart."""
    for shorter, longer in itertools.pairwise(sorted(texts)):
        if longer.startswith(shorter):
            raise DocumentationError(
                f"{what}: {shorter!r} is the beginning of {longer!r}, so a call cannot tell them apart; rename one"
            )
