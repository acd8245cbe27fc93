"""Made-up documentation of any length, in the forms that the extractor reads."""

import json
from collections.abc import Callable
from typing import Any, Final

_TYPES: Final = ("string", "integer", "boolean", "number")
_PYTHON: Final = {"string": "str", "integer": "int", "boolean": "bool", "number": "float"}


def sample_tools(count: int) -> list[dict[str, Any]]:
    """Make ``count`` tools of four keys each, as JSON Schema objects ``{"name", "description", "parameters"}``."""
    return [_tool(number) for number in range(count)]


def _tool(number: int) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for index in range(4):
        kind = _TYPES[(number + index) % len(_TYPES)]
        properties[f"key_{index}"] = {
            "type": kind,
            "description": f"Value {index} (e.g. [{number}]), as the user says.",
        }
    properties["key_3"] |= {"type": "string", "enum": ["low", "high, 'very'"], "default": "low"}
    schema = {"type": "object", "properties": properties, "required": ["key_0", "key_1"]}
    return {"name": f"service.tool_{number}", "description": f"Tool {number} does one thing.", "parameters": schema}


def _api_bank(tools: list[dict[str, Any]]) -> str:
    rows = [
        {
            "name": tool["name"],
            "description": tool["description"],
            "input_parameters": {
                key: {"type": _PYTHON[spec["type"]], "description": spec["description"]}
                for key, spec in tool["parameters"]["properties"].items()
            },
            "output_parameters": {"status": {"type": "str", "description": "success or failed"}},
        }
        for tool in tools
    ]
    return "\n".join(map(json.dumps, rows))


def _rapid_api(tools: list[dict[str, Any]]) -> str:
    def keys(tool: dict[str, Any], required: bool) -> list[dict[str, Any]]:
        schema = tool["parameters"]
        return [
            {"name": key, "type": spec["type"].upper(), "description": spec["description"], "default": ""}
            for key, spec in schema["properties"].items()
            if (key in schema["required"]) is required
        ]

    return json.dumps(
        [
            {
                "tool_name": "Service",
                "api_name": tool["name"],
                "api_description": tool["description"],
                "required_parameters": keys(tool, True),
                "optional_parameters": keys(tool, False),
            }
            for tool in tools
        ]
    )


def _signature(tool: dict[str, Any]) -> str:
    schema = tool["parameters"]
    keys = (
        f"{key}: {_PYTHON[spec['type']]}" + ("" if key in schema["required"] else " = None")
        for key, spec in schema["properties"].items()
    )
    return f"({', '.join(keys)}) -> dict"


def _python(tools: list[dict[str, Any]]) -> str:
    def source(tool: dict[str, Any]) -> str:
        keys = "\n".join(f"        {k}: {s['description']}" for k, s in tool["parameters"]["properties"].items())
        name = tool["name"].rpartition(".")[2]
        return f'def {name}{_signature(tool)}:\n    """{tool["description"]}\n\n    Args:\n{keys}\n    """\n'

    return "\n\n".join(map(source, tools))


def _xml(tools: list[dict[str, Any]]) -> str:
    def element(tool: dict[str, Any]) -> str:
        schema = tool["parameters"]
        keys = "".join(
            f'    <param name="{key}" type="{spec["type"]}" required="{str(key in schema["required"]).lower()}">\n'
            f"      <desc>{spec['description']}</desc>\n    </param>\n"
            for key, spec in schema["properties"].items()
        )
        return (
            f'<function name="{tool["name"]}">\n  <desc>{tool["description"]}</desc>\n'
            f"  <params>\n{keys}  </params>\n</function>\n"
        )

    return "\n".join(map(element, tools))


def _yaml(tools: list[dict[str, Any]]) -> str:
    def operation(tool: dict[str, Any]) -> str:
        schema = tool["parameters"]
        keys = "".join(
            f"    - name: {key}\n      in: query\n      required: {str(key in schema['required']).lower()}\n"
            f"      description: {json.dumps(spec['description'])}\n      schema:\n        type: {spec['type']}\n"
            for key, spec in schema["properties"].items()
        )
        return f"  /{tool['name']}:\n    get:\n      operationId: {tool['name']}\n      parameters:\n" + "".join(
            f"  {line}\n" for line in keys.splitlines()
        )

    return "openapi: 3.0.0\ninfo:\n  title: Service\npaths:\n" + "".join(map(operation, tools))


FORMS: Final[dict[str, Callable[[list[dict[str, Any]]], str]]] = {
    "JSON, indented (BFCL)": lambda tools: json.dumps(tools, indent=4),
    "JSON, wrapped (OpenAI)": lambda tools: json.dumps([{"type": "function", "function": tool} for tool in tools]),
    "Python repr": repr,
    "JSON lines (API-Bank)": _api_bank,
    "lists of keys (RapidAPI)": _rapid_api,
    "XML (BFCL)": _xml,
    "OpenAPI, YAML": _yaml,
    "Python functions": _python,
    "signature lines": lambda tools: "\n".join(f"{tool['name']}{_signature(tool)}" for tool in tools),
}
"""Form -> function that documents tools in this form."""
