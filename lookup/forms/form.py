"""What a documentation form is: the small interface that every form's reader stands behind."""

import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError

NAME_KEYS: Final = ("api_name", "name", "apiCode", "function_name", "tool_name")
"""Under which key a tool is named, the first one that is there."""

MAX_QUOTED: Final = 120
_CALLED = re.compile(r"[^\W\d]\w*(?:\.\w+)*")


@dataclass(frozen=True)
class ObjectForm:
    """A form whose tools are objects, in JSON, Python or YAML.

    ``claims`` tells whether an object is, or tries to be, documentation of this form; it never raises. ``read``
    gives its tools, each with the object that documents it, or raises a ``DocumentationError`` that names tool
    and parameter. A claimed object is not searched for further tools.
    """

    title: str
    claims: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], Iterable[tuple[ToolSpec, Mapping[str, Any]]]]


def one_tool(
    read: Callable[[Mapping[str, Any]], ToolSpec],
) -> Callable[[Mapping[str, Any]], Iterable[tuple[ToolSpec, Mapping[str, Any]]]]:
    """The ``read`` of a form whose every object documents one tool."""
    return lambda data: [(read(data), data)]


@dataclass(frozen=True)
class TextTool:
    """A tool of a ``TextForm``, or why it cannot be read, and the stretch of text that belongs to it."""

    tool: "ToolSpec | MisreadError"
    start: int
    end: int


@dataclass(frozen=True)
class TextForm:
    """A form that is laid out as text; ``find`` gives the tools of a text in order.

    A ``fallback`` looks like ordinary code or prose: it counts only where no other form documents a tool.
    """

    title: str
    find: Callable[[str], Iterator[TextTool]]
    fallback: bool = False


class MisreadError(DocumentationError):
    """Malformed documentation at an offset, which ``extract`` turns into file, line and column."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


def shown(value: object) -> str:
    """A found value for an error message: its JSON kind and its beginning."""
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return f"the text {reprlib.repr(value)}"
    if isinstance(value, Mapping):
        return f"an object with {len(value)} keys"
    if isinstance(value, list | tuple | set):
        return f"a list of {len(value)}"
    return f"{type(value).__name__} {reprlib.repr(value)}"


@dataclass(frozen=True)
class Piece:
    """One value that stands in a text as JSON, Python or YAML, at ``start`` to ``end``.

    Attributes
    ----------
    spans : mapping
        For the ``id`` of each object inside the value, where it stands; right as long as the value lives.
    document, whole : bool
        Whether it stands among the documents that a text starts with, and whether the text holds nothing else.
    error : MisreadError, optional
        Why it cannot be read, where it looks like documentation; ``value`` is ``None`` then.
    notes : tuple of str
        What of it was not taken over.
    """

    value: Any
    start: int
    end: int
    spans: Mapping[int, tuple[int, int]]
    document: bool = False
    whole: bool = False
    error: MisreadError | None = None
    notes: tuple[str, ...] = ()


def quoted(text: str) -> str:
    """A name or key for a message, cut in its middle if it is long: messages are made for every key that is read."""
    return repr(text) if len(text) <= MAX_QUOTED else f"{text[:60]!r}…{text[-20:]!r}"


def found_at(text: str, position: int) -> str:
    """What stands at an offset, for an error message."""
    rest = text[position : position + 20].split("\n", 1)[0]
    if not rest:
        return "the end of the line" if position < len(text) else "the end of the text"
    return repr(rest)


def has_name(data: Mapping[str, Any]) -> bool:
    """Whether an object has a key under which tools are named."""
    return any(key in data for key in NAME_KEYS)


def read_name(data: Mapping[str, Any]) -> str:
    """The tool's name, verbatim; DocumentationError unless it is a text that is not blank.

    Where an object has ``api_name`` or a dotted ``api_call``, too, a call is written with that one, and ``name`` is a
    title for people (Gorilla).
    """
    key = next((key for key in NAME_KEYS if key in data), "name")
    call = data.get("api_call")
    if key == "name" and isinstance(call, str) and _CALLED.fullmatch(call):
        key = "api_call"
    name = data.get(key)
    if not isinstance(name, str) or not name.strip():
        found = shown(name) if key in data else f"only the keys {reprlib.repr(list(data))}"
        raise DocumentationError(f"a tool needs a name: expected a text under {key!r}, found {found}")
    return name


def read_description(data: Mapping[str, Any], owner: str) -> str:
    """The description, verbatim; ``""`` when absent or null. ``owner`` names tool and parameter."""
    key = "api_description" if "api_description" in data else "description"
    description = data.get(key)
    if description is None:
        return ""
    if not isinstance(description, str):
        raise DocumentationError(f"{owner}: expected {key!r} to be a text, found {shown(description)}")
    return description
