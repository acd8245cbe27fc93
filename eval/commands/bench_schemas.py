"""``tooldecoding bench schemas``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console, progress_bar
from tooldecoding.cli.extras import demand_extra
from tooldecoding.files.json_lines import json_line
from tooldecoding.options.given import Given
from tooldecoding.options.option import option, options_of
from tooldecoding.options.values import CountOrNone, Positive

if TYPE_CHECKING:
    from eval.schemas.engines import Engine
    from tooldecoding.tokens.token_table import TokenTable

PeerName = Literal["llguidance", "xgrammar", "outlines"]
"""The libraries in ``eval.schemas.engines``."""


@dataclass(frozen=True, kw_only=True)
class BenchSchemasCommand:
    """Which schemas are measured, with what."""

    data: str = option(..., "Checkout of the repository guidance-ai/jsonschemabench.", metavar="DIR")
    limit: CountOrNone = option(300, "Schemas, drawn with --seed; 0 for all.")
    seed: int = option(0, "Seed of the draw.")
    tokenizer: str = option("reference", "Folder or hub id of the tokenizer.")
    peers: tuple[PeerName, ...] | None = option(
        None,
        "Libraries to measure beside; empty for none.",
        metavar="NAME,…",
        commas=True,
        default_text="llguidance, xgrammar and outlines, if they are installed",
    )
    calls: CountOrNone = option(
        0,
        "Judge calls instead, which a model with random weights makes of each schema in so many orders.",
        metavar="ORDERS",
        default_text="instances are judged",
    )
    time_limit: Positive = option(60.0, "Seconds for one schema; what takes longer is stopped and counts as refused.")
    out: str | None = option(
        None, "File of rows as JSON lines; the same command goes on in it.", metavar="FILE", default_text="none is kept"
    )
    as_json: bool = option(False, "Print the figures as JSON instead of tables.", flag="--json")


def bench_schemas(given: Given) -> None:
    """Measure grammars of JSON Schemas on MaskBench: verdicts on instances, and times, beside other libraries."""
    demand_extra("eval", "scipy")
    command = given.read(BenchSchemasCommand)
    if command.calls:
        demand_extra("bench", "jsonschema")
    import torch

    from eval.bench.machine import describe_machine
    from eval.runs.run import draw
    from eval.schemas.calls import CALLS, run_calls
    from eval.schemas.engines import chosen
    from eval.schemas.rows import find_files, row_file
    from eval.schemas.run import row_id, run
    from tooldecoding.models.loading import load_tokenizer
    from tooldecoding.tokens.token_table import TokenTable

    engines = {} if command.calls else chosen(command.peers)
    every = find_files(command.data)
    files = draw(every, command.limit or None, command.seed)
    table = TokenTable(load_tokenizer(command.tokenizer))
    machine = describe_machine(torch.device("cpu"))
    settings = {"tokenizer": command.tokenizer, "time_limit": command.time_limit, "cpu": machine["cpu"]}
    if command.calls:
        settings["calls"] = command.calls
    interrupted = False
    with row_file(command.out, settings, {"machine": machine}) as rows:
        try:
            with progress_bar("measuring", len(files)) as advance:
                if command.calls:
                    run_calls(files, command.calls, command.tokenizer, command.time_limit, rows, advance)
                else:
                    run(files, engines, command.tokenizer, table, command.time_limit, rows, advance)
        except KeyboardInterrupt:
            interrupted = True
        wanted = [row_id(label, path) for path in files for label in engines or [CALLS]]
        found = [rows.by_id[identifier] for identifier in wanted if identifier in rows.by_id]
    _show(command, engines, found, table, machine, len(every))
    if interrupted:
        goes_on = f"; the same command goes on behind what stands in {command.out}" if command.out else ""
        output_console(stderr=True).print(f"interrupted: only these rows were finished{goes_on}")
        raise typer.Exit(130)


def _show(
    command: BenchSchemasCommand,
    engines: "Mapping[str, type[Engine]]",
    rows: Sequence[Mapping[str, Any]],
    table: "TokenTable",
    machine: Mapping[str, Any],
    drawn_from: int,
) -> None:
    from eval.bench.machine import machine_line
    from eval.report.terminal import show
    from eval.schemas.tables import by_split, call_figures, call_tables, engine_figures, engine_tables

    schemas = len({row["id"].partition("/")[2] for row in rows})
    tokenizer = {"name": Path(command.tokenizer).name, "vocabulary": len(table.texts)}
    sample = {"schemas": schemas, "drawn_from": drawn_from, "seed": command.seed}
    calls = by_split(rows, call_figures) if command.calls else {}
    found = {label: by_split([row for row in rows if row["engine"] == label], engine_figures) for label in engines}
    if command.as_json:
        figures = calls or {"engines": found}
        print(json_line({"machine": machine, "tokenizer": tokenizer, "sample": sample, **figures}))
        return
    about = (
        f"{schemas:,} of {drawn_from:,} schemas (seed {command.seed}); tokenizer {tokenizer['name']}, "
        f"{tokenizer['vocabulary']:,} tokens; {command.time_limit:g} s a schema at most; {machine_line(dict(machine))}."
    )
    show(output_console(), call_tables(calls, about) if command.calls else engine_tables(found, about))


BENCH_SCHEMAS = Command("bench schemas", bench_schemas, options_of(BenchSchemasCommand))
