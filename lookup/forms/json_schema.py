"""Tools whose parameters are a JSON Schema, as in BFCL, OpenAI, Anthropic, MCP and UltraTool.

``{"name", "description", "parameters": {"type", "properties", "required"}}``, bare or inside
``{"type": "function", "function": {...}}``. Other names of ``parameters`` are ``inputSchema``, ``input_schema`` and
``arguments``.

If neither a list of required keys nor the property itself says it, a key is optional, as in JSON Schema. Under
``arguments`` it is unknown, because UltraTool never lists required keys.
"""

from collections.abc import Mapping
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError
from lookup.forms.form import ObjectForm, has_name, one_tool, read_name
from lookup.messages import quoted, shown
from lookup.parameters.plain_values import read_description
from lookup.parameters.property_reader import PropertyReader
from lookup.type_names import value_type

_WORDS: Final = frozenset(
    {
        "type", "properties", "required", "optional", "description", "title", "default", "additionalProperties",
        "strict", "example", "examples", "$schema", "$id", "$ref", "$defs", "definitions", "$comment",
        "allOf", "anyOf", "oneOf",
        "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "patternProperties",
        "propertyNames", "minProperties", "maxProperties", "unevaluatedProperties", "nullable",
    }
)  # fmt: skip
SCHEMA_KEYS: Final = ("parameters", "inputSchema", "input_schema", "args_schema", "arguments")


def claims(data: Mapping[str, Any]) -> bool:
    """Whether the object documents a tool, rather than being a call or something else."""
    key, schema = _schema(data)
    if key is None:
        return False
    if isinstance(schema, Mapping):
        if key == "arguments" and not (_is_object(schema) and ("properties" in schema or "description" in data)):
            return False
        if not _is_object(schema) and not _WORDS.issuperset(schema):
            return False  # the arguments of a call, with one named "properties"
        if "properties" in schema or _is_object(schema) or "$ref" in schema or _has_branches(schema):
            return has_name(data) or "description" in data
        return not schema and key != "arguments" and has_name(data)
    return key != "arguments" and schema is None and has_name(data) and "description" in data


def read_tool(data: Mapping[str, Any]) -> ToolSpec:
    """Read one tool. Without a schema, it has no parameters.

    Raises
    ------
    DocumentationError
        Naming tool and parameter: the name is not a text, ``properties`` or a property is not an object, ``required``
        is not a list or contains an unknown key, or ``enum`` is not a non-empty list.
    """
    name = read_name(data)
    owner = f"tool {quoted(name)}"
    description = read_description(data, owner)
    key, schema = _schema(data)
    if schema is None:
        return ToolSpec(name, description)
    if not isinstance(schema, Mapping):
        raise DocumentationError(f"{owner}: expected {key!r} to be an object with 'properties', found {shown(schema)}")
    reader = PropertyReader(owner, schema, habit=None if key == "arguments" else False)
    parameters = reader.parameters(schema, beside=data)
    return ToolSpec(name, description, parameters, notes=tuple(reader.notes), conditions=reader.conditions)


def _schema(data: Mapping[str, Any]) -> tuple[str | None, Any]:
    """The key of the schema, and the schema. Amazon wraps it as ``{"json": schema}``."""
    given = [key for key in SCHEMA_KEYS if key in data]
    key = next((key for key in given if data[key]), given[0] if given else None)
    schema = data[key] if key else None
    if isinstance(schema, Mapping) and set(schema) == {"json"}:
        schema = schema["json"]
    return key, schema


def _is_object(schema: Mapping[str, Any]) -> bool:
    written = schema.get("type")
    return isinstance(written, str) and value_type(written).kind == "dict"


def _has_branches(schema: Mapping[str, Any]) -> bool:
    return any(isinstance(schema.get(word), list) and schema[word] for word in ("allOf", "anyOf", "oneOf"))


FORM: Final = ObjectForm(
    'JSON Schema objects {"name", "parameters" or "inputSchema" or "input_schema": {"properties"}}',
    claims,
    one_tool(read_tool),
)
