"""Documented type names -> ``ValueType``.

Names are compared without case. Dates and times are texts, since that is how a call writes them. A name that
is not in the table (``torch.dtype``), an empty one, and a union of several types are ``any``.

>>> str(value_type("List[str]")), str(value_type("ArrayList")), str(value_type("torch.dtype"))
('list[str]', 'list', 'any')
"""

import re
from typing import Final

from lookup.schema import ANY, Kind, ValueType

_NAMES: Final[dict[Kind, str]] = {
    "str": "str string char character text varchar date datetime date-time time uuid url uri email enum",
    "int": "int integer long short bigint int32 int64 uint uint32 uint64",
    "float": "float number double decimal real numeric float32 float64",
    "bool": "bool boolean",
    "list": "list array arraylist linkedlist sequence iterable vector",
    "dict": "dict object hashmap map hashtable dictionary mapping record struct",
    "tuple": "tuple",
}
_KINDS: Final[dict[str, Kind]] = {name: kind for kind, names in _NAMES.items() for name in names.split()}

NULL_NAMES: Final = frozenset({"null", "none", "nonetype", "undefined"})

_GENERIC = re.compile(r"([\w.-]+)\s*(?:\[(.*)\]|\((.*)\)|<(.*)>)", re.DOTALL)
_ARRAY_OF = re.compile(r"(?:array|list) of (.+)", re.IGNORECASE | re.DOTALL)
_MAX_NESTING: Final = 8
_MAX_LENGTH: Final = 200


def value_type(written: str, nesting: int = 0) -> ValueType:
    """The normalised type of a name as documentation writes it; ``ANY`` where it is not known.

    ``List[str]``, ``list(str)``, ``Array<String>``, ``string[]`` and ``array of strings`` give their element
    type, ``Optional[int]`` and ``int | None`` give ``int``.
    """
    name = written.strip()
    if nesting > _MAX_NESTING or len(name) > _MAX_LENGTH:
        return ANY
    kind = _KINDS.get(name.lower()) or _KINDS.get(name.lower().removeprefix("typing."))
    if kind:
        return ValueType(kind)
    branches = [part.strip() for part in _split(name, "|")]
    if len(branches) > 1:
        named = [part for part in branches if part.lower() not in NULL_NAMES]
        return value_type(named[0], nesting + 1) if len(named) == 1 else ANY
    if name.endswith("[]"):
        return ValueType("list", _element(name[:-2], nesting))
    if match := _ARRAY_OF.fullmatch(name):
        plural = match[1].strip()
        singular = plural if plural.lower() in _KINDS else plural.removesuffix("s")
        return ValueType("list", _element(singular, nesting))
    if match := _GENERIC.fullmatch(name):
        return _generic(match[1], match[2] or match[3] or match[4] or "", nesting)
    return ANY


def _generic(outer: str, inner: str, nesting: int) -> ValueType:
    """``outer[inner]``: an optional type, or a container with its element type."""
    outer = outer.lower().removeprefix("typing.")
    if outer == "optional":
        return value_type(inner, nesting + 1)
    if outer == "union":
        return value_type(inner.replace(",", "|"), nesting + 1)
    kind = _KINDS.get(outer, "any")
    if kind == "list":
        return ValueType(kind, _element(inner, nesting))
    if kind == "tuple":
        members = {_element(part, nesting) for part in _split(inner, ",") if part.strip() != "..."}
        return ValueType(kind, members.pop() if len(members) == 1 else None)
    return ValueType(kind)


def _element(written: str, nesting: int) -> ValueType | None:
    found = value_type(written, nesting + 1)
    return None if found == ANY else found


def _split(written: str, separator: str) -> list[str]:
    """Split at the separators that stand outside brackets."""
    parts, depth, start = [], 0, 0
    for index, char in enumerate(written):
        if char in "[(<":
            depth += 1
        elif char in "])>":
            depth -= 1
        elif char == separator and depth == 0:
            parts.append(written[start:index])
            start = index + 1
    return [*parts, written[start:]]
