"""An MCP server whose tools answer, fail, hang, die or say too much: ``mcp_stub.py [PORT [sse]]``; else stdio."""

import os
import sys
import time

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ImageContent, ToolAnnotations

server = MCPServer("stub")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def echo(text: str, times: int = 1) -> str:
    """Say a text."""
    return " ".join([text] * times)


@server.tool()
def now() -> str:
    """Say whether the server is there."""
    return f"here {os.getpid()} {os.environ.get('STUB', '')}"


@server.tool()
def fail(reason: str) -> str:
    """Fail."""
    raise ToolError(reason)


@server.tool()
def hang() -> str:
    """Do not answer."""
    time.sleep(60)
    return "late"


@server.tool()
def die() -> str:
    """End the server."""
    os._exit(3)


@server.tool()
def large(size: int) -> str:
    """Say much."""
    return "x" * size


@server.tool()
def picture() -> ImageContent:
    """Show a picture."""
    return ImageContent(type="image", data="aGk=", mime_type="image/png")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("sse" if "sse" in sys.argv else "streamable-http", port=int(sys.argv[1]))
    else:
        server.run()
