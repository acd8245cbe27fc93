"""The types of JSON Schema, documented types as schemas, and when two values are equal."""

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Literal, TypeGuard, get_args

from lookup.dictionary import ANY, ValueType
from lookup.type_names import NULL_NAMES, value_type

Kind = Literal["null", "boolean", "string", "integer", "number", "array", "object"]

KINDS: Final[frozenset[Kind]] = frozenset(get_args(Kind))
"""The types of JSON Schema; an integer is a number as well."""

NUMBERS: Final[frozenset[Kind]] = frozenset({"integer", "number"})
"""The types of a number."""

_IMPLYING: Final[tuple[tuple[frozenset[Kind], str], ...]] = (
    (frozenset({"object"}), "properties additionalProperties patternProperties required minProperties"),
    (frozenset({"array"}), "items prefixItems minItems maxItems uniqueItems"),
    (frozenset({"string"}), "texts minLength maxLength"),
    (NUMBERS, "low high multipleOf"),
)
IMPLIED: Final = {word: kinds for kinds, words in _IMPLYING for word in words.split()}
"""In documentation, a word that says something of one type only implies the type."""

INFINITE: Final = 1 << 60
"""The size of the smallest value of what has none."""

_NAMES: Final = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "tuple": "tuple",
    "dict": "object",
}  # fmt: skip
_STANDARD: Final[dict[str, frozenset[Kind]]] = {**{kind: frozenset({kind}) for kind in KINDS}, "number": NUMBERS}

_MAX_NUMBER: Final = 10**640  # larger ones cannot be read
_MAX_MEMBERS: Final = 100_000
_MAX_DEPTH: Final = 100


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a finite number; ``True`` is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def exact(value: float) -> Fraction:
    """A finite number as the shortest decimal that stands for it."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def is_schema(value: object) -> TypeGuard[Mapping[str, Any] | bool]:
    """Whether a value is a schema: an object or a boolean."""
    return isinstance(value, dict | bool)


def names(value: object) -> tuple[str, ...]:
    """The texts of a list, such as ``required``."""
    return tuple(name for name in value if isinstance(name, str)) if isinstance(value, list | tuple) else ()


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


@lru_cache(maxsize=1024)
def kinds_named(name: str) -> frozenset[Kind]:
    """The types that a name stands for, also one that is not JSON Schema's (``dict``, ``float``)."""
    if name in _STANDARD:
        return _STANDARD[name]
    if name.lower() in NULL_NAMES:
        return _STANDARD["null"]
    found = value_type(name)
    kinds = frozenset[Kind]()
    for branch in found.any_of or (found,):
        named = _NAMES.get(branch.kind)
        kinds |= KINDS if named is None else _STANDARD.get(named, _STANDARD["array"])
    return kinds | {"null"} if found.nullable else kinds


def schema_named(name: str) -> dict[str, Any] | None:
    """The schema of a name that says more than a type, such as ``List[str]``; ``None`` for all others."""
    if name in _STANDARD:
        return None
    found = value_type(name)
    return type_schema(found) if found != ValueType(found.kind, nullable=found.nullable) else None


def type_schema(of: ValueType) -> dict[str, Any]:
    """The schema of a type. Objects have their documented keys only; an enum takes precedence over its type."""
    if of.enum:
        return {"enum": [*of.enum, *([None] if of.nullable else [])]}
    row: dict[str, Any] = {} if of.kind == "any" else {"type": _NAMES[of.kind]}
    if of.any_of:
        row = {"anyOf": [type_schema(branch) for branch in of.any_of]}
    elif of.kind == "dict" and of.properties:
        row["properties"] = {spec.name: type_schema(spec.value_type) for spec in of.properties}
        row["required"] = [spec.name for spec in of.properties if spec.required]
        row["additionalProperties"] = False
    elif of.kind in ("list", "tuple", "dict") and of.items not in (None, ANY):
        row["additionalProperties" if of.kind == "dict" else "items"] = type_schema(of.items or ANY)
    return {"anyOf": [row, {"type": "null"}]} if of.nullable and row else row
