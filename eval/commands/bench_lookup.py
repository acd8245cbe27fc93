"""``tooldecoding bench lookup``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field as Bounds
from rich.console import Console

from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console, progress_bar, table
from tooldecoding.files.json_lines import json_line
from tooldecoding.options.given import Given
from tooldecoding.options.option import option, options_of
from tooldecoding.options.values import Count

if TYPE_CHECKING:
    from eval.bench.documentation.speed import Reading


@dataclass(frozen=True, kw_only=True)
class BenchLookupCommand:
    """How the reading of documentation is timed."""

    repeats: Count = option(5, "Runs of each text; the best counts.")
    megabytes: Annotated[float, Bounds(ge=0.01, le=60)] = option(1, "Largest text.")
    as_json: bool = option(False, "Print one JSON object a text.", flag="--json")


def bench_lookup(given: Given) -> None:
    """Time the reading of documentation: 128 tools in each form, and how the time grows with the text."""
    from eval.bench.documentation.speed import growing, read_forms, read_growing

    command = given.read(BenchLookupCommand)
    texts = growing()
    with progress_bar("reading", len(texts) + 1) as advance:
        forms = list(read_forms(command.repeats))
        advance(1)
        grown = []
        for name, text in texts.items():
            grown.append(read_growing(name, text, command.megabytes, min(command.repeats, 2)))
            advance(1)
    if command.as_json:
        for reading in [*forms, *(reading for row in grown for reading in row)]:
            print(json_line(reading.to_json()))
    else:
        _show_readings(output_console(), forms, grown)


def _show_readings(console: Console, forms: "Sequence[Reading]", grown: "Sequence[Sequence[Reading]]") -> None:
    """Print milliseconds for each form, and for each long text seconds and their growth."""
    from eval.bench.documentation.speed import TOOLS, machine

    console.print(f"{machine()}; processor time, best of several runs")
    console.print(f"\n{TOOLS} tools in a prompt")
    rows = [(r.name, f"{r.characters:,}", f"{1e3 * r.seconds:.1f}", r.outcome) for r in forms]
    console.print(table(("form", "characters", "milliseconds", "read"), rows))
    console.print("\nLong texts, each twice as long as the one before; linear time doubles")
    shares = [f"s at 1/{2**step}" for step in range(len(grown[0]) - 1, 0, -1)]
    console.print(table(("text", "largest, MB", *shares, "s", "growth", "read"), [_growth(r) for r in grown]))


def _growth(readings: "Sequence[Reading]") -> list[str]:
    """Return the row of one text, read in several lengths."""
    *_, half, whole = readings
    return [
        whole.name,
        f"{whole.characters / 1e6:.1f}",
        *(f"{r.seconds:.2f}" for r in readings),
        f"{whole.seconds / max(half.seconds, 1e-9):.1f}x",
        whole.outcome[:60],
    ]


BENCH_LOOKUP = Command("bench lookup", bench_lookup, options_of(BenchLookupCommand))
