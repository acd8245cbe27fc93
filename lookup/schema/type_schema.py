"""Documented types as schemas."""

from functools import lru_cache
from typing import Any, Final

from lookup.dictionary import ANY, ValueType
from lookup.schema.words import KINDS, NUMBERS, Kind
from lookup.type_names import NULL_NAMES, value_type

_NAMES: Final = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "tuple": "tuple",
    "dict": "object",
}  # fmt: skip
_STANDARD: Final[dict[str, frozenset[Kind]]] = {**{kind: frozenset({kind}) for kind in KINDS}, "number": NUMBERS}


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
