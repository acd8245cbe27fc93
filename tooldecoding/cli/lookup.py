"""``tooldecoding lookup``, and what the command line prints of a lookup dictionary."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lookup import DocumentationError, extract
from lookup.dictionary import MISSING, LookupDictionary, ParameterSpec, ToolSpec
from lookup.extract import OnDuplicate
from lookup.source import Source
from tooldecoding.chat.templates import chosen_format, misfits
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console, read_input, shown, stderr_line, table
from tooldecoding.cli.mcp import mcp_documentation
from tooldecoding.errors import ConfigError
from tooldecoding.files.json_lines import json_line
from tooldecoding.formats.known_formats import CALL_FORMATS, unreadable
from tooldecoding.options.decode_command import DecodeCommand, McpOptions, Template
from tooldecoding.options.option import option, options_of
from tooldecoding.options.parsed_arguments import ParsedArguments

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_REQUIRED: Final = {True: "yes", False: "no", None: "?"}
_NAMED_TOOLS: Final = 5
"""Most tools or keys that a note names."""

_UNENFORCED: Final = "not enforced while decoding, only checked"
"""What stands before a limit of a tool's values that only finished values are checked for."""


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


def lookup(given: ParsedArguments) -> None:
    """Show what the documentation says of each tool: keys, types, required or optional, enums, defaults."""
    command = given.read(LookupCommand)
    if (command.docs is None) == (not command.mcp and command.mcp_config is None):
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


def show_lookup(console: Console, lookup: LookupDictionary, explain: bool = False) -> None:
    """Print a table for each tool; ``explain`` adds its place, the rules that decided, and what was not taken."""
    for number, tool in enumerate(lookup.tools):
        if number:
            console.print()
        console.print(Text(shown(tool.name), style="bold"))
        if tool.documented_name:
            console.print(
                Text(shown(f"documented as {tool.documented_name}, which another tool is called"), style="yellow")
            )
        if explain and tool.source:
            console.print(Text(shown(_place(tool.source))))
        if tool.description:
            console.print(Text(shown(tool.description), style="dim"))
        console.print(_tool_table(tool, explain) if tool.parameters else Text("no parameters"))
        for note in tool.notes if explain else ():
            console.print(Text(shown(f"note: {note}"), style="yellow"))
        for limit in tool.unenforced if explain else ():
            console.print(Text(shown(f"{_UNENFORCED}: {limit}"), style="yellow"), soft_wrap=True)
    if explain:
        console.print()
        console.print(f"looks like a tool and was not taken: {len(lookup.unread) or 'nothing'}")
        for entry in lookup.unread:
            console.print(Text(shown(f"  {entry}"), style="yellow"))


def print_unread(lookup: LookupDictionary) -> None:
    """Print one line to standard error for each text that looks like a tool and was not taken, and one for notes."""
    for entry in lookup.unread:
        stderr_line(f"note: {shown(str(entry))}")
    if noted := _listed(tool.name for tool in lookup.tools if tool.notes):
        stderr_line(f"note: not all that is documented was taken over for {noted}; see lookup --explain")


def print_unenforced(lookup: LookupDictionary) -> None:
    """Print one line to standard error that names the tools whose documentation is not enforced as a whole."""
    if noted := _listed(tool.name for tool in lookup.tools if tool.unenforced):
        said = f"not all that is documented is enforced while decoding, but checked after, for {noted}"
        stderr_line(f"note: {said}; see lookup --explain")


def print_misfits(
    template: Template, command: DecodeCommand, tokenizer: "PreTrainedTokenizerBase", tools: LookupDictionary
) -> None:
    """Print a line to standard error for what does not fit the template, and for what calls cannot carry of tools."""
    for misfit in misfits(template, command, tokenizer):
        stderr_line(f"warning: {misfit}")
    name = chosen_format(command, template, tokenizer)
    if names := _listed(unreadable(CALL_FORMATS[name], tools) if len(tools) else (), "; "):
        said = f"the format {name} cannot carry {names}; such calls are written and marked invalid"
        stderr_line(f"warning: {said}")


def _listed(names: Iterable[str], between: str = ", ") -> str:
    """The first names; no more are looked for than are shown."""
    first = [*itertools.islice(names, _NAMED_TOOLS + 1)]
    return shown(between.join(first[:_NAMED_TOOLS]) + (f"{between}…" if len(first) > _NAMED_TOOLS else ""))


def _place(source: Source) -> str:
    place = f"{source.origin}:{source.span}" if source.span else str(source)
    return f"{place}, {source.form}"


def _tool_table(tool: ToolSpec, explain: bool) -> Table:
    columns = ["key", "type", "raw type", "required", "enum", "default", "description"]
    if explain:
        columns.insert(4, "decided by")
    return table(columns, [row for p in tool.parameters for row in _key_rows(p, p.name, explain)])


def _key_rows(spec: ParameterSpec, name: str, explain: bool) -> Iterator[list[str]]:
    """The row of a key, then those of the keys of its object, as ``outer.inner``, or ``outer[].inner`` in a list."""
    yield [
        name,
        str(spec.type) + " or null" * spec.type.nullable,
        spec.raw_type,
        _REQUIRED[spec.required],
        *([spec.rule] if explain else []),
        "" if spec.enum is None else ", ".join(map(repr, spec.enum)),
        "" if spec.default is MISSING else repr(spec.default),
        spec.description,
    ]
    inner, path = spec.type, name
    while inner.items and inner.properties is None:
        inner, path = inner.items, f"{path}[]"
    for child in inner.properties or ():
        yield from _key_rows(child, f"{path}.{child.name}", explain)


LOOKUP = Command("lookup", lookup, options_of(LookupCommand))
