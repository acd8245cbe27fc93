"""``tooldecoding bench served``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from eval.bench.options import Numbers
from eval.commands.eval import BenchmarkCommand
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import going_on, output_console, stderr_line
from tooldecoding.cli.extras import demand_extra
from tooldecoding.options.option import Count, CountOrNone, option, options_of
from tooldecoding.options.parsed_arguments import ParsedArguments

_METHODS: Final = ("own", "one-order", "four-orders")


@dataclass(frozen=True, kw_only=True)
class BenchServedCommand(BenchmarkCommand):
    """Which server is measured, with what."""

    url: str = option(..., "API of the server, such as http://127.0.0.1:8000/v1.", metavar="URL")
    engine: str | None = option(
        None, "Where the metrics of the engine are.", metavar="URL", default_text="--url without its path"
    )
    model: str = option(..., "Name of the model at the server.")
    method: tuple[Literal["own", "own-strict", "one-order", "four-orders"], ...] = option(
        _METHODS, "The server's own tool calling, or tooldecoding's; may be repeated."
    )
    in_flight: Numbers = option((1, 8, 32), "Requests in flight.", commas=True)
    tool_choice: Literal["required", "auto"] = option("required", "The requests' tool_choice.")
    limit: CountOrNone = option(100, "Samples, drawn with --seed; 0 for all.")
    seed: int = option(0, "Seed of the samples.")
    timeout: Count = option(600, "Seconds that an answer is waited for.")
    out: str = option("runs/served.jsonl", "File of rows; the same command goes on in it.", metavar="FILE")


def bench_served(given: ParsedArguments) -> None:
    """Measure a server's own tool calling beside tooldecoding's, in front of it or in it: right calls and seconds."""
    demand_extra("eval", "scipy", "pandas")
    from eval.bench.served import ServedTrial, run_served, served_table
    from eval.report.table import show
    from eval.runs.run import draw

    command = given.merge(BenchServedCommand, {})
    benchmark, categories = command.find()
    samples = draw(benchmark.load(command.data, categories), command.limit or None, command.seed)
    engine = command.engine or command.url.rstrip("/").removesuffix("/v1")
    trial = ServedTrial(command.url, engine, command.model, benchmark, command.tool_choice, command.timeout)
    with going_on(command.out):
        rows = run_served(trial, samples, command.method, command.in_flight, Path(command.out), stderr_line)
    title = f"{benchmark.name}, {len(samples):,} samples (seed {command.seed}), tool_choice {command.tool_choice}"
    show(output_console(), [served_table(rows, f"{title}, {command.model}")])


BENCH_SERVED = Command("bench served", bench_served, options_of(BenchServedCommand))
