"""A tool as data in the shape of a template, made from the lookup dictionary: in full, or its signature.

A signature has names, keys, types, enums, and which keys are required; nothing in words, and no defaults.
"""

from collections.abc import Iterator, Sequence
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


def signature_text(tool: ToolSpec, prose: bool) -> str:
    """Return a tool as a signature line, ``name(key: type, other: type = default)``.

    Parameters
    ----------
    prose : bool
        Whether what the documentation says in words follows, in an indented line for the tool and each key.
    """
    keys = [_signature_key(p, "None" if p.default is MISSING else repr(p.default)) for p in tool.parameters]
    lines = [tool.description, *_described_keys(tool.parameters)] if prose else []
    return "\n    ".join([f"{tool.name}({', '.join(keys)})", *(" ".join(line.split()) for line in lines if line)])


def _signature_key(spec: ParameterSpec, default: str) -> str:
    return f"{spec.name}: {_type_text(spec.value_type)}" + ("" if spec.required else f" = {default}")


def _type_text(value_type: ValueType) -> str:
    if value_type.enum is not None:
        shown = " | ".join(map(repr, value_type.enum))
    elif value_type.any_of:
        shown = " | ".join(map(_type_text, value_type.any_of))
    elif value_type.properties:
        keys = (f"{p.name}{'' if p.required else '?'}: {_type_text(p.value_type)}" for p in value_type.properties)
        shown = f"{{{', '.join(keys)}}}"
    else:
        shown = value_type.kind + (f"[{_type_text(value_type.items)}]" if value_type.items else "")
    return f"{shown} | None" if value_type.nullable else shown


def _described_keys(parameters: Sequence[ParameterSpec], outer: str = "") -> Iterator[str]:
    """Yield a line for each key with a description, those of inner objects behind their own."""
    for spec in parameters:
        name = outer + spec.name
        if spec.description:
            yield f"{name}: {spec.description}"
        inner = spec.type.items or spec.type
        yield from _described_keys(inner.properties or (), f"{name}.")
