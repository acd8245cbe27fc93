"""What the command line prints for people: the lookup dictionary, a decoded call, what it cost."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from lookup.dictionary import MISSING, LookupDictionary, ParameterSpec, ToolSpec
from lookup.source import Source

if TYPE_CHECKING:
    from eval.bench.documentation.speed import Reading
    from tooldecoding.calls.decoded_call import DecodedCall
    from tooldecoding.formats.call_format import CallFormat
    from tooldecoding.result import Counters, DecodeResult

REQUIRED = {True: "yes", False: "no", None: "?"}
PROMPT_LINES = 4
PROMPT_CHARACTERS = 400
PLAIN_WIDTH = 120
NAMED_TOOLS = 5


def progress_columns(word: str) -> tuple[ProgressColumn, ...]:
    """What a progress bar shows: word, bar, how many of how many, time so far and time left."""
    return TextColumn(word), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()


def output_console(stderr: bool = False) -> Console:
    """A console that wraps at the terminal's width, at 120 columns where there is no terminal."""
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console = Console(stderr=stderr, highlight=False, markup=False, emoji=False, width=PLAIN_WIDTH)
    return console


def shown(text: str) -> str:
    """The text with control characters escaped: what documentation and models write must not steer a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def show_lookup(console: Console, lookup: LookupDictionary, explain: bool = False) -> None:
    """One table for each tool; ``explain`` adds where it stands, what decided, and what was not taken."""
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
    if explain:
        console.print()
        console.print(f"looks like a tool and was not taken: {len(lookup.unread) or 'nothing'}")
        for entry in lookup.unread:
            console.print(Text(shown(f"  {entry}"), style="yellow"))


def print_unread(lookup: LookupDictionary) -> None:
    """On standard error, one line for all notes and for each text that looks like a tool and was not taken."""
    for entry in lookup.unread:
        print(f"note: {shown(str(entry))}", file=sys.stderr)
    if noted := [tool.name for tool in lookup.tools if tool.notes]:
        names = ", ".join(noted[:NAMED_TOOLS]) + (", …" if len(noted) > NAMED_TOOLS else "")
        print(
            f"note: not all that is documented was taken over for {shown(names)}; see lookup --explain", file=sys.stderr
        )


def print_uncarried(form: "CallFormat", tools: LookupDictionary) -> None:
    """On standard error, one line that names the tools and keys with which a call cannot be read in a format."""
    from tooldecoding.formats.known_formats import unreadable

    if names := unreadable(form, tools):
        listed = "; ".join(names[:NAMED_TOOLS]) + ("; …" if len(names) > NAMED_TOOLS else "")
        print(
            f"warning: the format {form.name} cannot carry {shown(listed)}; such calls are written and marked invalid",
            file=sys.stderr,
        )


def _place(source: Source) -> str:
    place = f"{source.origin}:{source.span}" if source.span else str(source)
    return f"{place}, {source.form}"


def _tool_table(tool: ToolSpec, explain: bool) -> Table:
    columns = [
        "key",
        "type",
        "raw type",
        "required",
        *(["decided by"] if explain else []),
        "enum",
        "default",
        "description",
    ]
    return _table(columns, [row for p in tool.parameters for row in _key_rows(p, p.name, explain)])


def _key_rows(spec: ParameterSpec, name: str, explain: bool) -> Iterator[list[str]]:
    """The row of a key, then those of the keys of its object, as ``outer.inner``, or ``outer[].inner`` in a list."""
    written = f"{spec.type} or null" if spec.type.nullable else str(spec.type)
    yield [
        name,
        written,
        spec.raw_type,
        REQUIRED[spec.required],
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


def show_result(console: Console, prompt: str, result: "DecodeResult", show_orders: bool) -> None:
    """The end of the prompt, the text written behind it, a table for each call, and the counters."""
    lines = [_end_of(line) for line in shown(prompt).split("\n")[-PROMPT_LINES:]]
    console.print(Text("\n".join(lines), style="dim") + Text(shown(result.text), style="bold green"))
    for call in result.calls:
        console.print()
        if show_orders:
            _show_candidates(console, call)
        show_call(console, call)
    for error in result.errors:
        console.print(Text(shown(f"invalid: {error}" if not result.valid else f"note: {error}"), style="red"))
    console.print()
    console.print(_counters_table(result.counters))


def _end_of(line: str) -> str:
    return line if len(line) <= PROMPT_CHARACTERS else "…" + line[-PROMPT_CHARACTERS:]


def _show_candidates(console: Console, call: "DecodedCall") -> None:
    console.print(f"{shown(call.voted.name)}: a candidate call for each order of the required keys")
    rows = [(str(n), " → ".join(c.order), c.text) for n, c in enumerate(call.candidates, start=1)]
    console.print(_table(("", "order", "candidate call"), rows))


def show_call(console: Console, call: "DecodedCall") -> None:
    """The vote, parameter by parameter."""
    voted = call.voted
    if not voted.parameters:
        console.print(Text(shown(f"{voted.name}: a call without parameters")))
        return
    over = _count(voted.candidates, "candidate")
    if voted.candidates < call.orders_possible:
        over += f" of {call.orders_possible} orders"
    console.print(Text(shown(f"{voted.name}: the vote over {over}")))
    columns = ["parameter", "value", "votes", "share", "log-probability"]
    rows = [
        [p.key, repr(p.value), f"{p.votes}/{voted.candidates}", f"{p.share:.0%}", f"{p.logprob:.3f}"]
        for p in voted.parameters
    ]
    if call.min_confidence is not None:
        columns.append("confidence")
        for row, confidence, unsure in zip(rows, call.confidences, call.needs_confirmation, strict=True):
            row.append(f"{confidence:.3f}" + ", needs confirmation" * unsure)
    console.print(_table(columns, rows))


def show_readings(console: Console, forms: Sequence["Reading"], grown: Sequence[Sequence["Reading"]]) -> None:
    """What ``bench lookup`` measured: milliseconds for each form, seconds and their growth for each long text."""
    from eval.bench.documentation.speed import TOOLS, machine

    console.print(f"{machine()}; processor time, best of several runs")
    console.print(f"\n{TOOLS} tools in a prompt")
    rows = [(r.name, f"{r.characters:,}", f"{1e3 * r.seconds:.1f}", r.outcome) for r in forms]
    console.print(_table(("form", "characters", "milliseconds", "read"), rows))
    console.print("\nLong texts, each twice as long as the one before; linear time doubles")
    console.print(
        _table(
            (
                "text",
                "largest, MB",
                *(f"s at 1/{2**step}" for step in range(len(grown[0]) - 1, 0, -1)),
                "s",
                "growth",
                "read",
            ),
            [
                (
                    readings[-1].name,
                    f"{readings[-1].characters / 1e6:.1f}",
                    *(f"{r.seconds:.2f}" for r in readings),
                    f"{readings[-1].seconds / max(readings[-2].seconds, 1e-9):.1f}x",
                    readings[-1].outcome[:60],
                )
                for readings in grown
            ],
        )
    )


def _counters_table(counters: "Counters") -> Table:
    cells = (
        f"{counters.forward_passes:,}",
        f"{counters.positions:,}",
        f"{counters.reused_positions:,}",
        f"{counters.forced_tokens:,}",
        f"{counters.constrained_tokens:,}",
        f"{counters.free_tokens:,}",
        f"{counters.cache_bytes:,}",
        f"{counters.seconds:.2f}",
    )
    names = ("forward passes", "positions", "reused", "forced", "constrained", "free tokens", "cache bytes", "seconds")
    return _table(names, [cells])


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    table = Table(show_edge=True, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    return table


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
