"""Who speaks at each offset of a prompt.

Chat templates mark the speaker (``<|im_start|>user``, ``[INST]``, …); plain prompts write ``User:`` at the start of a
line. A user may paste documentation of other tools into a question. If the prompt documents tools outside the user's
and the assistant's turns, the tools inside them are ignored; otherwise they are read.
"""

import re
from bisect import bisect_right
from typing import Final

from lookup.source import Stretches

_NAMES: Final = {
    "user": "user", "human": "user", "question": "user", "query": "user",
    "assistant": "assistant", "model": "assistant", "ai": "assistant", "gpt": "assistant", "bot": "assistant",
}  # fmt: skip
# Other headings that end a user's turn in a plain prompt.
_HEADINGS: Final = frozenset(
    {
        "system", "tool", "tools", "function", "functions", "api", "apis", "api descriptions", "api-request",
        "api-response", "available tools", "available functions", "observation", "documentation", "calls",
    }
)  # fmt: skip
_TEMPLATE = re.compile(
    r"""<\|im_start\|>(?P<im>\w+)
      | <\|start_header_id\|>(?P<header>\w+)<\|end_header_id\|>
      | <start_of_turn>(?P<turn>\w+)
      | <\|(?P<tag>system|user|assistant|tool)\|>
      | (?P<bracket>\[/?INST\]|<</?SYS>>|\[/?AVAILABLE_TOOLS\])
    """,
    re.VERBOSE,
)
# Begins with the line end, because a search finds it several times faster than the start of a line.
_LINE = re.compile(r"\n[ \t]{0,12}(?:\#{1,4} {0,3})?(?:\*\*)?(?P<line>[A-Za-z][A-Za-z -]{0,40}):(?:\*\*)?(?=\s)")
# Every template marker contains one of these. Looking for fixed text first is ten times as fast.
_MARKS: Final = ("<|", "<start_of_turn>", "INST]", "SYS>>", "AVAILABLE_TOOLS]")
_BRACKETS: Final = {"[INST]": "user", "<</SYS>>": "user", "[/INST]": "assistant"}


class Speakers:
    """The speaker at each offset of a text: ``"user"``, ``"assistant"``, or ``""`` for anyone else.

    Parameters
    ----------
    taken : Stretches
        Documentation. Markers inside it are ignored.
    """

    def __init__(self, text: str, taken: Stretches) -> None:
        self._starts = [0]
        self._speakers = [""]
        # In a chat template, a line such as "User:" is ordinary text.
        pattern = _TEMPLATE if any(mark in text for mark in _MARKS) and _TEMPLATE.search(text) else _LINE
        first = pattern.match(f"\n{text[:60]}")
        for match in [first, *pattern.finditer(text)] if first else pattern.finditer(text):
            speaker = _speaker(match)
            start = 0 if match is first else match.start()
            if speaker is not None and taken.end_at(start) is None:
                self._starts.append(start)
                self._speakers.append(speaker)

    def at(self, offset: int) -> str:
        """The speaker at an offset."""
        return self._speakers[bisect_right(self._starts, offset) - 1]


def _speaker(match: re.Match[str]) -> str | None:
    """The speaker that a marker announces; ``None`` for a line that is no marker."""
    found = match.groupdict()
    if found.get("bracket"):
        return _BRACKETS.get(found["bracket"], "")
    if "line" in found:
        name = found["line"].strip().lower()
        return _NAMES.get(name, "" if name in _HEADINGS else None)
    return _NAMES.get(next(filter(None, found.values())).lower(), "")
