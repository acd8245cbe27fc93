"""Options of commands that take tools from MCP servers."""

from dataclasses import dataclass

from tooldecoding.agents.servers import MCP_TIMEOUT, McpServer, read_mcp_config
from tooldecoding.options.option import Positive, option


@dataclass(frozen=True, kw_only=True)
class McpOptions:
    """Which servers, and how long they may take."""

    mcp: tuple[str, ...] = option(
        (), "Take the tools of this MCP server: its command line, or its URL.", metavar="SERVER", only="command line"
    )
    mcp_config: str | None = option(
        None, "Take the tools of the MCP servers in this file.", metavar="FILE.json", only="command line"
    )
    tool_timeout: Positive = option(MCP_TIMEOUT, "Seconds that an MCP server may take to start, and for each call.")

    @property
    def servers(self) -> list[McpServer]:
        """The servers that the options name; ConfigError as ``read_mcp_config``."""
        named = [McpServer.parse(text) for text in self.mcp]
        return named + (read_mcp_config(self.mcp_config) if self.mcp_config is not None else [])
