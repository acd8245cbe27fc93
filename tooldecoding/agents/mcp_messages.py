"""What an MCP server sends, as it is: each tool and each result is judged by itself, by us.

The package ``mcp`` judges a list of tools as a whole, and drops a text with structured content that breaks its schema.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, Self

from pydantic import ValidationError

from lookup.errors import shown

AS_SENT: Final = "tooldecoding"
"""The key of ``_meta`` under which a tool, or the result of a call, stands as it was sent, as a JSON text."""

_OF_ANY: Final = {"_meta", "isError", "resultType"}
"""Keys of a result that has nothing in it: a tool that ran may give no more."""


@asynccontextmanager
async def as_sent(transport: Any) -> AsyncIterator[tuple[Any, Any]]:
    """Open a transport whose tools and results the package takes, whatever they are; they have ``AS_SENT``."""
    async with transport as (reading, writing):
        yield _AsSent(reading), writing


class _AsSent:
    """The messages of a server."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *about: Any) -> None:
        await self._stream.__aexit__(*about)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        item = await anext(self._stream)
        if isinstance(item, ValidationError):
            item = _answer(item) or item
        result = getattr(getattr(item, "message", None), "result", None)
        if not isinstance(result, dict):
            return item
        sent = dict(result)
        if isinstance(tools := result.get("tools"), list):
            result |= {"tools": [*map(_taken, tools)], "_meta": {}}
        if "content" in result or "structuredContent" in result or result.keys() <= _OF_ANY:
            result.pop("structuredContent", None)
            result |= {"content": [], "isError": False, "_meta": {AS_SENT: json.dumps(sent)}}
        return item


def _answer(error: ValidationError) -> Any:
    """The answer in a line that the package cannot read: half a character, depth, a number of very many digits."""
    from mcp.shared.message import SessionMessage
    from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCResponse

    line = error.errors(include_url=False)[0]["input"]
    try:
        read = json.loads(line, parse_int=lambda n: int(n) if len(n) < 4_000 else n) if isinstance(line, str) else line
        message = json.loads(json.dumps(read, ensure_ascii=False).encode(errors="replace"))
        found = message["error"] if "error" in message else message["result"]
        if isinstance(found, dict) and "error" not in message:
            return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=message["id"], result=found))
        wrong = ErrorData(code=PARSE_ERROR, message=f"expected a result or an error of JSON-RPC, found {shown(found)}")
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=message["id"], error=wrong))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _taken(tool: Any) -> dict[str, Any]:
    """A tool that the client takes, with the name and the keys of one that it might not."""
    given = tool if isinstance(tool, dict) else {}
    text = json.dumps(tool)
    schema = given.get("inputSchema") if "x-mcp-header" in text else None  # else the package needs none of it
    keys = schema.get("properties") if isinstance(schema, dict) else None
    named = {key: value for key, value in keys.items() if isinstance(value, dict)} if isinstance(keys, dict) else {}
    return {
        "name": str(given.get("name", "")),
        "inputSchema": {"type": "object", "properties": named},
        "_meta": {AS_SENT: text},
    }


def block_text(block: Any) -> str:
    """A block of a result as text; the model is told of what is none, and where it is."""
    if isinstance(block, str):
        return block
    inner = block.get("resource") if isinstance(block, dict) and block.get("type") == "resource" else block
    if not isinstance(inner, dict):
        return f"[{shown(block)}: not shown]"
    about = [str(inner[key]) for key in ("title", "name", "uri", "description") if inner.get(key)]
    if isinstance(text := inner.get("text"), str):
        return f"[{', '.join(about)}]\n{text}" if inner.get("uri") else text
    about += ["not shown"] if block.get("type") != "resource_link" else []
    return f"[{block.get('type')}, {inner.get('mimeType') or 'of unknown type'}: {', '.join(about)}]"
