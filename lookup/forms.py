"""What a documentation form is: the small interface that every form's reader stands behind."""

import reprlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lookup.errors import DocumentationError
from lookup.schema import ToolSpec


@dataclass(frozen=True)
class ObjectForm:
    """A form whose every tool is one JSON or Python object.

    ``claims`` tells whether an object is, or tries to be, a tool of this form; it never raises. ``read``
    gives the tool, or a ``DocumentationError`` that names tool and parameter. A claimed object is not
    searched for further tools.
    """

    title: str
    claims: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], ToolSpec]


@dataclass(frozen=True)
class TextTool:
    """A tool of a ``TextForm``, and the stretch of text that belongs to it."""

    tool: ToolSpec
    start: int
    end: int


@dataclass(frozen=True)
class TextForm:
    """A form that is laid out as text; ``find`` gives the tools of a text in order, or a ``MisreadError``."""

    title: str
    find: Callable[[str], Iterator[TextTool]]


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


def found_at(text: str, position: int) -> str:
    """What stands at an offset, for an error message."""
    rest = text[position : position + 20].split("\n", 1)[0]
    if not rest:
        return "the end of the line" if position < len(text) else "the end of the text"
    return repr(rest)


def read_name(data: Mapping[str, Any]) -> str:
    """The tool's name, verbatim; DocumentationError unless it is a text that is not blank."""
    name = data.get("name")
    if not isinstance(name, str) or not name.strip():
        found = shown(name) if "name" in data else f"only the keys {reprlib.repr(list(data))}"
        raise DocumentationError(f"a tool needs a name: expected a text under 'name', found {found}")
    return name


def read_description(data: Mapping[str, Any], owner: str) -> str:
    """The description, verbatim; ``""`` when absent or null. ``owner`` names tool and parameter."""
    description = data.get("description")
    if description is None:
        return ""
    if not isinstance(description, str):
        raise DocumentationError(f"{owner}: expected 'description' to be a text, found {shown(description)}")
    return description
