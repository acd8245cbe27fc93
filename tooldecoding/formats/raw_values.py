"""What the readers of formats with raw values share: keys and values that stand in the text as they are.

Such a reader does not know the tools, so every value is a text. Parsers strip the spaces around keys and values, and a
tool would get another value than the one written: a reader refuses such a text.
"""

import re
from typing import Final

from tooldecoding.formats.cursor import Cursor

PLAIN_KEY: Final = re.compile(r"[^\n<>]++")
"""A key in a tag."""

QUOTED_KEY: Final = re.compile(r'[^"\n<>]++')
"""A key between the quotes of an attribute."""


def raw_key(cursor: Cursor, pattern: re.Pattern[str]) -> str:
    """Read the key that stands here; UnreadableCallError if there is none, or spaces around it."""
    return _unpadded(cursor, cursor.match(pattern, "a key")[0])


def raw_value(cursor: Cursor, end: str, frame: str = "") -> str:
    """Read the value before the next ``end``, between two frames that are no part of it, and step over ``end``.

    Raises
    ------
    UnreadableCallError
        If ``end`` or a frame is missing, or the value begins or ends with white space.
    """
    cursor.expect(frame)
    value = cursor.until(end)
    if not value.endswith(frame):
        raise cursor.error(f"expected {frame!r} before {end!r}")
    return _unpadded(cursor, value.removesuffix(frame))


def _unpadded(cursor: Cursor, text: str) -> str:
    if text != text.strip():
        raise cursor.error("expected no white space around keys and values")
    return text
