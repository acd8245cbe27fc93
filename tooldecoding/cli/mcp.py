"""MCP servers of the command line."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tooldecoding.agents.agent_tools import runnable
from tooldecoding.agents.servers import McpServers
from tooldecoding.cli.console import one_line, stderr_line
from tooldecoding.cli.extras import demand_extra
from tooldecoding.errors import ConfigError
from tooldecoding.options.decode_command import McpOptions


@contextmanager
def running_servers(options: McpOptions) -> Iterator[McpServers]:
    """Start the servers that the options name; prints a warning for what is missing, left out, or called otherwise.

    ConfigError if there is no tool that can be called.
    """
    demand_extra("mcp", "mcp")
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it logs a traceback for each line that is no JSON
    logging.getLogger("client").addFilter(lambda record: not record.exc_info)  # and for each note that is none
    with McpServers(options.servers, options.tool_timeout) as servers:
        servers.tools, left_out = runnable(servers.tools)
        for note in [*servers.notes, *left_out]:
            stderr_line(f"warning: {one_line(note)}")
        if not servers.tools:
            raise ConfigError("no MCP server that was named has a tool that can be called")
        yield servers


def mcp_documentation(options: McpOptions) -> list[Any]:
    """Return what the servers say of their tools, in MCP's shape; the servers end."""
    with running_servers(options) as servers:
        return [tool.documentation for tool in servers.tools]
