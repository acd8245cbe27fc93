"""Who speaks where in a prompt: documentation in the user's words does not go before that of the system.

Chat templates mark who speaks (``<|im_start|>user``, ``[INST]``, …), plain prompts write ``User:`` at the start of a
line. A user may paste documentation of other tools into a question. Where the prompt documents tools outside of the
user's and the assistant's words, those inside are passed over; where it does not, they are what there is.
"""

import re
from bisect import bisect_right
from typing import Final

from lookup.text.places import Stretches

_SPEAKERS: Final = {
    "user": "user", "human": "user", "question": "user", "query": "user",
    "assistant": "assistant", "model": "assistant", "ai": "assistant", "gpt": "assistant", "bot": "assistant",
}  # fmt: skip
# What else begins a part of a plain prompt, and so ends a user's words.
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
# Begins with the line end, which a search finds several times faster than the start of a line.
_LINE = re.compile(r"\n[ \t]{0,12}(?:\#{1,4} {0,3})?(?:\*\*)?(?P<line>[A-Za-z][A-Za-z -]{0,40}):(?:\*\*)?(?=\s)")
# What a template's marker contains at least: to look for fixed text first is ten times as fast.
_MARKS: Final = ("<|", "<start_of_turn>", "INST]", "SYS>>", "AVAILABLE_TOOLS]")
_BRACKETS: Final = {"[INST]": "user", "<</SYS>>": "user", "[/INST]": "assistant"}


class Roles:
    """Who speaks at each offset of a text: ``"user"``, ``"assistant"``, or ``""`` for all others.

    Parameters
    ----------
    taken : Stretches
        Documentation; nothing inside it marks a speaker.
    """

    def __init__(self, text: str, taken: Stretches) -> None:
        self._starts = [0]
        self._roles = [""]
        # Where a chat template speaks, lines such as "User:" are somebody's words.
        pattern = _TEMPLATE if any(mark in text for mark in _MARKS) and _TEMPLATE.search(text) else _LINE
        first = pattern.match(f"\n{text[:60]}")
        for match in [first, *pattern.finditer(text)] if first else pattern.finditer(text):
            role = _role(match)
            start = 0 if match is first else match.start()
            if role is not None and taken.end_at(start) is None:
                self._starts.append(start)
                self._roles.append(role)

    def at(self, offset: int) -> str:
        """Who speaks at an offset."""
        return self._roles[bisect_right(self._starts, offset) - 1]


def _role(match: re.Match[str]) -> str | None:
    """Who speaks behind a marker; ``None`` for a line that marks nobody."""
    found = match.groupdict()
    if found.get("bracket"):
        return _BRACKETS.get(found["bracket"], "")
    if "line" in found:
        name = found["line"].strip().lower()
        return _SPEAKERS.get(name, "" if name in _HEADINGS else None)
    return _SPEAKERS.get(next(filter(None, found.values())).lower(), "")
