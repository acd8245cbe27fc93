"""Function-calling mode: tools as the official handler for OpenAI's chat completions sends them.

Package bfcl-eval 2026.3.23 (Apache-2.0): ``convert_to_tool``.
"""

from collections.abc import Mapping
from typing import Any, Final

from eval.benchmarks.bfcl.checker import Functions

_JSON_TYPES: Final = {
    "integer": "integer",
    **dict.fromkeys(("number", "float", "double"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "tuple"), "array"),
    **dict.fromkeys(("dict", "object"), "object"),
}
"""Documented type -> JSON Schema type; any other is ``string``."""

_HINT: Final = " Note that the provided function is in Python 3 syntax."


def called_name(name: str) -> str:
    """Return the name that a documented tool has here: with underscores for its dots."""
    return name.replace(".", "_")


def offered_tools(functions: Functions) -> list[dict[str, Any]]:
    """Return the tools of an entry as the handler sends them, in OpenAI's form.

    Names have underscores for dots, and types are those of JSON Schema. Each description names the language.
    """
    return [{"type": "function", "function": _offered(function)} for function in functions]


def _offered(function: Mapping[str, Any]) -> dict[str, Any]:
    properties = function["parameters"]["properties"]
    parameters = function["parameters"] | {"type": "object", "properties": _with_json_types(properties)}
    return {
        **function,
        "name": called_name(function["name"]),
        "description": _words(function) + _HINT,
        "parameters": parameters,
    }


def _with_json_types(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _with_json_type(row) for key, row in properties.items()}


def _with_json_type(given: Mapping[str, Any]) -> dict[str, Any]:
    row = dict(given)
    if row.get("type") == "float":
        row |= {"format": "float", "description": _words(row) + " This is a float type value."}
    row["type"] = _json_type(row.get("type"))
    if row["type"] in ("array", "object"):
        if "properties" in row:
            row["properties"] = _with_json_types(row["properties"])
        elif "items" in row:
            row["items"] = _items(row["items"])
    return row


def _items(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of elements: two levels of types, and objects whose keys are documented."""
    row = {**given, "type": _json_type(given.get("type"))}
    if row["type"] == "array" and "items" in row:
        row["items"] = {**row["items"], "type": _json_type(row["items"].get("type"))}
    elif row["type"] == "object" and "properties" in row:
        row["properties"] = _with_json_types(row["properties"])
    return row


def _json_type(documented: Any) -> str:
    return _JSON_TYPES.get(documented, "string") if isinstance(documented, str) else "string"


def _words(documented: Mapping[str, Any]) -> str:
    return str(documented.get("description", ""))
