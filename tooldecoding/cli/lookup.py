"""``tooldecoding lookup``."""

from dataclasses import dataclass

from lookup import DocumentationError, extract
from lookup.duplicates import OnDuplicate
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console
from tooldecoding.cli.inputs import read_input
from tooldecoding.cli.lookup_tables import print_unread, show_lookup
from tooldecoding.files.json_lines import json_line
from tooldecoding.options.given import Given
from tooldecoding.options.option import option, options_of


@dataclass(frozen=True, kw_only=True)
class LookupCommand:
    """Everything that ``tooldecoding lookup`` can be told."""

    docs: str = option(..., "File with tool documentation; - reads standard input.", metavar="DOCS", positional=True)
    as_json: bool = option(False, "Print JSON instead of tables.", flag="--json")
    explain: bool = option(
        False, "Show where each tool stands, which rule decided for each key, and what is not enforced."
    )
    on_duplicate: OnDuplicate = option("error", "What happens to two tools of one name.")


def lookup(given: Given) -> None:
    """Show what the documentation says of each tool: keys, types, required or optional, enums, defaults."""
    command = given.read(LookupCommand)
    text, origin = read_input(command.docs, DocumentationError)
    dictionary = extract(text, origin=origin, on_duplicate=command.on_duplicate)
    if command.as_json:
        print(json_line(dictionary.to_json(command.explain)))
    else:
        show_lookup(output_console(), dictionary, command.explain)
    if not command.explain:
        print_unread(dictionary)


LOOKUP = Command("lookup", lookup, options_of(LookupCommand))
