"""``tooldecoding bench``."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from eval.bench.options import BenchOptions
from eval.errors import EvalError
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console, progress_bar
from tooldecoding.cli.extras import demand_extra
from tooldecoding.files.json_lines import json_line
from tooldecoding.options.given import Given
from tooldecoding.options.option import options_of

if TYPE_CHECKING:
    from eval.bench.measurements import Record
    from eval.bench.store import Store


def bench(given: Given) -> None:
    """Measure Tool Decoding against other methods that write the same call, or what a sub-command measures."""
    if given.subcommand is not None:
        for option in options_of(BenchOptions):
            if option.name in given.values:
                raise EvalError(f"{option.written} belongs to bench alone, not to bench {given.subcommand}")
        return
    demand_extra("eval", "scipy")
    from eval.bench.runner import BenchRunner
    from eval.bench.store import Store

    options = given.read(BenchOptions)
    store = Store(Path(options.out))
    record = BenchRunner(options, store, progress_bar).run()
    _show(record, store, options.as_json)
    if record.state == "interrupted":
        raise typer.Exit(130)


def _show(record: "Record", store: "Store", as_json: bool) -> None:
    from eval.bench.cell_tables import tables
    from eval.report.terminal import show

    found = tables(record)
    files = [str(store.path)] if record.cells else []
    if as_json:
        print(json_line(record.to_json()))
    else:
        show(output_console(), found)
    notes = output_console(stderr=True)
    for name in record.skipped:
        notes.print(f"not measured: {name}")
    if record.state == "interrupted":
        notes.print(f"interrupted: {'no round was' if not found else 'only these rounds were'} finished")
    if files:
        notes.print(f"written: {', '.join(files)}")


BENCH = Command("bench", bench, options_of(BenchOptions))
