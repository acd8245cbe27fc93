"""The interface of a documentation form."""

import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError, MisreadError, shown

NAME_KEYS: Final = ("api_name", "name", "apiCode", "function_name", "tool_name")
"""The keys that may contain the name of a tool. The first one present is used."""

_CALLED = re.compile(r"[^\W\d]\w*(?:\.\w+)*")


@dataclass(frozen=True)
class ObjectForm:
    """A form whose tools are objects in JSON, Python or YAML.

    Attributes
    ----------
    claims : callable
        Whether an object is documentation of this form, possibly malformed. Never raises. A claimed object is not
        searched for further tools.
    read : callable
        The tools of a claimed object, each with the object that documents it. Raises a ``DocumentationError`` that
        names tool and parameter.
    """

    title: str
    claims: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], Iterable[tuple[ToolSpec, Mapping[str, Any]]]]


@dataclass(frozen=True)
class TextTool:
    """A tool of a ``TextForm``, or its error, and the range of text that belongs to it."""

    tool: "ToolSpec | MisreadError"
    start: int
    end: int


@dataclass(frozen=True)
class TextForm:
    """A form that is laid out as text. ``find`` yields the tools of a text in order."""

    title: str
    find: Callable[[str], Iterator[TextTool]]


def has_name(data: Mapping[str, Any]) -> bool:
    """Whether an object has a key that may contain the name of a tool."""
    return any(key in data for key in NAME_KEYS)


def read_name(data: Mapping[str, Any]) -> str:
    """The tool's name, verbatim. Raises DocumentationError unless it is a non-blank text.

    If the object also has ``api_name`` or a dotted ``api_call``, that is the name in calls, and ``name`` is a title
    for people (Gorilla).
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
