"""``tooldecoding bench capacity``."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field as Bounds

from eval.capacity.gpus import GpuName
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console, progress_bar
from tooldecoding.cli.extras import demand_extra
from tooldecoding.files.json_lines import json_line
from tooldecoding.options.given import Given
from tooldecoding.options.option import option, options_of
from tooldecoding.options.values import Count, CountOrNone, NotNegative, Positive

if TYPE_CHECKING:
    from eval.capacity.plan import Ask

ShapeName = Literal["llama-1b", "mistral-7b", "llama-7b", "llama-70b-4bit"]
"""The models in ``eval.capacity.sizes``."""
_DEFAULT_SHAPES: Final = ("llama-1b", "mistral-7b", "llama-70b-4bit")
_Part = Annotated[float, Bounds(gt=0, le=1)]
_Sizes = Annotated[tuple[Count, ...], Bounds(min_length=1)]
_CALLS: Final = 1_000_000


@dataclass(frozen=True, kw_only=True)
class BenchCapacityCommand:
    """Which runs are planned from, for which machines, under which assumptions."""

    runs: tuple[str, ...] = option(
        ..., "Folders of runs on the same samples.", metavar="RUN…", expected="folders", positional=True
    )
    data: str = option(..., "The benchmark's data, as eval got it.", metavar="DIR")
    tokenizer: str | None = option(
        None, "Folder or hub id of the tokenizer to count with.", metavar="DIR", default_text="that of the runs' model"
    )
    shapes: Annotated[tuple[ShapeName, ...], Bounds(min_length=1)] = option(
        _DEFAULT_SHAPES, "Models to plan for.", flag="--shape", commas=True
    )
    gpus: Annotated[tuple[GpuName, ...], Bounds(min_length=1)] = option(
        ("h100", "l4"), "GPUs to plan for.", flag="--gpu", commas=True
    )
    calls_per_day: Count = option(_CALLS, "Calls that are to be answered.")
    peak: Annotated[float, Bounds(ge=1, le=24)] = option(2.0, "Busiest hour, divided by the mean of the day.")
    load: _Part = option(0.7, "Share of the rate that the busiest hour may use.")
    max_batch: Count = option(32, "Most calls that are decoded together.")
    compute: _Part = option(0.4, "Share of the GPU's peak of arithmetic that can be had.")
    bandwidth: _Part = option(0.7, "Share of the GPU's memory bandwidth that can be had.")
    memory: _Part = option(0.9, "Share of the GPU's memory for weights, KV caches and the prefix cache.")
    layer_us: NotNegative = option(450.0, "Microseconds in which the host launches one layer.")
    pass_us: NotNegative = option(700.0, "Microseconds of the host for each pass beside its layers.")
    call_us: NotNegative = option(20_000.0, "Microseconds of the constraint for each call.")
    token_us: NotNegative = option(250.0, "Microseconds of the constraint for each written token.")
    cache_mb: _Sizes = option((1024, 4096, 16_384), "Sizes of the prefix cache, in MiB.", commas=True)
    requests: Count = option(500, "Most requests of each stream through the prefix cache.")
    zipf: Positive = option(1.0, "Exponent of the stream zipf.")
    seed: int = option(0, "Seed of the streams.")
    check: CountOrNone = option(0, "Decode so many samples again, and hold their seconds against the counters.")
    as_json: bool = option(False, "Print the figures as JSON instead of tables.", flag="--json")


def bench_capacity(given: Given) -> None:
    """Plan capacity from recorded runs: what a call costs on larger models, how many GPUs, when a prefix cache pays."""
    demand_extra("eval", "scipy")
    command = given.read(BenchCapacityCommand)
    from eval.capacity.as_json import check_to_json, plan_to_json
    from eval.capacity.check import check
    from eval.capacity.plan import all_costs, all_replays, replay_count
    from eval.capacity.tables import cache_tables, check_table, cost_tables, trace_table
    from eval.capacity.trace import read_trace
    from eval.capacity.workload import read_workload
    from eval.report.run_list import read_runs
    from eval.report.terminal import show

    ask = _ask(command)
    runs = read_runs(command.runs)
    workload = read_workload(runs, command.data, command.tokenizer)
    checked = check(runs, workload, command.check) if command.check else None
    tokens = workload.tokens
    traces = [read_trace(run, tokens) for run in runs]
    costs = all_costs(ask, traces)
    with progress_bar("prefix caches", replay_count(ask)) as advance:
        replays = all_replays(ask, workload, advance)
    cached = traces[len(traces) // 2]
    if command.as_json:
        figures = plan_to_json(ask, traces, costs, replays, cached) | {"token_factor": tokens.factor}
        print(json_line(figures | ({} if checked is None else {"check": check_to_json(checked)})))
        return
    about = f"{runs[0].benchmark}, {runs[0].model}; tokenizer {command.tokenizer or runs[0].model}."
    tables = [
        trace_table(traces, about, tokens.factor),
        *cost_tables(ask, traces, costs),
        *cache_tables(ask, cached, replays),
    ]
    show(output_console(), tables if checked is None else [*tables, check_table(checked)])


def _ask(command: BenchCapacityCommand) -> "Ask":
    from eval.capacity.cost import Assumptions, Demand
    from eval.capacity.plan import Ask

    return Ask(
        shapes=command.shapes,
        gpus=command.gpus,
        assumed=Assumptions(
            max_batch=command.max_batch,
            compute_share=command.compute,
            bandwidth_share=command.bandwidth,
            memory_share=command.memory,
            layer_us=command.layer_us,
            pass_us=command.pass_us,
            call_us=command.call_us,
            token_us=command.token_us,
        ),
        demand=Demand(calls_per_day=command.calls_per_day, peak=command.peak, load=command.load),
        cache_mb=command.cache_mb,
        requests=command.requests,
        zipf=command.zipf,
        seed=command.seed,
    )


BENCH_CAPACITY = Command("bench capacity", bench_capacity, options_of(BenchCapacityCommand))
