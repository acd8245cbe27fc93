"""Readers that are data: blocks of calls with fixed texts around names, keys and values.

A reader with raw values does not know the tools, so every value is a text. Parsers strip the spaces around keys and
values, and a tool would get another value than the one written: such a text is refused.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tooldecoding.formats.reading import Cursor, ReadCall

PLAIN_KEY: Final = re.compile(r"[^\n<>]++")
"""A key in a tag."""

QUOTED_KEY: Final = re.compile(r'[^"\n<>]++')
"""A key between the quotes of an attribute."""


@dataclass(frozen=True)
class BlockReader:
    """Reads ``opener``, calls as ``head name bracket arguments tail`` with ``gap`` between them, and ``closer``.

    Attributes
    ----------
    head, bracket, tail : str
        The text around the name and the arguments of a call.
    arguments : callable
        Reads the arguments at a cursor.
    opener, gap, closer : str
        Without a closer, calls follow each other up to the end.
    """

    head: str
    bracket: str
    arguments: Callable[[Cursor], list[tuple[str, Any]]]
    tail: str = ""
    opener: str = ""
    gap: str = ""
    closer: str = ""

    def __call__(self, text: str) -> list[ReadCall]:
        """Read one call or more; UnreadableCallError if the text is anything else, too long or nested too deeply."""
        cursor = Cursor(text)
        cursor.expect(self.opener)
        calls = list[ReadCall]()
        while not calls or self._goes_on(cursor):
            cursor.expect(self.head)
            name = cursor.tool_name()
            cursor.expect(self.bracket)
            calls.append((name, self.arguments(cursor)))
            cursor.expect(self.tail)
        cursor.expect(self.closer)
        cursor.expect_end()
        return calls

    def _goes_on(self, cursor: Cursor) -> bool:
        if self.gap:
            return cursor.take(self.gap)
        if self.closer:
            return not cursor.text.startswith(self.closer, cursor.position)
        return cursor.position < len(cursor.text)


@dataclass(frozen=True)
class RawArguments:
    """Reads keys and values that stand as they are: ``opener key middle value end gap``, again and again, ``closer``.

    Attributes
    ----------
    key : pattern
    frame : str
        Stands before and behind each value, and is no part of it.
    """

    opener: str
    key: re.Pattern[str]
    middle: str
    end: str
    closer: str
    gap: str = "\n"
    frame: str = ""

    def __call__(self, cursor: Cursor) -> list[tuple[str, Any]]:
        """Read the arguments and the closer; UnreadableCallError if they are not there, or padded with white space."""
        pairs = list[tuple[str, Any]]()
        while not cursor.take(self.closer):
            cursor.expect(self.opener)
            key = _unpadded(cursor, cursor.match(self.key, "a key")[0])
            cursor.expect(self.middle + self.frame)
            value = cursor.until(self.end)
            if not value.endswith(self.frame):
                raise cursor.error(f"expected {self.frame!r} before {self.end!r}")
            pairs.append((key, _unpadded(cursor, value.removesuffix(self.frame))))
            cursor.expect(self.gap)
        return pairs


def _unpadded(cursor: Cursor, text: str) -> str:
    if text != text.strip():
        raise cursor.error("expected no white space around keys and values")
    return text
