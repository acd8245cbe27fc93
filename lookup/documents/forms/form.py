"""The interface of a documentation form, and the objects of parsed data that forms claim as documentation."""

import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError, MisreadError, shown
from lookup.literals.literal_reader import MAX_DEPTH
from lookup.source import Source, Unread

NAME_KEYS: Final = ("api_name", "name", "apiCode", "function_name", "tool_name")
"""The keys that may contain the name of a tool. The first one present is used."""

_CALLED = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
# Keys of a list of tools, and keys that refer to or call a tool without documenting it.
_TOOL_LISTS: Final = frozenset({"tools", "functions", "function", "function_declarations", "functionDeclarations"})
_CALLS: Final = frozenset({"tool_choice", "tool_calls", "function_call"})
# What logged calls and messages have, and tools have not.
_LOGGED: Final = frozenset({"arguments", "role", "content"})
# All that a tool without parameters may contain.
_BARE_KEYS: Final = frozenset(
    {"name", "description", "type", "strict", "title", "annotations", "outputSchema", "response", "returns"}
)
_DESCRIPTION_KEYS: Final = frozenset({"description", "api_description"})
_PARAMETER_KEYS: Final = frozenset({"parameters", "arguments", "args", "input_parameters", "inputs"})
# Other frameworks' words for the name and the parameters.
_OTHER_NAMES: Final = frozenset({"title", "id", "tool", "function"})
_OTHER_SCHEMAS: Final = frozenset({"params", "schema", "properties", "tool_args"})

Path = tuple[str | int, ...]


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


@dataclass(frozen=True)
class Claim:
    """An object that a form reads as documentation.

    Attributes
    ----------
    form : ObjectForm, optional
        ``None`` if the object looks like a tool but no form fits.
    beside : bool
        Whether such an object is in a list with tools. Then it is an error.
    node : Mapping, optional
        The original object if ``data`` is a copy with the name added.
    """

    path: Path
    data: Mapping[str, Any]
    form: ObjectForm | None
    beside: bool = False
    node: Mapping[str, Any] | None = None


def claims(value: Any, forms: Sequence[ObjectForm], listed: bool = False, path: Path = ()) -> Iterator[Claim]:
    """The tools inside parsed data, in document order. The members of a tool are not searched.

    DocumentationError if the data is nested deeper than 64 levels.

    Parameters
    ----------
    listed : bool
        Whether ``{"name", "description"}`` counts as a tool without parameters, because it is the only input or is
        next to tools.
    path : tuple
        Where the value is.
    """
    if len(path) > MAX_DEPTH:
        raise DocumentationError(f"parsed data: expected at most {MAX_DEPTH} levels of nesting, found more")
    if isinstance(value, Mapping):
        whole = _whole(value, forms, path, listed)
        yield from _members(value, forms, path) if whole is None else whole
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        beside = any(form_of(item, forms) for item in value)
        for index, item in enumerate(value):
            if beside and _looks_like_tool(item) and not form_of(item, forms):
                yield Claim((*path, index), item, None, beside=True)
            elif beside and isinstance(item, Mapping) and set(item) == {"name"}:
                yield Claim((*path, index), item, forms[-1])  # a tool without parameters, whose name says it all
            else:
                found = list(claims(item, forms, listed or beside, (*path, index)))
                if beside and not found and isinstance(item, Mapping) and _LOGGED.isdisjoint(item):
                    described = has_name(item) and not _DESCRIPTION_KEYS.isdisjoint(item)
                    found = [Claim((*path, index), item, None, beside=described)]
                yield from found


def form_of(value: Any, forms: Sequence[ObjectForm]) -> ObjectForm | None:
    """The first form that claims the value itself."""
    return next((form for form in forms if form.claims(value)), None) if isinstance(value, Mapping) else None


def _whole(data: Mapping[str, Any], forms: Sequence[ObjectForm], path: Path, listed: bool) -> list[Claim] | None:
    """The claim on the object as a whole; ``None`` if its members must be searched."""
    wrapped = data.get("function") if data.get("type") == "function" else None
    if isinstance(wrapped, Mapping):
        form = form_of(wrapped, forms)
        # A logged call has the same wrapper, with arguments instead of parameters.
        if "arguments" in wrapped and form is None:
            return []
        form = form or (forms[-1] if _BARE_KEYS.issuperset(wrapped) else None)
        return [Claim((*path, "function"), wrapped, form, beside=True)]
    form = form_of(data, forms) or (forms[-1] if listed and _is_bare(data) else None)
    return [Claim(path, data, form)] if form else None


def _members(data: Mapping[str, Any], forms: Sequence[ObjectForm], path: Path) -> Iterator[Claim]:
    if _looks_like_tool(data, _OTHER_NAMES, _OTHER_SCHEMAS):
        yield Claim(path, data, None)
    for key, member in data.items():
        named = _named_by_key(key, member)
        if named and (form := form_of(named, forms)):
            yield Claim((*path, key), named, form, node=member)
        elif key not in _CALLS:
            yield from claims(member, forms, key in _TOOL_LISTS, (*path, key))


def _is_bare(data: Mapping[str, Any]) -> bool:
    declared = "description" in data or data.get("type") == "function"
    return declared and "name" in data and _BARE_KEYS.issuperset(data)


def _named_by_key(key: object, value: Any) -> dict[str, Any] | None:
    """An object whose key is the name of a tool: ``{"get_weather": {"description", "parameters"}}``."""
    if not isinstance(key, str) or not isinstance(value, Mapping) or has_name(value) or key in _TOOL_LISTS:
        return None
    described = not _DESCRIPTION_KEYS.isdisjoint(value) and not _PARAMETER_KEYS.isdisjoint(value)
    return {"name": key, **value} if described else None


def _looks_like_tool(value: Any, names: Set[str] = frozenset(), schemas: Set[str] = frozenset()) -> bool:
    """Whether an object has a description, a name (or one of ``names``) and parameters (or one of ``schemas``)."""
    if not isinstance(value, Mapping) or _DESCRIPTION_KEYS.isdisjoint(value):
        return False
    named = has_name(value) or not names.isdisjoint(value)
    return named and not (_PARAMETER_KEYS.isdisjoint(value) and schemas.isdisjoint(value))


def read_claim(
    claim: Claim, source: Callable[[Mapping[str, Any], str], Source], unread: list[Unread]
) -> Iterator[ToolSpec]:
    """The tools of a claimed object. An object that no form fits is added to ``unread``.

    DocumentationError, with the source, if the object is malformed, or if no form fits an object in a list with tools.

    ``source``: takes an object and the title of its form; returns where the object is.
    """
    if claim.form is None:
        place = source(claim.data, "")
        if not claim.beside:
            unread.append(Unread(place, "it is documented in no form that is known"))
            return
        name = claim.data.get("api_name", claim.data.get("name"))
        raise DocumentationError(
            f"{place}: tool {name!r} is documented in no form that is known; "
            f"found the keys {', '.join(map(str, claim.data))}"
        )
    try:
        for tool, node in claim.form.read(claim.data):
            yield replace(tool, source=source(claim.node or node, claim.form.title))
    except DocumentationError as error:
        raise DocumentationError(f"{source(claim.node or claim.data, claim.form.title)}: {error}") from None
