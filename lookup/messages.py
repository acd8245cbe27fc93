"""How error messages and notes show names, values and places."""

import reprlib
from collections.abc import Mapping
from typing import Final

_MAX_QUOTED: Final = 120


def shown(value: object) -> str:
    """A value for an error message: its JSON kind and its beginning."""
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return f"the text {reprlib.repr(value)}"
    if isinstance(value, Mapping):
        return f"an object with {len(value)} keys"
    if isinstance(value, list | tuple | set):
        return f"a list of {len(value)}"
    return f"{type(value).__name__} {written(value)}"


def written(value: object) -> str:
    """A value as Python writes it, shortened; also one with a number of more digits than Python writes."""
    try:
        return reprlib.repr(value) if isinstance(value, list | tuple | dict) else repr(value)
    except ValueError:
        return f"{type(value).__name__} with a number of very many digits"


def quoted(text: str) -> str:
    """A name or key in quotes. A long one is cut in the middle, because messages are built for every key."""
    return repr(text) if len(text) <= _MAX_QUOTED else f"{text[:60]!r}…{text[-20:]!r}"


def found_at(text: str, position: int) -> str:
    """The text at an offset, for an error message."""
    rest = text[position : position + 20].split("\n", 1)[0]
    if not rest:
        return "the end of the line" if position < len(text) else "the end of the text"
    return repr(rest)
