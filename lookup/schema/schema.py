"""Schemas, whose keywords are read when they are needed: types, documented types as schemas, and equal values."""

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Final, Literal, TypedDict, TypeGuard, get_args

from lookup.dictionary import ANY, ValueType
from lookup.type_names import NULL_NAMES, value_type

JsonType = Literal["null", "boolean", "string", "integer", "number", "array", "object"]

JSON_TYPES: Final[frozenset[JsonType]] = frozenset(get_args(JsonType))
"""The types of JSON Schema; an integer is a number as well."""

NUMBERS: Final[frozenset[JsonType]] = frozenset({"integer", "number"})
"""The types of a number."""

_IMPLYING: Final[tuple[tuple[frozenset[JsonType], str], ...]] = (
    (frozenset({"object"}), "properties additionalProperties patternProperties required minProperties"),
    (frozenset({"array"}), "items prefixItems minItems maxItems uniqueItems"),
    (frozenset({"string"}), "texts minLength maxLength"),
    (NUMBERS, "low high multipleOf"),
)
IMPLIED: Final = {keyword: types for types, keywords in _IMPLYING for keyword in keywords.split()}
"""In documentation, a keyword that says something of one type only implies the type."""

INFINITE: Final = 1 << 60
"""The size of the smallest value of what has none."""

_NAMES: Final = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "tuple": "tuple",
    "dict": "object",
}  # fmt: skip
_STANDARD: Final[dict[str, frozenset[JsonType]]] = {**{one: frozenset({one}) for one in JSON_TYPES}, "number": NUMBERS}

_LISTING_MEMBERS: Final = ("enum", "values", "options", "choices", "symbols")

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


def with_enum(written: Mapping[str, Any]) -> Mapping[str, Any]:
    """``{"type": "enum", "values": […]}``, as in older documentation, as ``{"enum": […]}``; all others unchanged."""
    if not is_typed_enum(written):
        return written
    lists = (word for word in _LISTING_MEMBERS if isinstance(written.get(word), list | tuple))
    keyword = next((word for word in lists if not any(isinstance(m, dict | list | tuple) for m in written[word])), None)
    others = {key: value for key, value in written.items() if key not in ("type", "param_type", keyword)}
    return written if keyword is None else {**others, "enum": written[keyword]}


def is_typed_enum(written: Mapping[str, Any]) -> bool:
    """Whether the type of a documented schema is ``enum``, whose members stand under another keyword."""
    named = written.get("type", written.get("param_type"))
    return isinstance(named, str) and named.strip().lower() == "enum"


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


def json_type_of(value: Any) -> JsonType:
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
def json_types_named(name: str) -> frozenset[JsonType]:
    """The types that a name stands for, also one that is not JSON Schema's (``dict``, ``float``)."""
    if name in _STANDARD:
        return _STANDARD[name]
    if name.lower() in NULL_NAMES:
        return _STANDARD["null"]
    found = value_type(name)
    types = frozenset[JsonType]()
    for branch in found.any_of or (found,):
        named = _NAMES.get(branch.kind)
        types |= JSON_TYPES if named is None else _STANDARD.get(named, _STANDARD["array"])
    return types | {"null"} if found.nullable else types


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


_Bound = tuple[float, bool]
_Keyed = Mapping[str, "Schema"]
_Schemas = tuple["Schema", ...]
NormalizedSchema = TypedDict(
    "NormalizedSchema",
    {
        "type": frozenset[JsonType],
        "whole": bool,  # integers are named beside numbers
        "tuple": bool,  # arrays are written as tuples where a notation has them
        "enum": tuple[Any, ...],  # values of the type, also that of a constant
        "refused": tuple[Any, ...],  # values that are not allowed
        "texts": tuple[tuple[str, str, bool], ...],  # "pattern" or "format", its text, whether a text must have it
        "low": _Bound, "high": _Bound,  # limit, whether it is excluded
        "multipleOf": float,
        "minLength": int, "maxLength": int, "minItems": int, "maxItems": int, "minContains": int, "maxContains": int,
        "minProperties": int, "maxProperties": int,
        "uniqueItems": bool,
        "prefixItems": _Schemas, "items": "Schema", "contains": "Schema", "unevaluatedItems": "Schema",
        "properties": _Keyed, "patternProperties": _Keyed, "dependentSchemas": _Keyed,
        "additionalProperties": "Schema", "unevaluatedProperties": "Schema", "propertyNames": "Schema",
        "required": tuple[str, ...], "dependentRequired": Mapping[str, tuple[str, ...]],
        "unnamed": bool,  # type and properties are named by what refuses them, so they stay unevaluated
        "allOf": _Schemas,  # also what a reference names, and a union of one
        "anyOf": _Schemas, "oneOf": _Schemas, "not": "Schema", "if": "Schema", "then": "Schema", "else": "Schema",
        "notes": tuple[str, ...],  # what is not enforced
    },
    total=False,
)  # fmt: skip
"""One schema in one form: nothing is said in two ways, and no keyword has a value of the wrong type.

The schema ``{"type": "integer", "exclusiveMinimum": 1, "nullable": true, "const": 3}`` of documentation is
``{"type": frozenset({"integer", "null"}), "low": (1, True), "enum": (3,)}``.
"""

_MAX_WALKED: Final = 500


class Schema:
    """One schema, equal only to itself.

    Parameters
    ----------
    source : mapping or callable
        The keywords, or what reads them.
    """

    def __init__(self, source: NormalizedSchema | Callable[[], NormalizedSchema]) -> None:
        self._source = source

    @cached_property
    def keywords(self) -> NormalizedSchema:
        """See ``NormalizedSchema``."""
        return self._source() if callable(self._source) else self._source

    def __reduce__(self) -> str | tuple[Any, ...]:
        names = {EVERYTHING: "EVERYTHING", NOTHING: "NOTHING"}  # each of them is one object
        return names.get(self) or (Schema, (self._source,))

    @property
    def types(self) -> frozenset[JsonType]:
        """The types that the keyword ``type`` allows."""
        return self.keywords.get("type", JSON_TYPES)

    @cached_property
    def members(self) -> Mapping[Any, Any]:
        """The identities of the members of ``enum``, and the members."""
        return {identity(member): member for member in self.keywords["enum"]}

    @cached_property
    def negation(self) -> "Schema":
        """The schema that refuses this one."""
        return Schema({"not": self})


EVERYTHING: Final = Schema({})
"""The schema of all values."""

NOTHING: Final = Schema({"enum": ()})
"""The schema of no value."""


def values_of(schemas: Iterable[Schema], keyword: str) -> list[Any]:
    """What some schemas say with a keyword."""
    each: list[Mapping[str, Any]] = [schema.keywords for schema in schemas]
    return [keywords[keyword] for keywords in each if keyword in keywords]


def with_all(schema: Schema) -> list[Schema]:
    """A schema and all that hold with it, a bounded number."""
    found = [schema]
    for here in found:  # it grows
        found += [inner for inner in here.keywords.get("allOf", ()) if inner not in found][: _MAX_WALKED - len(found)]
    return found
