"""The choice of a limit: its tests, budgets, and how many samples it needs."""

import math
from typing import Any

import pytest

from eval.errors import EvalError
from eval.tuning.choice import Choice, choose, demand_enough, p_of_loss, samples_needed
from eval.tuning.options import TuneOptions
from tooldecoding.errors import ConfigError


def hits(right: int, total: int) -> dict[str, bool]:
    """The first ones are right."""
    return {f"{n:04}": n < right for n in range(total)}


def wanted(**decision: Any) -> TuneOptions:
    return TuneOptions(benchmark="sgd", data="x", **decision)


def choice(right: dict[int, int], total: int, costs: dict[int, float] | None = None, **decision: float) -> Choice:
    every = {n: hits(count, total) for n, count in right.items()}
    return choose(every, costs or dict.fromkeys(right, 1.0), wanted(**decision))


def test_the_smallest_that_is_not_worse() -> None:
    assert choice({1: 50, 4: 56, 12: 60}, 100).limit == 4  # four losses: 0.0625
    assert choice({1: 50, 4: 55, 12: 60}, 100).limit == 12  # five: 0.031
    assert choice({1: 56, 4: 57, 12: 60}, 100).limit == 1
    same = choice({1: 60, 4: 60, 12: 60}, 100)
    assert (same.limit, same.best) == (1, 1)
    nothing = choice({1: 0, 4: 0}, 100)
    assert nothing.limit == 1
    assert nothing.reasons[0].startswith("nothing is right at any limit, so ")
    found = choice({1: 60, 4: 50, 12: 40}, 100)
    assert (found.limit, found.best) == (1, 1) and found.p[12] < 0.05


def test_budgets() -> None:
    right, latency = {1: 30, 4: 50, 12: 60}, {1: 100.0, 4: 150.0, 12: 250.0}
    assert choice(right, 100, latency).limit == 12
    assert choice(right, 100, latency, max_latency_ms=200).limit == 4
    assert choice(right, 100, {1: 1.0, 4: 1.5, 12: 2.5}, max_slowdown=1.2).limit == 1
    assert choice(right, 100, latency, max_latency_ms=200).reasons[0] == "order limits within 200 ms: 1, 4"


def test_no_limit_fits_the_budget() -> None:
    found = choice({1: 30, 4: 50}, 100, {1: 120.0, 4: 100.0}, max_latency_ms=90)
    said = ["no limit keeps within 90 ms: the nearest is limit 4 with 100"]
    assert (found.limit, found.best, found.reasons) == (None, 4, said)


@pytest.mark.parametrize(("level", "margin"), [(0.01, 3), (0.05, 5), (0.2, 20)])
def test_samples_needed(level: float, margin: float) -> None:
    """So many samples can show a loss of the margin, fewer cannot."""
    decision = wanted(level=level, margin=margin)
    needed = samples_needed(decision)
    for total, shown in ((needed, True), (needed - 1, False)):
        lost = math.floor(total * margin / 100 + 1e-9)
        assert (p_of_loss(hits(total - lost, total), hits(total, total)) <= level) == shown
    demand_enough(needed, decision)
    with pytest.raises(EvalError, match=f"{needed - 1}, but {needed} are needed"):
        demand_enough(needed - 1, decision)


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        ({"level": 0.0}, "level: expected a number between 0 and 0.5, got 0.0"),
        ({"max_slowdown": 2.0, "max_latency_ms": 1.0}, "one budget, got --max-latency-ms and --max-slowdown"),
        ({"limits": (0, 1)}, "limits"),
    ],
)
def test_bad_decisions(decision: dict[str, Any], said: str) -> None:
    with pytest.raises((EvalError, ConfigError), match=said):
        wanted(**decision)
