"""Errors in a user's input, and how their messages show names, values and places.

Every message says what was expected and what was found.
"""

import reprlib
from collections.abc import Mapping
from typing import Final

_MAX_QUOTED: Final = 120


class ToolDecodingError(Exception):
    """Base class of all errors caused by a user's input. The command line prints the message and exits with 2.

    A second argument goes on with the message: paths of this machine and text of a prompt, which no client of a server
    may read.
    """

    def __str__(self) -> str:
        return "".join(map(str, self.args))

    @property
    def public(self) -> str:
        """The message without what is private."""
        return "".join(map(str, self.args[:1]))


class DocumentationError(ToolDecodingError):
    """Tool documentation that is empty, malformed or ambiguous, or that contains no tool."""


class MisreadError(DocumentationError):
    """Malformed documentation at an offset. ``extract`` turns the offset into file, line and column."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class LiteralError(ToolDecodingError):
    """Text that is not a valid literal of JSON, Python or YAML.

    Attributes
    ----------
    position : int
        Offset of the first character that cannot be read.
    expected : str
        What was expected there.
    """

    def __init__(self, expected: str, position: int) -> None:
        super().__init__(f"expected {expected} at offset {position}")
        self.expected = expected
        self.position = position


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


def raised(error: BaseException) -> str:
    """The kind of an exception and what it says; also one of a foreign class that cannot say anything."""
    kind = type(error).__name__
    try:
        return f"{kind}: {error}"
    except Exception:  # noqa: BLE001 - it runs the code of a foreign class
        return kind


def quoted(text: str) -> str:
    """A name or key in quotes. A long one is cut in the middle, because messages are built for every key."""
    return repr(text) if len(text) <= _MAX_QUOTED else f"{text[:60]!r}…{text[-20:]!r}"


def found_at(text: str, position: int) -> str:
    """The text at an offset, for an error message."""
    rest = text[position : position + 20].split("\n", 1)[0]
    if not rest:
        return "the end of the line" if position < len(text) else "the end of the text"
    return repr(rest)
