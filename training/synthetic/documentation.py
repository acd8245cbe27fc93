"""Documentation of synthetic tools: API-Bank's objects, JSON Schemas reduced to them, BFCL's and OpenAI's objects."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from training.synthetic.lexicon import Draw
from training.synthetic.parameters import Parameter
from training.synthetic.tools import Tool

Printer = Callable[[Draw, Tool], dict[str, Any]]

SHORT_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "dict"}
BFCL_TYPES = {"number": "float", "object": "dict"}


def _short_type(schema: Mapping[str, Any]) -> str:
    kind = str(schema["type"])
    if kind == "array":
        return f"list({_short_type(schema['items'])})"
    return SHORT_TYPES[kind]


def api_bank(d: Draw, tool: Tool) -> dict[str, Any]:
    """Document a tool in API-Bank's form: descriptions say which keys are optional and list enum members."""
    return {
        "name": tool.name,
        "description": tool.description,
        "input_parameters": {
            p.key: {"type": _short_type(p.schema), "description": _marked(p)} for p in tool.parameters
        },
        "output_parameters": {
            d.choice(["status", "result", "results", tool.thing.split(" ")[-1]]): {
                "type": d.choice(["str", "list", "dict"]),
                "description": d.choice(["The result.", f"The {tool.thing}.", "Whether it succeeded."]),
            }
        },
    }


def marked_description(description: str, schema: Mapping[str, Any], required: bool) -> str:
    """Return the description with ``[Optional]`` before it and enum members after it, where they apply."""
    members = f" One of: {', '.join(map(str, schema['enum']))}" if schema.get("enum") else ""
    return f"{'' if required else '[Optional] '}{description}{members}"


def _marked(parameter: Parameter) -> str:
    return marked_description(parameter.description, parameter.schema, parameter.required)


def reduced(_: Draw, tool: Tool) -> dict[str, Any]:
    """Document a tool as the ``api-bank`` template prints one that has a JSON Schema."""
    rows = {p.key: {"type": p.schema["type"], "description": _marked(p)} for p in tool.parameters}
    return {"name": tool.name, "description": tool.description, "input_parameters": rows}


def _property(parameter: Parameter, described_first: bool, types: Mapping[str, str]) -> dict[str, Any]:
    schema = retyped(parameter.schema, types)
    described = {"description": parameter.description}
    row = {**described, **schema} if described_first else {"type": schema["type"], **described, **schema}
    if parameter.default is not None:
        row["default"] = parameter.default
    return row


def retyped(schema: Mapping[str, Any], types: Mapping[str, str]) -> dict[str, Any]:
    """Return the schema with other type names, also in nested schemas."""
    out = {**schema, "type": types.get(schema["type"], schema["type"])}
    if "items" in schema:
        out["items"] = retyped(schema["items"], types)
    if "properties" in schema:
        out["properties"] = {key: retyped(part, types) for key, part in schema["properties"].items()}
    return out


def _schema(tool: Tool, types: Mapping[str, str], kind: str, described_first: bool) -> dict[str, Any]:
    properties = {p.key: _property(p, described_first, types) for p in tool.parameters}
    return {"type": kind, "properties": properties, "required": tool.required}


def bfcl(d: Draw, tool: Tool) -> dict[str, Any]:
    """Document a tool in BFCL's form with its type names; a default is a field or part of the description."""
    parameters = _schema(tool, BFCL_TYPES, "dict", d.chance(0.3))
    if d.chance(0.4):
        parameters = {"type": parameters["type"], "required": parameters["required"], **parameters}
    for row in parameters["properties"].values():
        if "default" in row and not isinstance(row["default"], list | dict) and d.chance(0.3):
            row["description"] += f". Default is {row['default']!r}."
            if d.chance(0.5):
                del row["default"]
    return {"name": tool.name, "description": tool.description, "parameters": parameters}


def json_schema(d: Draw, tool: Tool) -> dict[str, Any]:
    """Document a tool as the ``function`` of OpenAI's form, with JSON Schema's type names."""
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": _schema(tool, {}, "object", d.chance(0.3)),
    }


def openai(d: Draw, tool: Tool) -> dict[str, Any]:
    """Document a tool in OpenAI's form."""
    return {"type": "function", "function": json_schema(d, tool)}


PRINTERS: Mapping[str, Sequence[tuple[Printer, float]]] = {
    "api-bank": ((api_bank, 0.6), (reduced, 0.4)),
    "bfcl": ((bfcl, 0.7), (json_schema, 0.2), (openai, 0.1)),
    "hermes": ((openai, 1.0),),
}
"""Template -> the forms in its prompts, with their shares."""


def print_tools(d: Draw, tools: Sequence[Tool], template: str) -> tuple[dict[str, Any], ...]:
    """Document all tools in one of the template's forms, in random order."""
    printers, shares = zip(*PRINTERS[template], strict=True)
    [printer] = d.choices(printers, shares)
    shown = list(tools)
    d.shuffle(shown)
    return tuple(printer(d, tool) for tool in shown)
