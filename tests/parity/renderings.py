"""Print tools as the corpora do in their prompts."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

Functions = list[dict[str, Any]]


def indented_json(functions: Functions) -> str:
    """BFCL's own format."""
    return json.dumps(functions, indent=4)


def openai(functions: Functions) -> str:
    """The ``tools`` of a request to a chat model."""
    return json.dumps([{"type": "function", "function": _as_object(f, "parameters")} for f in functions], indent=2)


def mcp(functions: Functions) -> str:
    """The answer of an MCP server to ``tools/list``."""
    tools = [_as_object(f, "inputSchema") for f in functions]
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}, ensure_ascii=False)


def anthropic(functions: Functions) -> str:
    """The ``tools`` of a request to Claude."""
    return json.dumps([_as_object(f, "input_schema") for f in functions], ensure_ascii=False, indent=2)


def _as_object(function: Mapping[str, Any], word: str) -> dict[str, Any]:
    """The schema under another name, with JSON Schema's type for objects."""
    return {
        "name": function["name"],
        "description": function["description"],
        word: {**function["parameters"], "type": "object"},
    }


def gorilla(functions: Functions) -> list[dict[str, Any]]:
    """Gorilla's objects: ``name`` is a title, ``api_name`` is the name in calls, and the keys are in one list."""
    return [
        {
            "name": f["name"].replace("_", " ").title(),
            "api_name": f["name"],
            "description": f["description"],
            "parameters": [{"name": key, **spec} for key, spec in f["parameters"]["properties"].items()],
        }
        for f in functions
    ]


def gorilla_lists(functions: Functions) -> list[dict[str, Any]]:
    """Gorilla's objects with a list of required keys and a list of optional keys; either may be empty."""
    found = []
    for function in functions:
        lists: dict[str, list[Any]] = {"required": [], "optional": []}
        for key, spec in function["parameters"]["properties"].items():
            word = "required" if key in function["parameters"]["required"] else "optional"
            lists[word].append({"name": key, **{k: v for k, v in spec.items() if k not in lists}})
        found.append({"api_name": function["name"], "description": function["description"], "parameters": lists})
    return found


def ultra_tool(functions: Functions) -> list[dict[str, Any]]:
    """UltraTool's objects: ``arguments`` and ``results``, no list of required keys, Chinese descriptions."""
    return [
        {
            "name": function["name"],
            "description": f"该工具用于\uff1a{function['description']}",
            "arguments": {"type": "object", "properties": _ultra_keys(function["parameters"]["properties"])},
            "results": {
                "type": "object",
                "properties": {"result": {"description": "返回结果\uff08可选\uff09", "type": "string"}},
            },
        }
        for function in functions
    ]


def _ultra_keys(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Descriptions before types, as in every second property of UltraTool."""
    found = {}
    for name, spec in properties.items():
        rest = {key: value for key, value in spec.items() if key not in ("description", "required", "optional")}
        if "properties" in rest:
            rest["properties"] = _ultra_keys(rest["properties"])
        found[name] = {"description": f"参数“{name}”\uff1a{spec.get('description', '')}", **rest}
    return found


def json_lines(documents: Iterable[Mapping[str, Any]]) -> str:
    """One object on each line."""
    return "".join(f"{json.dumps(document, ensure_ascii=False)}\n" for document in documents)


def seal_prompt(documents: list[dict[str, Any]], instruction: str) -> str:
    """Seal-Tools' prompt. Quotes inside the instruction are not escaped."""
    return f'api_list = {documents!r}\ntask_instruction = "{instruction}"'


def tool_bench(document: Mapping[str, Any]) -> dict[str, Any]:
    """ToolBench's rendering of a RapidAPI document as a function; in its own prompts as Python."""
    tool = standard_name(document["tool_name"])
    name = f"{_not_reserved(standard_name(document['api_name']))}_for_{tool}"[-64:]
    description = f'This is the subfunction for tool "{tool}", you can use this tool.'
    if said := (document["api_description"] or "").strip()[:256]:
        description += f'The description of this function is: "{said}"'
    parameters: dict[str, Any] = {"type": "object", "properties": {}, "required": [""], "optional": [""]}
    for word in ("required", "optional"):
        for spec in document[f"{word}_parameters"]:
            key = _not_reserved(standard_name(spec["name"]))
            kind = {"NUMBER": "integer", "STRING": "string", "BOOLEAN": "boolean"}.get(spec["type"], "string")
            parameters["properties"][key] = {"type": kind, "description": spec["description"][:256]}
            if str(spec["default"]):
                parameters["properties"][key]["example_value"] = spec["default"]
            parameters[word].append(key)
    return {"name": name, "description": description, "parameters": parameters}


def standard_name(name: str) -> str:
    """``TheClique: Songs`` -> ``theclique_songs``. A leading digit gets the prefix ``get_``."""
    standard = re.sub(r"_+", "_", re.sub(r"[^\u4e00-\u9fa5\w]|[^\x00-\x7f\u4e00-\u9fa5]", "_", name)).lower().strip("_")
    return f"get_{standard}" if standard[:1].isdigit() else standard


def _not_reserved(name: str) -> str:
    return f"is_{name}" if name in ("from", "class", "return", "false", "true", "id", "and") else name


FINISH = {
    "name": "Finish",
    "description": "If you believe that you have obtained a result that answers the task, call this function.",
    "parameters": {
        "type": "object",
        "properties": {
            "return_type": {"type": "string", "enum": ["give_answer", "give_up_and_restart"]},
            "final_answer": {"type": "string", "description": "The final answer you want to give the user."},
        },
        "required": ["return_type"],
    },
}
"""The tool that ToolBench adds to every prompt."""
