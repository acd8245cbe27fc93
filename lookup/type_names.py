"""Documented type names -> ``ValueType``, and unions of types.

Names are compared without case. Dates and times are texts, because calls write them so. An unknown name
(``torch.dtype``) or an empty one is ``any``.

>>> str(value_type("List[str]")), str(value_type("ArrayList")), str(value_type("torch.dtype"))
('list[str]', 'list', 'any')
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from lookup.dictionary import ANY, Kind, ValueType
from lookup.errors import LiteralError
from lookup.literals.literal_reader import parse_literal

_NAMES: Final[dict[Kind, str]] = {
    "str": (
        "str string char character text varchar date datetime date-time datetime.date datetime.datetime datetime.time "
        "time timestamp uuid url uri email enum bytes binary file path pathlib.path decimal.decimal"
    ),
    "int": "int integer long short bigint int32 int64 uint uint32 uint64",
    "float": "float number double decimal real numeric float32 float64",
    "bool": "bool boolean",
    "list": "list array arraylist linkedlist sequence iterable vector set frozenset collection",
    "dict": "dict object hashmap map hashtable dictionary mapping record struct json",
    "tuple": "tuple",
}
_KINDS: Final[dict[str, Kind]] = {name: kind for kind, names in _NAMES.items() for name in names.split()}

NULL_NAMES: Final = frozenset({"null", "none", "nonetype", "undefined"})

_GENERIC = re.compile(r"([\w.-]+)\s*(?:\[(.*)\]|\((.*)\)|<(.*)>)", re.DOTALL)
_ARRAY_OF = re.compile(r"(?:array|list) of (.+)", re.IGNORECASE | re.DOTALL)
# ``str, optional`` in docstrings and in xLAM's tools.
WITH_MARKER = re.compile(r",\s*(optional|required)\s*\Z", re.IGNORECASE)
_MODULE = re.compile(r"\A(?:typing|collections\.abc|t)\.", re.IGNORECASE | re.ASCII)
_MAX_NESTING: Final = 8  # brackets inside each other
_MAX_LENGTH: Final = 1000  # a longer name is prose

MAX_BRANCHES: Final = 32
"""A union of more types is ``any``, because each type is compared with all others."""


def value_type(written: str) -> ValueType:
    """The normalised type of a documented type name; ``ANY`` if it is unknown.

    ``List[str]``, ``list(str)``, ``Array<String>``, ``string[]`` and ``array of strings`` have an element type;
    ``Dict[str, int]`` has a value type. ``Optional[int]`` and ``int | None`` are a nullable ``int``. ``int | str``,
    ``int/str`` and ``int or str`` are unions. ``Literal['a', 'b']`` is the type of its members with an ``enum``.
    """
    return _value_type(written, 0)


@lru_cache(maxsize=1024)
def _value_type(written: str, nesting: int) -> ValueType:
    name = _bare(WITH_MARKER.sub("", written))
    if nesting > _MAX_NESTING or len(name) > _MAX_LENGTH:
        return ANY
    if kind := _KINDS.get(name.lower()):
        return ValueType(kind)
    for separator in ("|", "/", " or "):
        branches = split_outside(name, separator)
        if len(branches) > 1:
            return _union(branches, nesting)
    if name.endswith("[]"):
        return ValueType("list", _element(name[:-2], nesting))
    if match := _ARRAY_OF.fullmatch(name):
        plural = match[1].strip()
        singular = plural if plural.lower() in _KINDS else plural.removesuffix("s")
        return ValueType("list", _element(singular, nesting))
    if match := _GENERIC.fullmatch(name):
        return _generic(match[1].lower(), match[2] or match[3] or match[4] or "", nesting)
    return ANY


def _union(branches: list[str], nesting: int) -> ValueType:
    """A union with an unknown branch is unknown: ``date/time of day`` is not a union."""
    named = [branch for branch in branches if branch.strip().lower() not in NULL_NAMES]
    found = united(_value_type(branch, nesting + 1) for branch in named)
    return replace(found, nullable=True) if len(named) < len(branches) else found


def _generic(outer: str, inner: str, nesting: int) -> ValueType:
    """The type ``outer[inner]``: an optional type, a union, a literal or a container."""
    outer = _MODULE.sub("", outer)
    if outer == "optional":
        return replace(_value_type(inner, nesting + 1), nullable=True)
    if outer == "union":
        return _union(split_outside(inner, ","), nesting)
    if outer == "literal":
        return _literal(inner)
    if outer in ("annotated", "required", "notrequired", "final"):
        return _value_type(split_outside(inner, ",")[0], nesting + 1)
    kind = _KINDS.get(outer, "any")
    if kind == "list":
        return ValueType(kind, _element(inner, nesting))
    if kind == "tuple":
        parts = [part for part in split_outside(inner, ",") if part.strip() not in ("...", "")]
        element = united(_value_type(part, nesting + 1) for part in parts)
        return ValueType(kind, None if element == ANY else element)
    if kind == "dict":
        parts = split_outside(inner, ",")
        return ValueType(kind, _element(parts[1], nesting) if len(parts) == 2 else None)
    return ValueType(kind)


def _literal(inner: str) -> ValueType:
    try:
        members = parse_literal(f"[{inner}]")
    except LiteralError:
        return ANY
    return ANY if all(member is None for member in members) else replace(type_of(members), enum=tuple(members))


def _element(written: str, nesting: int) -> ValueType | None:
    found = _value_type(written, nesting + 1)
    return None if found == ANY else found


def _bare(written: str) -> str:
    """The name without surrounding white space and quotes, and without its module."""
    name = written.strip()
    if len(name) > 1 and name[0] == name[-1] and name[0] in "\"'`":
        name = name[1:-1].strip()
    return _MODULE.sub("", name)


def split_outside(written: str, separator: str) -> list[str]:
    """Split at the separators outside brackets and quotes."""
    parts, depth, start, quote = [], 0, 0, ""
    for index, char in enumerate(written):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "[(<{":
            depth += 1
        elif char in "])>}":
            depth -= 1
        elif depth == 0 and written.startswith(separator, index):
            parts.append(written[start:index])
            start = index + len(separator)
    return [*parts, written[start:]]


def type_of(members: Iterable[Any]) -> ValueType:
    """The type of plain values: ``int`` for ``(1, 2)``, a union for ``("a", 1)``; nullable with null among them."""
    names = [type(member).__name__ for member in members]
    found = united(ValueType(_KINDS[name] if name in _NAMES else "any") for name in names if name != "NoneType")
    return replace(found, nullable=True) if "NoneType" in names else found


def united(types: Iterable[ValueType]) -> ValueType:
    """The union of some types; ``ANY`` if one of them is unknown or there is none.

    If all have an enum, the enums are joined. Equal types are merged.
    """
    found = list(types)
    nullable = any(t.nullable for t in found)
    enum: tuple[Any, ...] | None = None
    if found and all(t.enum for t in found):
        enum = tuple(member for t in found for member in t.enum or ())
        found = [replace(t, enum=None) for t in found]
    distinct: list[ValueType] = []
    for t in found:
        plain = replace(t, nullable=False)
        # A union with its own enum stays one branch, because the enum takes precedence.
        inside = plain.any_of if plain.any_of and not plain.enum else (plain,)
        distinct += [branch for branch in inside if branch not in distinct]
        if len(distinct) > MAX_BRANCHES:
            return replace(ANY, nullable=nullable, enum=enum)
    if len(distinct) == 1:
        return replace(distinct[0], nullable=nullable, enum=enum or distinct[0].enum)
    if not distinct or ANY in distinct:
        return replace(ANY, nullable=nullable, enum=enum)
    return ValueType("any", any_of=tuple(distinct), nullable=nullable, enum=enum)
