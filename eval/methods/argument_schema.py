"""The JSON Schema of a tool's arguments, as another library is given it."""

from collections.abc import Iterable
from typing import Any

from lookup.dictionary import ParameterSpec, ValueType
from tooldecoding.prompts.tool_objects import JSON_TYPES


def arguments_schema(parameters: Iterable[ParameterSpec]) -> dict[str, Any]:
    """Return the schema of an object with these keys in this order, the required ones among them, and no others.

    It says the types and enums that were read from the documentation, and nothing else of the values.
    """
    listed = list(parameters)
    return {
        "type": "object",
        "properties": {spec.name: _schema(spec.value_type) for spec in listed},
        "required": [spec.name for spec in listed if spec.required],
        "additionalProperties": False,
    }


def _schema(of: ValueType) -> dict[str, Any]:
    alternatives = [_schema(branch) for branch in of.any_of] if of.any_of else [_alone(of)]
    if of.nullable:
        alternatives.append({"type": "null"})
    return alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}


def _alone(of: ValueType) -> dict[str, Any]:
    """Return the schema of a type that is no union, without null."""
    if of.enum:
        return {"enum": list(of.enum)}
    items = _schema(of.items) if of.items else {}
    match of.kind:
        case "any":
            return {}
        case "list" | "tuple":
            return {"type": "array", "items": items}
        case "dict":
            return (
                arguments_schema(of.properties) if of.properties else {"type": "object", "additionalProperties": items}
            )
    return {"type": JSON_TYPES[of.kind]}
