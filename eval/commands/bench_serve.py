"""``tooldecoding bench serve``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer
from pydantic import Field as Bounds

from eval.errors import EvalError
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console, progress_bar
from tooldecoding.cli.extras import demand_extra
from tooldecoding.files.json_lines import json_line
from tooldecoding.options.given import Given
from tooldecoding.options.model_options import MODEL_HELP
from tooldecoding.options.option import option, options_of
from tooldecoding.options.values import Count, Share

if TYPE_CHECKING:
    from eval.load.load import Load
    from eval.report.table import Table

_ROWS: Final = "requests.jsonl"
_TABLES: Final = "serve.md"


@dataclass(frozen=True, kw_only=True)
class BenchServeCommand:
    """How much load, and what it is compared with."""

    model: str = option("reference", MODEL_HELP)
    clients: Annotated[tuple[Count, ...], Bounds(min_length=1)] = option(
        (1, 8, 32), "Numbers of clients that send requests at once.", commas=True
    )
    requests: Count = option(1000, "Requests for each number of clients.")
    gone: Share = option(0.1, "Share of the requests whose client hangs up in the middle.")
    long: Share = option(0.1, "Share of the requests with a long dialogue and all tools.")
    seed: int = option(0, "Seed of the requests.")
    max_batch: Count = option(32, "Most requests that are decoded together.")
    against: Literal["transformers"] | None = option(
        None, "Run the same prompts without a constraint, too.", default_text="nothing to compare with"
    )
    out: str | None = option(
        None,
        f"Folder for the answers ({_ROWS}) and the tables ({_TABLES}).",
        metavar="DIR",
        default_text="nothing is kept",
    )


def bench_serve(given: Given) -> None:
    """Put load on a server of its own: lost and mixed-up answers, throughput, waiting times, memory."""
    demand_extra("serve", "fastapi", "uvicorn", "prometheus_client")
    command = given.read(BenchServeCommand)
    folder = None if command.out is None else _folder(command.out)
    from eval.report.terminal import show

    loads: list[Load] = []
    tables: list[Table] = []
    interrupted = False
    try:
        for tables in _measured(command, loads):
            if folder is not None:
                _write(folder, loads, tables)
    except KeyboardInterrupt:
        interrupted = True
    show(output_console(), tables)
    if interrupted:
        output_console(stderr=True).print("interrupted: only this was finished")
        raise typer.Exit(130)


def _measured(command: BenchServeCommand, loads: "list[Load]") -> "Iterator[list[Table]]":
    """Yield the tables so far, again and again; fills ``loads``."""
    from eval.load.gaps import ROUNDS, measure_gaps
    from eval.load.load import run_load
    from eval.load.peer import run_peer
    from eval.load.requests import draw_requests
    from eval.load.server_process import server_command, serving
    from eval.load.tables import gap_table, rate_table, request_tables

    requests = draw_requests(command.model, command.requests, command.gone, command.long, command.seed)
    tables: list[Table] = []
    for clients in (0, *command.clients):
        alone = loads[0] if loads else None
        with progress_bar(_word(clients), len(requests)) as advance:
            loads.append(run_load(command.model, requests, clients, command.max_batch, alone, advance))
        tables = [*request_tables(loads, _about(command)), rate_table(loads, None)]
        yield tables
    if command.against:
        with progress_bar(command.against, loads[0].endings["answered"]) as advance:
            peer = run_peer(command.model, requests, loads[0].answers, command.max_batch, advance)
        tables[-1] = rate_table(loads, peer)
        yield tables
    start = server_command(command.model, command.max_batch, command.max_batch)
    with serving(start) as server, progress_bar("between pieces", ROUNDS) as advance:
        tables.append(gap_table(measure_gaps(server.port, command.model, command.seed, advance)))
    yield tables


def _about(command: BenchServeCommand) -> str:
    import torch

    from eval.bench.machine import describe_machine, machine_line

    machine = describe_machine(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    return (
        f"{command.requests:,} requests (seed {command.seed}) to {Path(command.model).name}, {100 * command.gone:g} % "
        f"hung up, {100 * command.long:g} % long; at most {command.max_batch} together; {machine_line(machine)}."
    )


def _word(clients: int) -> str:
    return f"clients: {clients}" if clients else "one after the other"


def _folder(name: str) -> Path:
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvalError(f"{folder}: cannot be written: {error.strerror}") from None
    return folder


def _write(folder: Path, loads: "Sequence[Load]", tables: "Sequence[Table]") -> None:
    from eval.report.table import markdown
    from tooldecoding.files.manifest import write_whole

    try:
        write_whole(folder / _ROWS, "".join(json_line(row) + "\n" for load in loads for row in load.rows()).encode())
        write_whole(folder / _TABLES, "\n".join(map(markdown, tables)).encode())
    except OSError as error:
        raise EvalError(f"{folder}: cannot be written: {error.strerror}") from None


BENCH_SERVE = Command("bench serve", bench_serve, options_of(BenchServeCommand))
