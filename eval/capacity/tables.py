"""The tables that ``bench capacity`` prints."""

from collections.abc import Sequence
from typing import Final

from eval.capacity.check import Check
from eval.capacity.cost import Cost
from eval.capacity.gpus import GpuName
from eval.capacity.plan import MIB, Ask, Costs, Replays
from eval.capacity.streams import STREAMS
from eval.capacity.trace import Trace
from eval.report.table import NONE, Table

_TRACES: Final = (
    "Means a call. Prompt tokens are counted in the tokenizer that is planned for. Passes and positions (behind the "
    "prompt, over all orders) and written tokens (forced or chosen) are the counters of the run"
)
_COSTS: Final = (
    "ms: milliseconds of the GPU and its process for one call in a full batch; shares of it: passes, prompt, host. A "
    "pass waits for what takes longest. Seconds: from the beginning of a call to its end. GPU hours: for a million "
    "calls at this load. A dash: the model and one call do not fit."
)
_CACHES: Final = (
    "reused: share of the prompts' positions that the cache saves. ÷ without: calls a second with the cache, "
    "divided by those without; the places that its memory takes from the batch are taken off. Needed: the share from "
    "which it pays."
)
_CHECK: Final = (
    "Predicted: the recorded passes, positions and written tokens of each call, times what each takes here. Passes are "
    "timed on tokens that mean nothing, the rest on every second sample; these are the other samples. Measured: they "
    "are decoded again, one at a time. Seconds of the processor."
)


def trace_table(traces: Sequence[Trace], about: str, factor: float) -> Table:
    """Return what the calls of each run took."""
    rows = tuple(
        (
            _short(trace.name),
            str(len(trace.calls)),
            *(f"{trace.mean(what):,.1f}" for what in ("prompt", "passes", "positions", "written")),
            f"{trace.longest:,.0f}",
        )
        for trace in traces
    )
    converted = (
        "." if factor == 1 else f", multiplied by {factor:.3f}, the tokens of the right calls in both tokenizers."
    )
    columns = ("run", "samples", "prompt\ntokens", "passes", "positions\nbehind", "written", "largest\nslots")
    return Table("What calls took", columns, rows, 1, notes=(about, _TRACES + converted))


def cost_tables(ask: Ask, traces: Sequence[Trace], costs: Costs) -> list[Table]:
    """Return what a call costs, a table for each GPU."""
    demand = ask.demand
    needed = f"GPUs for\n{demand.calls_per_day:,}\na day"
    columns = ("model", "run", "batch", "ms", "passes\n%", "prompt\n%", "host\n%", "waits for", "calls/s", "seconds",
               "GPU h", needed)  # fmt: skip
    note = (
        f"Busiest hour {demand.peak:g} times the mean of the day, {100 * demand.load:g} % of the rate used in it. "
        f"Assumed: {_assumed(ask)}."
    )
    return [
        Table(
            f"A call on {gpu}",
            columns,
            tuple(
                (shape, _short(trace.name), *_cost_cells(ask, costs[gpu, shape, number]))
                for shape in ask.shapes
                for number, trace in enumerate(traces)
            ),
            2,
            notes=(_COSTS, note),
        )
        for gpu in ask.gpus
    ]


def _cost_cells(ask: Ask, cost: Cost | None) -> tuple[str, ...]:
    if cost is None:
        return (NONE,) * 10
    parts = (cost.passes, cost.prompt, cost.host)
    return (
        str(cost.batch),
        f"{1000 * cost.seconds:,.1f}",
        *(f"{100 * part / cost.seconds:.0f}" for part in parts),
        cost.bound,
        f"{cost.rate:,.1f}",
        f"{cost.latency:,.2f}",
        f"{cost.seconds * 1e6 / 3600 / ask.demand.load:,.1f}",
        f"{ask.demand.gpus(cost):,}",
    )


def cache_tables(ask: Ask, trace: Trace, replays: Replays) -> list[Table]:
    """Return what a prefix cache saves and when it pays, a table for each GPU."""
    first = (ask.shapes[0], ask.cache_mb[0])
    counts = ", ".join(f"{name} {replays[name, *first].requests:,}" for name in STREAMS)
    about = f"Costs are those of {_short(trace.name)}. Requests: {counts} (zipf {ask.zipf:g}, seed {ask.seed})."
    columns = (
        "model",
        "stream",
        *(f"{size:,} MiB\n{what}" for size in ask.cache_mb for what in ("reused", "÷ without")),
    )
    return [
        Table(
            f"A prefix cache on {gpu}",
            columns,
            tuple(row for shape in ask.shapes for row in _cache_rows(ask, gpu, shape, trace, replays)),
            2,
            notes=(_CACHES, about),
        )
        for gpu in ask.gpus
    ]


def _cache_rows(ask: Ask, gpu: GpuName, shape: str, trace: Trace, replays: Replays) -> list[tuple[str, ...]]:
    machine = ask.machine(shape, gpu)
    worth = [machine.worth(trace, size * MIB) for size in ask.cache_mb]
    rows = [(shape, "needed", *(cell for share in worth for cell in (NONE if share is None else _percent(share), "")))]
    for name in STREAMS:
        cells: list[str] = []
        for size in ask.cache_mb:
            share = replays[name, shape, size].share
            gain = machine.gain(trace, size * MIB, share)
            cells += [_percent(share), NONE if gain is None else f"{gain:.2f}"]
        rows.append((shape, name, *cells))
    return rows


def check_table(check: Check) -> Table:
    """Return predicted beside measured seconds, and their ratios to the first run."""
    first = check.runs[0]
    rows = tuple(
        (
            _short(each.name),
            str(each.calls),
            f"{each.measured:.3f}",
            f"{each.predicted:.3f}",
            f"{100 * each.error:+.0f}",
            f"{each.measured / first.measured:.2f}",
            f"{each.predicted / first.predicted:.2f}",
        )
        for each in check.runs
    )
    columns = ("run", "calls", "measured\ns", "predicted\ns", "off by\n%", "ratio\nmeasured", "ratio\npredicted")
    found = (
        f"A pass takes {1000 * check.passes.fixed:.2f} ms and {1000 * check.passes.position:.3f} ms more for each "
        f"position; outside of passes a call takes {check.constraint.call_us:,.0f} µs and "
        f"{check.constraint.token_us:,.0f} µs more for each written token. In passes through tiny layers a layer takes "
        f"{check.host.layer_us:,.0f} µs, the rest of the pass {check.host.pass_us:,.0f} µs."
    )
    return Table("Predicted and measured on this machine", columns, rows, 1, notes=(_CHECK, found))


def _short(name: str) -> str:
    """Return a run's name without what all have."""
    return name.removeprefix("tool-decoding, ")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _assumed(ask: Ask) -> str:
    assumed = ask.assumed
    return (
        f"{assumed.compute_share:.0%} of the peak of arithmetic, {assumed.bandwidth_share:.0%} of the bandwidth and "
        f"{assumed.memory_share:.0%} of the memory of the data sheet; {assumed.layer_us:g} µs to launch a layer, "
        f"{assumed.pass_us:g} µs a pass, {assumed.call_us:g} µs a call and {assumed.token_us:g} µs a written token "
        f"on the host; at most {assumed.max_batch} calls together"
    )
