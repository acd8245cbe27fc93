"""``tooldecoding bench serve``."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from pydantic import Field as Bounds

from eval.errors import EvalError
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console, progress_bar
from tooldecoding.cli.extras import demand_extra
from tooldecoding.options.given import Given
from tooldecoding.options.model_options import MODEL_HELP
from tooldecoding.options.option import option, options_of
from tooldecoding.options.values import Count, Share

if TYPE_CHECKING:
    from eval.load import Load
    from eval.report.table import Table

_ROWS: Final = "requests.jsonl"
_TABLES: Final = "serve.md"
_MOST: Final = 5
_COLUMNS: Final = (
    "clients", "an-\nswered", "hung\nup", "lost", "re-\nfused", "mixed\nup", "answers\na second", "ratio", "whole\np50",
    "p95", "first\np50", "p95", "MiB", "left",
)  # fmt: skip
_NOTE: Final = (
    "Lost: no answer, or a stream that was cut. Refused: the server said that something is wrong. Mixed up: answered "
    "otherwise than one after the other. Ratio: answers a second to those one after the other; requests that were hung "
    "up count as none. Seconds: of whole answers, and to the first piece of streams. MiB: largest resident memory of "
    "the server. Left: gauges of /metrics that are not 0 at the end. Each row has a fresh server."
)


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
    out: str | None = option(
        None,
        f"Folder for the answers ({_ROWS}) and the tables ({_TABLES}).",
        metavar="DIR",
        default_text="nothing is kept",
    )


def bench_serve(given: Given) -> None:
    """Put load on a server of its own: lost and mixed-up answers, throughput, waiting times, memory."""
    demand_extra("serve", "fastapi", "uvicorn", "prometheus_client")
    demand_extra("bench", "openai", "httpx")
    command = given.read(BenchServeCommand)
    folder = None if command.out is None else _folder(command.out)
    from eval.load import Load, draw_requests, json_rows, run_load
    from eval.report.table import markdown
    from eval.report.terminal import show

    requests = draw_requests(command.model, command.requests, command.gone, command.long, command.seed)
    loads: list[Load] = []
    interrupted = False
    try:
        for clients in (0, *command.clients):
            word = f"clients: {clients}" if clients else "one after the other"
            with progress_bar(word, len(requests)) as advance:
                alone = loads[0] if loads else None
                loads.append(run_load(command.model, requests, clients, command.max_batch, alone, advance))
            if folder is not None:
                _write(folder, json_rows(loads), markdown(_table(loads, command)))
    except KeyboardInterrupt:
        interrupted = True
    if loads:
        show(output_console(), [_table(loads, command)])
    if interrupted:
        output_console(stderr=True).print("interrupted: only this was finished")
        raise typer.Exit(130)


def _table(loads: "Sequence[Load]", command: BenchServeCommand) -> "Table":
    """Return what came of the requests. The first load is one after the other."""
    from eval.report.table import Table, times

    rows = []
    for load in loads:
        ends = load.endings
        counts = (ends["answered"], ends["hung up"], ends["lost"], ends["refused"], len(load.mixed_up))
        seconds = (load.quantile(0.5, "seconds"), load.quantile(0.95, "seconds"))
        first = (load.quantile(0.5, "first"), load.quantile(0.95, "first"))
        rows.append(
            (
                str(load.clients or "one after the other"),
                *(f"{count:,}" for count in counts),
                f"{load.per_second:.2f}",
                times(load.per_second, loads[0].per_second),
                *("-" if value is None else f"{value:.2f}" for value in (*seconds, *first)),
                "-" if load.peak is None else f"{load.peak / 2**20:,.0f}",
                ", ".join(f"{name} {value:,.0f}" for name, value in load.left.items()) or "0",
            )
        )
    reasons = Counter(answer.reason for load in loads for answer in load.answers if answer.reason).most_common(_MOST)
    notes = (_about(command), _NOTE, *(f"{count:,} times: {reason}" for reason, count in reasons))
    return Table("Requests", _COLUMNS, tuple(rows), 1, notes=notes)


def _about(command: BenchServeCommand) -> str:
    import torch

    from eval.bench.machine import describe_machine, machine_line

    machine = describe_machine(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    return (
        f"{command.requests:,} requests (seed {command.seed}) to {Path(command.model).name}, {100 * command.gone:g} % "
        f"hung up, {100 * command.long:g} % long; at most {command.max_batch} together; {machine_line(machine)}."
    )


def _folder(name: str) -> Path:
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvalError(f"{folder}: cannot be written: {error.strerror}") from None
    return folder


def _write(folder: Path, rows: str, table: str) -> None:
    from tooldecoding.files.manifest import write_whole

    try:
        write_whole(folder / _ROWS, rows.encode())
        write_whole(folder / _TABLES, table.encode())
    except OSError as error:
        raise EvalError(f"{folder}: cannot be written: {error.strerror}") from None


BENCH_SERVE = Command("bench serve", bench_serve, options_of(BenchServeCommand))
