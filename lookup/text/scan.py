"""Find the JSON and Python objects in arbitrary prompt text, and the tools inside them.

A text that starts as JSON is JSON or JSON lines and must be well-formed up to the prose that may follow.
In prose a bracket that opens no literal is ordinary text, unless it looks like a broken tool. Text inside
string literals is never searched. Every failure tells which brackets it left open, and those are not tried
again: that keeps the whole scan linear.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final

from lookup.errors import DocumentationError, LiteralError
from lookup.forms.form import MisreadError, ObjectForm, Piece, found_at, has_name
from lookup.text.places import Stretches
from lookup.values.literals import MAX_DEPTH, LiteralReader, OpenContainer

Path = tuple[str | int, ...]

# Also starts that no literal has, but a tool has that lost its first quote or bracket.
_CANDIDATE = re.compile(r"""\{(?=\s*(?:["']|name["']))|\[(?=\s*(?:[\[{]|["']name["']))""")
_JSON_START = re.compile(r"\{\s*[\"'}]|\[\s*[\[{\]\"']")
_BLANK = re.compile(r"[\s\ufeff]*")
_MARKER = re.compile(
    r"""["'](parameters|input_parameters|required_parameters|inputSchema|input_schema|description|api_description)["']?\s*:"""
)
_NAME_KEY = re.compile(r"""(?:["'](?:api_)?name["']?|name["'])\s*:?\s*(["']?)""")
_NAME_BEFORE = re.compile(r"""["']name["']\s*\Z""")
_SCHEMA_WORD = re.compile(r"""["'](?:type|properties|description)["']\s*:""")
_CALL_KEYS: Final = frozenset({"parameters", "input_parameters"})
_HEAD_LENGTH: Final = 1000

# What lists tools, and what names or calls one without documenting it.
_TOOL_LISTS: Final = frozenset({"tools", "functions", "function", "function_declarations", "functionDeclarations"})
_CALLS: Final = frozenset({"tool_choice", "tool_calls", "function_call"})
_BARE_KEYS: Final = frozenset(
    {"name", "description", "type", "strict", "title", "annotations", "outputSchema", "response", "returns"}
)
_DESCRIPTION_KEYS: Final = frozenset({"description", "api_description"})
# What other frameworks call the name and the parameters.
_OTHER_NAMES: Final = frozenset({"title", "id", "tool", "function"})
_OTHER_SCHEMAS: Final = frozenset({"params", "schema", "properties", "tool_args"})
_PARAMETER_KEYS: Final = frozenset({"parameters", "arguments", "args", "input_parameters", "inputs"})


@dataclass(frozen=True)
class Claim:
    """An object that a form reads as documentation.

    ``form=None`` says that it looks like a tool but no form fits, and ``beside`` that it stands among tools.
    """

    path: Path
    data: Mapping[str, Any]
    form: ObjectForm | None
    beside: bool = False
    node: Mapping[str, Any] | None = None  # the object in the text, where ``data`` adds a name to it


def pieces(text: str, taken: Stretches, strict: bool = False) -> Iterator[Piece]:
    """The literals of a text, in order; one that looks like a tool and cannot be read has an ``error``.

    Parameters
    ----------
    taken : Stretches
        What is read already; nothing that starts there is looked at.
    strict : bool
        The text is a JSON or JSON lines file: prose is an error.

    Raises
    ------
    MisreadError
        Where a text that starts as JSON is malformed.
    """
    reader = LiteralReader(text)
    position = _skip_blank(text, 0)
    if not taken and (strict or _JSON_START.match(text, position)):
        first = position
        while position < len(text) and (strict or _JSON_START.match(text, position)):
            try:
                value, end = reader.read(position)
            except LiteralError as error:
                raise MisreadError(_malformed(text, error), error.position) from None
            start, position = position, _skip_blank(text, end)
            whole = start == first and position == len(text)
            yield Piece(value, start, end, reader.spans, document=True, whole=whole)
        if text[position : position + 1] in ("}", "]", ":"):
            raise MisreadError(
                f"expected the end of the text or another JSON document, found {found_at(text, position)}",
                position,
            )
    yield from _in_prose(reader, position, taken)


def _in_prose(reader: LiteralReader, position: int, taken: Stretches) -> Iterator[Piece]:
    text = reader.text
    tried: set[int] = set()
    while match := _CANDIDATE.search(text, position):
        start = match.start()
        if end := taken.end_at(start):
            position = end
            continue
        position = start + 1
        if start in tried:
            continue
        try:
            value, position = reader.read(start)
        except LiteralError as error:
            unread = [container for container in reader.open if taken.end_at(container.start) is None]
            if any(_is_broken_tool(text, container, error.position) for container in unread):
                misread = MisreadError(_malformed(text, error), error.position)
                yield Piece(None, start, max(error.position, start + 1), {}, error=misread)
            tried.update(container.start for container in reader.open)
        else:
            yield Piece(value, start, position, reader.spans)


def _is_broken_tool(text: str, container: OpenContainer, position: int) -> bool:
    """Whether an unreadable object has a name and another key of a tool near its start.

    ``{"name": function name, "parameters": ...}`` in an instruction describes calls: where the name is no
    text, two other keys are demanded.
    """
    if container.bracket != "{":
        # "name": as a list's member has lost its opening bracket.
        return text[position : position + 1] == ":" and bool(_NAME_BEFORE.search(text[position - 20 : position]))
    end = text.find("}", container.start, container.start + _HEAD_LENGTH)
    head = text[container.start : end if end >= 0 else container.start + _HEAD_LENGTH]
    name = _NAME_KEY.search(head) if "name" in head else None
    named = {"name", "api_name"} & set(container.keyed)
    keys = set(_MARKER.findall(head)) if name or named else set()
    keys |= {key for key in container.keyed if isinstance(key, str) and _MARKER.match(f'"{key}":')}
    if any(isinstance(container.keyed[key], str) for key in named) or (name and name[1]):
        # A call with placeholders has a name and parameters, too, but describes none of them.
        return bool(keys - _CALL_KEYS) or (bool(keys) and _SCHEMA_WORD.search(head) is not None)
    return name is not None and len(keys) > 1


def _malformed(text: str, error: LiteralError) -> str:
    return f"expected {error.expected}, found {found_at(text, error.position)}"


def _skip_blank(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def claims(value: Any, forms: Sequence[ObjectForm], listed: bool = False) -> Iterator[Claim]:
    """The tools inside parsed data, in document order; a tool's own subtree is not searched.

    Parameters
    ----------
    listed : bool
        Nothing else was given, or it stands beside tools: then ``{"name", "description"}`` is a tool
        without parameters.

    Raises
    ------
    DocumentationError
        If the data is nested deeper than 64.
    """
    yield from _claims(value, (), tuple(forms), listed)


def _claims(value: Any, path: Path, forms: tuple[ObjectForm, ...], listed: bool) -> Iterator[Claim]:
    if len(path) > MAX_DEPTH:
        raise DocumentationError(f"parsed data: expected at most {MAX_DEPTH} levels of nesting, found more")
    if isinstance(value, Mapping):
        wrapped = value.get("function") if value.get("type") == "function" else None
        if isinstance(wrapped, Mapping):
            # A logged call has the same wrapper, with the arguments in the place of the parameters.
            if "arguments" not in wrapped or _form(wrapped, forms):
                yield Claim((*path, "function"), wrapped, _form(wrapped, forms) or forms[-1])
        elif form := _form(value, forms):
            yield Claim(path, value, form)
        elif listed and _is_bare(value):
            yield Claim(path, value, forms[-1])
        else:
            if _is_unknown(value, _OTHER_NAMES, _OTHER_SCHEMAS):
                yield Claim(path, value, None)
            for key, member in value.items():
                named = _named_by_key(key, member)
                if named and (form := _form(named, forms)):
                    yield Claim((*path, key), named, form, node=member)
                elif key not in _CALLS:
                    yield from _claims(member, (*path, key), forms, key in _TOOL_LISTS)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        beside = any(is_tool(item, forms) for item in value)
        for index, item in enumerate(value):
            if beside and _is_unknown(item) and not is_tool(item, forms):
                yield Claim((*path, index), item, None, beside=True)
            else:
                yield from _claims(item, (*path, index), forms, beside or listed)


def is_tool(value: Any, forms: Sequence[ObjectForm]) -> bool:
    """Whether a form claims the value itself."""
    return isinstance(value, Mapping) and _form(value, forms) is not None


def _form(data: Mapping[str, Any], forms: Sequence[ObjectForm]) -> ObjectForm | None:
    return next((form for form in forms if form.claims(data)), None)


def _is_bare(data: Mapping[str, Any]) -> bool:
    declared = "description" in data or data.get("type") == "function"
    return declared and "name" in data and _BARE_KEYS.issuperset(data)


def _named_by_key(key: object, value: Any) -> dict[str, Any] | None:
    """An object whose key is the name of a tool: ``{"get_weather": {"description", "parameters"}}``."""
    if not isinstance(key, str) or not isinstance(value, Mapping) or has_name(value) or key in _TOOL_LISTS:
        return None
    described = not _DESCRIPTION_KEYS.isdisjoint(value) and not _PARAMETER_KEYS.isdisjoint(value)
    return {"name": key, **value} if described else None


def _is_unknown(value: Any, names: Set[str] = frozenset(), schemas: Set[str] = frozenset()) -> bool:
    """Whether an object has the name, description and parameters of a tool, or else ``names`` and ``schemas``."""
    if not isinstance(value, Mapping) or _DESCRIPTION_KEYS.isdisjoint(value):
        return False
    named = has_name(value) or not names.isdisjoint(value)
    return named and not (_PARAMETER_KEYS.isdisjoint(value) and schemas.isdisjoint(value))
