"""Read the words of a schema. A word with a value of the wrong kind says nothing."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final, Literal, TypeGuard, get_args

from lookup.types.type_names import NULL_NAMES, value_type

Kind = Literal["null", "boolean", "string", "integer", "number", "array", "object"]

KINDS: Final[frozenset[Kind]] = frozenset(get_args(Kind))
"""The types of JSON Schema; an integer is a number as well."""

_STANDARD: Final[dict[str, frozenset[Kind]]] = {kind: frozenset({kind}) for kind in get_args(Kind)}
_STANDARD["number"] = frozenset({"number", "integer"})
_KIND_OF: Final[dict[str, frozenset[Kind]]] = {
    "str": _STANDARD["string"],
    "int": _STANDARD["integer"],
    "float": _STANDARD["number"],
    "bool": _STANDARD["boolean"],
    "list": _STANDARD["array"],
    "tuple": _STANDARD["array"],
    "dict": _STANDARD["object"],
    "any": KINDS,
}
_MAX_DIGITS: Final = 100
_MAX_NUMBER: Final = 10**640  # larger ones cannot be read
_MAX_MEMBERS: Final = 100_000
_MAX_DEPTH: Final = 100


def kinds_of(schema: Mapping[str, Any]) -> frozenset[Kind]:
    """The types that the word ``type`` allows, also under other names (``dict``, ``float``)."""
    written = schema.get("type")
    names = written if isinstance(written, list | tuple) else [written]
    found: set[Kind] = set()
    for name in names:
        found |= _kinds(name) if isinstance(name, str) else KINDS  # draft 3 allows schemas here
    if schema.get("nullable") is True:
        found.add("null")
    return frozenset(found)


def _kinds(name: str) -> frozenset[Kind]:
    if name in _STANDARD:
        return _STANDARD[name]
    if name.lower() in NULL_NAMES:
        return _STANDARD["null"]
    found = value_type(name)
    kinds = frozenset[Kind]().union(*(_KIND_OF[branch.kind] for branch in found.any_of or (found,)))
    return kinds | {"null"} if found.nullable else kinds


def number(schema: Mapping[str, Any], word: str) -> Fraction | None:
    """The number of a word, exactly as it is written in decimal digits."""
    value = schema.get(word)
    return exact(value) if is_number(value) else None


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a finite number; ``True`` is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def exact(value: float) -> Fraction:
    """A finite number as the shortest decimal that stands for it."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def count(schema: Mapping[str, Any], word: str) -> int | None:
    """The number of a word that counts something."""
    value = number(schema, word)
    return int(value) if value is not None and value.denominator == 1 and 0 <= value < 10**_MAX_DIGITS else None


def text(schema: Mapping[str, Any], word: str) -> str | None:
    """The text of a word."""
    value = schema.get(word)
    return value if isinstance(value, str) else None


def schemas(schema: Mapping[str, Any], word: str) -> dict[str, Any]:
    """Key -> schema, of ``properties``, ``patternProperties`` and the like."""
    value = schema.get(word)
    if not isinstance(value, dict):
        return {}
    return {key: inner for key, inner in value.items() if isinstance(key, str) and is_schema(inner)}


def schema_list(schema: Mapping[str, Any], word: str) -> list[Any]:
    """The schemas of ``allOf``, ``anyOf``, ``oneOf`` or ``prefixItems``."""
    value = schema.get(word)
    return [inner for inner in value if is_schema(inner)] if isinstance(value, list | tuple) else []


def names(value: object) -> list[str]:
    """The texts of a list, such as ``required``."""
    return [name for name in value if isinstance(name, str)] if isinstance(value, list | tuple) else []


def is_schema(value: object) -> TypeGuard[Mapping[str, Any] | bool]:
    """Whether a value is a schema: an object or a boolean."""
    return isinstance(value, dict | bool)


def identity(value: Any) -> Any:
    """A hashable key that is equal for values that JSON Schema takes to be equal: ``1`` and ``1.0``, not ``True``.

    A value that is too deep or too large, or that JSON cannot have, is equal to itself only.
    """
    if isinstance(value, str):
        return "string", value
    found = _identity(value, [_MAX_MEMBERS], 0)
    return ("other", id(value)) if found is None else found


def is_plain(value: Any) -> bool:
    """Whether a value is one of JSON, neither too deep nor too large."""
    return isinstance(value, str) or _identity(value, [_MAX_MEMBERS], 0) is not None


def _identity(value: Any, left: list[int], depth: int) -> Any:
    """The identity of a value; ``None`` if it has none. ``left`` holds the number of further members."""
    if isinstance(value, bool) or value is None:
        return type(value).__name__, value
    if isinstance(value, str):
        return "string", value
    if isinstance(value, int | float):
        return ("number", exact(value)) if is_number(value) and abs(value) < _MAX_NUMBER else None
    if not isinstance(value, dict | list | tuple):
        return None
    left[0] -= len(value)
    if left[0] < 0 or depth >= _MAX_DEPTH:
        return None
    pairs = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    found = [(key, _identity(member, left, depth + 1)) for key, member in pairs]
    if any(inner is None for _, inner in found):
        return None
    return ("object", frozenset(found)) if isinstance(value, dict) else ("array", tuple(inner for _, inner in found))


def kind_of(value: Any) -> Kind:
    """The type of a value; ``integer`` for whole numbers, also for ``1.0``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, dict) else "array"
