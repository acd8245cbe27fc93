"""The options of ``tooldecoding decode``, and of all commands that take tools from MCP servers."""

from dataclasses import dataclass
from typing import Final, Literal

from lookup.extract import OnDuplicate
from tooldecoding.agents.servers import MCP_TIMEOUT, McpServer, read_mcp_config
from tooldecoding.errors import ConfigError
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options.decode_options import AUTO, PROMPT_CACHE_MB
from tooldecoding.options.model_options import RayOptions
from tooldecoding.options.option import CountOrNone, Positive, option
from tooldecoding.options.parsed_arguments import ParsedArguments, check_given, read_config


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


Template = Literal["auto", "raw", "api-bank", "bfcl", "chat"]
"""How a prompt is made; ``tooldecoding.chat.templates`` says what ``auto`` takes."""

INPUTS: Final = ("prompt", "messages", "dialogue", "batch")
"""Options of which exactly one must be given."""


@dataclass(frozen=True)
class DecodeCommand(McpOptions, RayOptions):
    """Everything that ``tooldecoding decode`` can be told."""

    tools: str | None = option(None, "File with tool documentation.", metavar="DOCS")
    prompt: str | None = option(None, "The prompt; - reads stdin.", metavar="TEXT")
    messages: str | None = option(
        None, "Messages in OpenAI's shape, for the chat template; - reads stdin.", metavar="FILE.json"
    )
    dialogue: str | None = option(None, "Dialogue; - reads stdin.", metavar="FILE.jsonl")
    batch: str | None = option(
        None, "Rows of prompts: .jsonl, .csv (also .gz), .parquet, hub:OWNER/NAME:SPLIT; - reads stdin.", metavar="ROWS"
    )
    out: str | None = option(None, "Append batch results here; resumes.", metavar="OUT.jsonl")
    retry_failed: bool = option(False, "Decode failed rows of --out again.", only="command line")
    template: Template = option("auto", "How the prompt is made; auto shows the documentation to the model.")
    format: str = option(
        AUTO,
        "How calls are written.",
        choices=(AUTO, *CALL_FORMATS),
        default_text="that of the chat template; without one api-bank, or pythonic with the template bfcl",
    )
    on_duplicate: OnDuplicate = option("error", "What happens to two tools of one name.")
    prompt_cache_mb: CountOrNone = option(PROMPT_CACHE_MB, "MiB for KV caches of former prompts; 0 for none.")
    json: bool = option(False, "Print one JSON object a prompt.")
    show_orders: bool = option(False, "Print every candidate call.")
    show_greedy: bool = option(False, "Print what the model writes by itself behind the same prompt, too.")


def read_decode_command(given: ParsedArguments) -> DecodeCommand:
    """Merge the options of one decode: command line over file over defaults.

    ConfigError as ``ParsedArguments.merge``, and for anything but one of ``INPUTS``.
    """
    command_line, from_file = check_given(given.values, DecodeCommand), read_config(given.config, DecodeCommand)
    if any(key in command_line for key in INPUTS):
        from_file = {key: value for key, value in from_file.items() if key not in INPUTS}
    values = from_file | command_line
    inputs = [f"--{key}" for key in INPUTS if values.get(key) is not None]
    if len(inputs) != 1:
        found = " and ".join(inputs) or "none of them"
        raise ConfigError(f"expected exactly one of --prompt, --messages, --dialogue and --batch, got {found}")
    if values.get("batch") is None:
        if values.get("out") is not None:
            raise ConfigError("--out takes the results of a --batch; a single result goes to standard output")
        if values.get("ray") is not None:
            raise ConfigError("--ray spreads the rows of a --batch over a cluster; a single prompt needs none")
    elif values.get("show_greedy"):
        raise ConfigError("--show-greedy is for a single prompt, not for a --batch; leave it out")
    if values.get("retry_failed") and values.get("out") is None:
        raise ConfigError("--retry-failed takes failed rows from the results in --out; name the file")
    if [values.get(key) for key in ("tools", *INPUTS)].count("-") > 1:
        raise ConfigError("standard input can be read once: - stands for two inputs")
    return DecodeCommand(**values)
