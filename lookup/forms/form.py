"""What a documentation form is: the small interface that every form's reader stands behind."""

import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError, MisreadError
from lookup.messages import shown

NAME_KEYS: Final = ("api_name", "name", "apiCode", "function_name", "tool_name")
"""Under which key a tool is named, the first one that is there."""

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
    """A form that is laid out as text; ``find`` gives the tools of a text in order."""

    title: str
    find: Callable[[str], Iterator[TextTool]]


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
