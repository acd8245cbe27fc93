"""A tool as data in the shape of a template, made from the lookup dictionary: in full, or its signature.

A signature has names, keys, types, enums, and which keys are required; nothing in words, and no defaults.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lookup import ParameterSpec, ToolSpec, ValueType
from lookup.dictionary import MISSING

JSON_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "dict": "object",
}
"""Normalised type -> JSON Schema type."""


def json_schema(tool: ToolSpec) -> dict[str, Any]:
    """Return ``{"name", "description", "parameters"}`` with a JSON Schema made from the lookup dictionary."""
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": {"type": "object"} | _object(tool.parameters, prose=True),
    }


def json_signature(tool: ToolSpec) -> dict[str, Any]:
    """Return ``{"name", "parameters"}`` with a JSON Schema that has no descriptions and no defaults."""
    return {"name": tool.name, "parameters": {"type": "object"} | _object(tool.parameters, prose=False)}


def api_bank_object(tool: ToolSpec) -> dict[str, Any]:
    """Return the object that API-Bank prints for a tool."""
    return {
        "name": tool.name,
        "description": tool.description,
        "input_parameters": {p.name: {"type": p.raw_type, "description": _marked(p)} for p in tool.parameters},
    }


def api_bank_signature(tool: ToolSpec) -> dict[str, Any]:
    """Return API-Bank's object without words; what it has no field for stands in a description, as in the full one."""
    return {"name": tool.name, "input_parameters": {p.name: _api_bank_key(p) for p in tool.parameters}}


def _api_bank_key(spec: ParameterSpec) -> dict[str, Any]:
    row = {"type": spec.raw_type} | {k: v for k, v in _json_type(spec.type, prose=False).items() if k in _NESTED}
    marks = _marked(replace(spec, description="")).strip()
    return row | ({"description": marks} if marks else {})


_NESTED = ("items", "properties", "required", "additionalProperties", "anyOf")


def _marked(spec: ParameterSpec) -> str:
    """API-Bank has no fields for optional keys and enums: its descriptions say both."""
    marker = "" if spec.required is not False or "[optional]" in spec.description.lower() else "[Optional] "
    members = f" One of: {', '.join(map(str, spec.enum))}" if spec.enum else ""
    return f"{marker}{spec.description}{members}"


def _property(spec: ParameterSpec, prose: bool) -> dict[str, Any]:
    nullable = _has_null_beside(spec.type, spec.enum)
    row = _json_type(replace(spec.type, enum=spec.enum) if nullable else spec.type, prose)
    row |= {"description": spec.description} if prose else {}
    if spec.enum is not None and not nullable:
        row["enum"] = list(spec.enum)
    if prose and spec.default is not MISSING:
        row["default"] = spec.default
    return row


def _has_null_beside(value_type: ValueType, enum: tuple[Any, ...] | None) -> bool:
    """Whether null is allowed beside an enum that lacks it, which takes a branch of its own."""
    return value_type.nullable and enum is not None and None not in enum


def _json_type(value_type: ValueType, prose: bool) -> dict[str, Any]:
    if value_type.enum is not None and _has_null_beside(value_type, value_type.enum):
        named = _json_type(replace(value_type, nullable=False, enum=None), prose)
        return {"anyOf": [{**named, "enum": list(value_type.enum)}, {"type": "null"}]}
    if value_type.any_of:
        branches = [_json_type(branch, prose) for branch in value_type.any_of]
        return {"anyOf": [*branches, {"type": "null"}] if value_type.nullable else branches}
    if value_type.kind == "any":
        return {} if value_type.enum is None else {"enum": list(value_type.enum)}
    name = JSON_TYPES[value_type.kind]
    row: dict[str, Any] = {"type": [name, "null"] if value_type.nullable else name}
    if value_type.enum is not None:
        row["enum"] = list(value_type.enum)
    if value_type.items:
        row["additionalProperties" if value_type.kind == "dict" else "items"] = _json_type(value_type.items, prose)
    if value_type.properties is not None:
        row |= _object(value_type.properties, prose)
    return row


def _object(parameters: Sequence[ParameterSpec], prose: bool) -> dict[str, Any]:
    properties = {p.name: _property(p, prose) for p in parameters}
    required = [p.name for p in parameters if p.required]
    return {"properties": properties} | ({"required": required} if required or prose else {})
