"""``tooldecoding lookup``."""

from dataclasses import dataclass

from lookup import DocumentationError, extract
from lookup.duplicates import OnDuplicate
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console
from tooldecoding.cli.inputs import read_input
from tooldecoding.cli.lookup_tables import print_unread, show_lookup
from tooldecoding.cli.mcp import mcp_documentation
from tooldecoding.errors import ConfigError
from tooldecoding.files.json_lines import json_line
from tooldecoding.options.given import Given
from tooldecoding.options.mcp_options import McpOptions
from tooldecoding.options.option import option, options_of


@dataclass(frozen=True, kw_only=True)
class LookupCommand(McpOptions):
    """Everything that ``tooldecoding lookup`` can be told."""

    docs: str | None = option(
        None, "File with tool documentation; - reads standard input.", metavar="DOCS", positional=True
    )
    as_json: bool = option(False, "Print JSON instead of tables.", flag="--json")
    explain: bool = option(
        False, "Show where each tool stands, which rule decided for each key, and what is not enforced."
    )
    on_duplicate: OnDuplicate = option("error", "What happens to two tools of one name.")


def lookup(given: Given) -> None:
    """Show what the documentation says of each tool: keys, types, required or optional, enums, defaults."""
    command = given.read(LookupCommand)
    if (command.docs is None) == (not command.servers):
        raise ConfigError("give either DOCS, a file with tool documentation, or --mcp or --mcp-config")
    if command.docs is None:
        dictionary = extract(mcp_documentation(command), origin="MCP", on_duplicate=command.on_duplicate)
    else:
        text, origin = read_input(command.docs, DocumentationError)
        dictionary = extract(text, origin=origin, on_duplicate=command.on_duplicate)
    if command.as_json:
        print(json_line(dictionary.to_json(command.explain)))
    else:
        show_lookup(output_console(), dictionary, command.explain)
    if not command.explain:
        print_unread(dictionary)


LOOKUP = Command("lookup", lookup, options_of(LookupCommand))
