"""Read documentation that is not text: parsed data, Python functions and classes, and other tool objects."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.documents.forms import OBJECT_FORMS
from lookup.documents.forms.form import ObjectForm, claims, read_claim
from lookup.documents.python.callables import read_callable, read_model
from lookup.documents.python.hints import is_model
from lookup.documents.text.text_reader import TextReader
from lookup.errors import DocumentationError
from lookup.literals.literal_reader import MAX_DEPTH
from lookup.source import Source, Unread

# A live object is replaced by {_LIVE: function that reads it}, so that the search for claims finds it in the data.
_LIVE: Any = object()
_LIVE_FORM: Final = ObjectForm("", lambda data: _LIVE in data, lambda data: [(tool, data) for tool in data[_LIVE]()])
# The attribute with the parameters in tool objects of LangChain, smolagents, MCP and others.
_SCHEMAS: Final = ("args_schema", "inputSchema", "input_schema", "inputs", "parameters")


def read(source: Any, origin: str) -> tuple[list[ToolSpec], list[Unread]]:
    """The tools of parsed data, a function, a class, or a sequence of these, and what was not read.

    DocumentationError as for ``lookup.extract``.
    """
    listed = isinstance(source, Sequence) and not isinstance(source, str | bytes | bytearray)
    if not (listed or isinstance(source, Mapping) or is_model(source) or _is_instance(source) or callable(source)):
        raise DocumentationError(
            f"{origin}: expected a text, an object, a function, a pydantic model or a list of these, "
            f"found {type(source).__name__}"
        )
    unread: list[Unread] = []
    if listed:
        places = [(entry, f"{origin}[{index}]") for index, entry in enumerate(source)]
        data: Any = [_text(e, place, unread) if isinstance(e, str) else _plain(e, place) for e, place in places]
    else:
        data = _plain(source, origin)
    tools: list[ToolSpec] = []
    for claim in claims(data, (_LIVE_FORM, *OBJECT_FORMS), listed=True):
        if claim.form is _LIVE_FORM:
            tools += claim.data[_LIVE]()
        else:
            path = "".join(f"[{step!r}]" for step in claim.path)
            tools += read_claim(claim, partial(_source, origin, path), unread)
    return tools, unread


def _source(origin: str, path: str, node: Mapping[str, Any], form: str) -> Source:
    return Source(form, origin, path=path)


def _text(text: str, place: str, unread: list[Unread]) -> Any:
    """The stand-in for a text in a list."""
    if not text.strip():
        return None
    tools, found_unread = TextReader(text, place).read()
    unread += found_unread
    return {_LIVE: lambda: tools} if tools else None


def _plain(entry: Any, place: str, depth: int = 0) -> Any:
    """The data with a stand-in for each live object in it."""
    if depth > MAX_DEPTH:
        raise DocumentationError(f"{place}: expected at most {MAX_DEPTH} levels of nesting, found more")
    if reader := _reader(entry):
        return {_LIVE: partial(_read_live, reader, entry, place)}
    if _is_instance(entry):
        entry = entry.model_dump(by_alias=True, exclude_none=True)
    if isinstance(entry, Mapping):
        return {key: _plain(value, f"{place}[{key!r}]", depth + 1) for key, value in entry.items()}
    if isinstance(entry, list | tuple):
        inside = [_plain(value, f"{place}[{index}]", depth + 1) for index, value in enumerate(entry)]
        return inside if isinstance(entry, list) else tuple(inside)
    return entry


def _reader(entry: Any) -> Callable[[Any], ToolSpec] | None:
    """The function that reads a live object; ``None`` for data."""
    if isinstance(entry, ToolSpec):
        return lambda tool: tool
    if isinstance(entry, str | int | float | list | tuple | Mapping) or entry is None:
        return None
    if is_model(entry):
        return read_model
    if _schema_of(entry) is not None:
        return _read_tool_object
    return read_callable if callable(entry) else None


def _schema_of(entry: Any) -> Any:
    """The parameters of a tool object, as a pydantic model or a mapping; ``None`` for any other object."""
    if isinstance(entry, type) or inspect.isroutine(entry) or not isinstance(getattr(entry, "name", None), str):
        return None
    found = (getattr(entry, attribute, None) for attribute in _SCHEMAS)
    return next((schema for schema in found if isinstance(schema, Mapping) or is_model(schema)), None)


def _read_tool_object(entry: Any) -> ToolSpec:
    """Read a tool object of a framework: its name and description, and the keys of its schema."""
    schema = _schema_of(entry)
    description = getattr(entry, "description", None)
    description = description if isinstance(description, str) else ""
    if is_model(schema):
        return replace(read_model(schema), name=entry.name, description=description)
    tool = {"name": entry.name, "description": description, "parameters": schema}
    form = next((form for form in OBJECT_FORMS if form.claims(tool)), None)
    if form is None:
        raise DocumentationError(f"tool {entry.name!r}: its keys are documented in no form that is known")
    return next(iter(form.read(tool)))[0]


def _read_live(reader: Callable[[Any], ToolSpec], entry: Any, place: str) -> list[ToolSpec]:
    try:
        tool = reader(entry)
    except DocumentationError as error:
        raise DocumentationError(f"{place}: {error}") from None
    plain = "Python class" if isinstance(entry, type) else "Python callable"
    form = "pydantic model" if is_model(entry) else plain if _schema_of(entry) is None else "tool object"
    return [tool if tool.source else replace(tool, source=Source(form, place))]


def _is_instance(entry: Any) -> bool:
    """Whether it is an instance of a pydantic model, such as a tool of the MCP or OpenAI package."""
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(entry, pydantic.BaseModel)
