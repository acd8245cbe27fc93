"""The types of JSON Schema, and documented types as schemas."""

from functools import lru_cache
from typing import Any, Final, Literal, get_args

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

TYPE_NAMES: Final = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "tuple": "tuple",
    "dict": "object",
}  # fmt: skip
"""Kind of a normalised type -> its name in a schema; ``tuple`` is none of JSON Schema."""
_STANDARD: Final[dict[str, frozenset[JsonType]]] = {**{one: frozenset({one}) for one in JSON_TYPES}, "number": NUMBERS}


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
        named = TYPE_NAMES.get(branch.kind)
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
    row: dict[str, Any] = {} if of.kind == "any" else {"type": TYPE_NAMES[of.kind]}
    if of.any_of:
        row = {"anyOf": [type_schema(branch) for branch in of.any_of]}
    elif of.kind == "dict" and of.properties:
        row["properties"] = {spec.name: type_schema(spec.value_type) for spec in of.properties}
        row["required"] = [spec.name for spec in of.properties if spec.required]
        row["additionalProperties"] = False
    elif of.kind in ("list", "tuple", "dict") and of.items not in (None, ANY):
        row["additionalProperties" if of.kind == "dict" else "items"] = type_schema(of.items or ANY)
    return {"anyOf": [row, {"type": "null"}]} if of.nullable and row else row
