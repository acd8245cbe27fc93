"""Tables of seconds and counters per sample (the paper's table 5)."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median

from eval.report.finished_run import Cost, Run
from eval.report.table import NONE, Table, times

_MEGABYTE = 1e6
_AGAINST_GREEDY = ("forward_passes", "positions")
_TOKENS = ("forced_tokens", "constrained_tokens", "free_tokens")


def machine(run: Run) -> str:
    """Return the machine in words."""
    return ", ".join(f"{key} {value}" for key, value in run.machine.items())


def cost_tables(runs: Sequence[Run], greedy: Mapping[int, Run]) -> list[Table]:
    """Return the tables of latency and of counters for the runs of one benchmark.

    Parameters
    ----------
    greedy : mapping
        Index of a run -> the greedy run to compare it with, on the samples that both decoded.
    """
    bases = [greedy.get(number) for number in range(len(runs))]
    pairs = list(zip(runs, bases, strict=True))
    return [
        Table(
            "Latency",
            ("model", "method", "machine", "batch", "samples", "median s", "mean s", "÷ greedy"),
            tuple(_latency_row(run, base) for run, base in pairs),
            3,
            notes=(
                "Wall-clock seconds a sample. Samples decoded in one batch share its time, so the median is over "
                "shares. The ratio is of means, given only for the same machine and batch size.",
            ),
        ),
        Table(
            "Counters",
            (
                *("model", "method", "prompt", "passes", "positions", "passes ÷ greedy", "positions ÷ greedy"),
                *("forced", "constrained", "free", "cache MB"),
            ),
            tuple(_counter_row(run, base) for run, base in pairs),
            2,
            notes=(
                "Means a sample, which no machine changes: tokens of the prompt, forward passes, positions computed, "
                "tokens forced, constrained and free; and the largest KV cache of a sample.",
            ),
        ),
    ]


def _latency_row(run: Run, base: Run | None) -> tuple[str, ...]:
    seconds = [cost.seconds for cost in run.costs.values()]
    return (
        run.model,
        run.name,
        machine(run),
        str(run.settings.get("batch_size", NONE)),
        str(len(seconds)),
        f"{median(seconds):.3f}" if seconds else NONE,
        f"{fmean(seconds):.3f}" if seconds else NONE,
        _against(run, base, None) if _same_conditions(run, base) else NONE,
    )


def _counter_row(run: Run, base: Run | None) -> tuple[str, ...]:
    caches = _values(run, "cache_bytes")
    prompts = [cost.prompt_tokens for cost in run.costs.values() if cost.prompt_tokens]
    return (
        run.model,
        run.name,
        f"{fmean(prompts):,.1f}" if prompts else NONE,
        *(_mean(run, counter) for counter in _AGAINST_GREEDY),
        *(_against(run, base, counter) for counter in _AGAINST_GREEDY),
        *(_mean(run, counter) for counter in _TOKENS),
        f"{max(caches) / _MEGABYTE:,.1f}" if caches else NONE,
    )


def _same_conditions(run: Run, base: Run | None) -> bool:
    """Whether the seconds of two runs can be compared."""
    return base is not None and (run.machine, run.settings.get("batch_size")) == (
        base.machine,
        base.settings.get("batch_size"),
    )


def _against(run: Run, base: Run | None, counter: str | None) -> str:
    """Return a counter (or the seconds) divided by the greedy run's, on the samples that both decoded."""
    if base is None:
        return NONE
    common = run.costs.keys() & base.costs.keys()

    def total(costs: Mapping[str, Cost]) -> float:
        return sum((_counter(costs[i], counter) or 0) if counter else costs[i].seconds for i in common)

    return times(total(run.costs), total(base.costs))


def _counter(cost: Cost, name: str) -> float | None:
    value: float | None = getattr(cost.counters, name)
    return value


def _values(run: Run, counter: str) -> list[float]:
    return [value for cost in run.costs.values() if (value := _counter(cost, counter)) is not None]


def _mean(run: Run, counter: str) -> str:
    values = _values(run, counter)
    return f"{fmean(values):,.1f}" if values else NONE
