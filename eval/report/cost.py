"""Seconds and counters a sample (paper's table 5)."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median

from eval.report.finished_run import COUNTERS, Cost, Run
from eval.report.table import NONE, Table, times

_MEGABYTE = 1e6
_AGAINST_GREEDY = ("forward_passes", "positions")


def machine(run: Run) -> str:
    """The machine in words."""
    return ", ".join(f"{key} {value}" for key, value in run.machine.items())


def cost_tables(runs: Sequence[Run], greedy: Mapping[int, Run]) -> list[Table]:
    """Latency and counters of runs of one benchmark.

    Parameters
    ----------
    greedy : mapping
        Index of a run -> the greedy run that it is compared with, on the samples that both decoded.
    """
    bases = [greedy.get(i) for i in range(len(runs))]
    names = [(r.model, r.name) for r in runs]
    latency = tuple(
        (
            *name,
            machine(run),
            str(run.settings.get("batch_size", NONE)),
            str(len(run.costs)),
            f"{median(seconds):.3f}" if (seconds := [c.seconds for c in run.costs.values()]) else NONE,
            f"{fmean(seconds):.3f}" if seconds else NONE,
            _against(run, base, None) if _alike(run, base) else NONE,
        )
        for name, run, base in zip(names, runs, bases, strict=True)
    )
    counters = tuple(
        (
            *name,
            *(_mean(run, c) for c in _AGAINST_GREEDY),
            *(_against(run, base, c) for c in _AGAINST_GREEDY),
            *(_mean(run, c) for c in COUNTERS if c not in (*_AGAINST_GREEDY, "cache_bytes")),
            _largest_cache(run),
        )
        for name, run, base in zip(names, runs, bases, strict=True)
    )
    return [
        Table(
            "Latency",
            ("model", "method", "machine", "batch", "samples", "median s", "mean s", "÷ greedy"),
            latency,
            3,
            notes=(
                "Wall-clock seconds a sample. Samples decoded in one batch share its time, so the median is over "
                "shares. The ratio is of means, given only for the same machine and batch size.",
            ),
        ),
        Table(
            "Counters",
            (
                *("model", "method", "passes", "positions", "passes ÷ greedy", "positions ÷ greedy"),
                *("forced", "constrained", "free", "cache MB"),
            ),
            counters,
            2,
            notes=(
                "Means a sample, which no machine changes: forward passes, positions computed, tokens forced, "
                "constrained and free; and the largest KV cache of a sample.",
            ),
        ),
    ]


def _alike(run: Run, base: Run | None) -> bool:
    """Whether seconds can be compared."""
    return base is not None and (run.machine, run.settings.get("batch_size")) == (
        base.machine,
        base.settings.get("batch_size"),
    )


def _against(run: Run, base: Run | None, counter: str | None) -> str:
    """A counter, or the seconds, over the greedy run's, on the samples that both decoded."""
    if base is None:
        return NONE

    def total(costs: Mapping[str, Cost]) -> float:
        return sum(cost.counters.get(counter, 0) if counter else cost.seconds for cost in (costs[i] for i in common))

    common = run.costs.keys() & base.costs.keys()
    return times(total(run.costs), total(base.costs))


def _mean(run: Run, counter: str) -> str:
    values = [c.counters[counter] for c in run.costs.values() if counter in c.counters]
    return f"{fmean(values):,.1f}" if values else NONE


def _largest_cache(run: Run) -> str:
    sizes = [c.counters["cache_bytes"] for c in run.costs.values() if "cache_bytes" in c.counters]
    return f"{max(sizes) / _MEGABYTE:,.1f}" if sizes else NONE
