"""Print tools as the corpora do in their prompts."""

import json
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


def json_lines(documents: Iterable[Mapping[str, Any]]) -> str:
    """One object on each line."""
    return "".join(f"{json.dumps(document, ensure_ascii=False)}\n" for document in documents)


def seal_prompt(documents: list[dict[str, Any]], instruction: str) -> str:
    """Seal-Tools' prompt. Quotes inside the instruction are not escaped."""
    return f'api_list = {documents!r}\ntask_instruction = "{instruction}"'
