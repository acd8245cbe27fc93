"""The choice of a limit: its tests, budgets, and how many samples it needs."""

import math
from typing import Any

import pytest

from eval.errors import EvalError
from eval.tuning.choice import choose, demand_enough, p_of_loss, samples_needed
from eval.tuning.options import TuneOptions
from tooldecoding.errors import ConfigError


def hits(right: int, total: int) -> dict[str, bool]:
    """The first ones are right."""
    return {f"{n:04}": n < right for n in range(total)}


def wanted(**decision: Any) -> TuneOptions:
    return TuneOptions(benchmark="sgd", data="x", **decision)


SLOW = {1: 100.0, 4: 150.0, 12: 250.0}


@pytest.mark.parametrize(
    ("right", "costs", "decision", "limit", "best", "reason"),
    [
        ({1: 50, 4: 56, 12: 60}, SLOW, {}, 4, 12, "limit 4 is the smallest that is not"),  # four losses: 0.0625
        ({1: 50, 4: 55, 12: 60}, SLOW, {}, 12, 12, "limit 12 has the highest accuracy"),  # five: 0.031
        ({1: 56, 4: 57, 12: 60}, SLOW, {}, 1, 12, "limit 1 is the smallest"),
        ({1: 60, 4: 60, 12: 60}, SLOW, {}, 1, 1, "limit 1 has the highest accuracy"),
        ({1: 60, 4: 50, 12: 40}, SLOW, {}, 1, 1, "limit 1 has the highest accuracy"),
        ({1: 0, 4: 0}, SLOW, {}, 1, 1, "nothing is right at any limit, so "),
        ({1: 30, 4: 50, 12: 60}, SLOW, {}, 12, 12, "limit 12 has the highest accuracy"),
        ({1: 30, 4: 50, 12: 60}, SLOW, {"max_latency_ms": 200}, 4, 4, "order limits within 200 ms: 1, 4"),
        ({1: 30, 4: 50, 12: 60}, SLOW, {"max_latency_ms": 300}, 12, 12, "order limits within 300 ms: all of them"),
        ({1: 30, 4: 50}, {1: 1.0, 4: 1.5}, {"max_slowdown": 1.2}, 1, 1, "order limits within 1.2 times the latency"),
        ({1: 30, 4: 50}, {1: 120.0, 4: 100.0}, {"max_latency_ms": 90}, None, 4,
         "no limit keeps within 90 ms: the nearest is limit 4 with 100"),
    ],
)  # fmt: skip
def test_the_smallest_within_the_budget_that_is_not_worse(
    right: dict[int, int], costs: dict[int, float], decision: dict[str, Any], limit: int | None, best: int, reason: str
) -> None:
    found = choose({n: hits(count, 100) for n, count in right.items()}, costs, wanted(**decision))
    assert (found.limit, found.best) == (limit, best) and found.reasons[0].startswith(reason)
    if limit is not None:
        assert all(p <= 0.05 for n, p in found.p.items() if n < limit) and found.p[best] == 1


@pytest.mark.parametrize(("level", "margin"), [(0.01, 3), (0.05, 5), (0.2, 20)])
def test_samples_needed(level: float, margin: float) -> None:
    """So many samples can show a loss of the margin, fewer cannot."""
    decision = wanted(level=level, margin=margin)
    needed = samples_needed(decision)
    for total, shown in ((needed, True), (needed - 1, False)):
        lost = math.floor(total * margin / 100 + 1e-9)
        assert (p_of_loss(hits(total - lost, total), hits(total, total)) <= level) == shown
    demand_enough(needed, decision)
    with pytest.raises(EvalError, match=rf"{needed - 1} \(3 more cannot be decoded\), but {needed} are needed"):
        demand_enough(needed - 1, decision, lost=3)


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
