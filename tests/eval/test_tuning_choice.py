"""The choice of a limit: its tests, budgets, and how many samples it needs."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.errors import EvalError
from eval.metrics.accuracy import Accuracy
from eval.metrics.significance import mcnemar
from eval.tuning.choice import choose, p_of_loss
from eval.tuning.decision import Decision
from eval.tuning.limit_list import read_limits
from eval.tuning.reasons import limit_reasons
from eval.tuning.shorter_documentation import DetailRow, choose_detail
from tooldecoding.options.decode_options import Detail


def hits(right: int, total: int) -> dict[str, bool]:
    """The first ones are right."""
    return {f"{n:04}": n < right for n in range(total)}


def alone(total: int) -> dict[str, str]:
    return {f"{n:04}": f"{n:04}" for n in range(total)}


def choice(right: dict[int, int], total: int, latency: dict[int, float] | None = None, **decision: float):  # type: ignore[no-untyped-def]
    latency = latency or dict.fromkeys(right, 1.0)
    slowdown = {n: ms / latency[min(latency)] for n, ms in latency.items()}
    every = {n: hits(count, total) for n, count in right.items()}
    return choose(every, alone(total), latency, slowdown, Decision(**decision), True, 0)  # type: ignore[arg-type]


def test_the_smallest_that_is_not_worse() -> None:
    assert choice({1: 50, 4: 56, 12: 60}, 100).limit == 4  # four losses: 0.0625
    assert choice({1: 50, 4: 55, 12: 60}, 100).limit == 12  # five: 0.031
    assert choice({1: 56, 4: 57, 12: 60}, 100).limit == 1
    same = choice({1: 60, 4: 60, 12: 60}, 100)
    assert (same.limit, same.best) == (1, 1)
    nothing = choice({1: 0, 4: 0}, 100)
    assert nothing.limit == 1
    assert limit_reasons(nothing, Decision(), True)[0].startswith("nothing is right at any limit, so ")
    found = choice({1: 60, 4: 50, 12: 40}, 100)
    assert (found.limit, found.best) == (1, 1)
    assert found.p[12] < 0.05


def test_budgets() -> None:
    right, latency = {1: 30, 4: 50, 12: 60}, {1: 100.0, 4: 150.0, 12: 250.0}
    assert choice(right, 100, latency).limit == 12
    assert choice(right, 100, latency, max_latency_ms=200).limit == 4
    assert choice(right, 100, latency, max_slowdown=1.2).limit == 1
    assert choice(right, 100, latency, max_slowdown=2.5).limit == 12
    assert choice(right, 100, latency, min_gain=15).limit == 4
    assert choice(right, 100, latency, min_gain=10).limit == 12
    assert choice(right, 100, latency, min_gain=31).limit == 1


def test_no_limit_fits_the_budget() -> None:
    found = choice({1: 30, 4: 50}, 100, {1: 120.0, 4: 100.0}, max_latency_ms=90)
    assert (found.limit, found.best) == (None, 4)
    reasons = limit_reasons(found, Decision(max_latency_ms=90), True)
    assert reasons == ["no limit keeps within 90 ms: the nearest is limit 4 with 100"]


def test_without_answers() -> None:
    def agreement(disagreeing: dict[int, int], total: int) -> int | None:
        every = {n: hits(total - count, total) for n, count in disagreeing.items()}
        once = dict.fromkeys(disagreeing, 1.0)
        return choose(every, alone(total), once, once, Decision(), False, 0).limit

    assert agreement({1: 20, 4: 1, 12: 0}, 100) == 4
    assert agreement({1: 20, 4: 4, 12: 0}, 100) == 12
    assert agreement({1: 4, 12: 0}, 1000) == 1
    assert agreement({1: 0, 12: 0}, 59) == 1
    assert agreement({1: 0, 12: 0}, 58) == 12  # too few to show agreement


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_a_loss_is_half_of_the_two_sided_test(pairs: list[tuple[bool, bool]]) -> None:
    limit = {str(n): a for n, (a, _) in enumerate(pairs)}
    best = {str(n): b for n, (_, b) in enumerate(pairs)}
    one = p_of_loss(limit, best, dict.fromkeys(limit, "d"), "mcnemar", 0)
    both = mcnemar(limit, best)
    if both.lost > both.won:
        assert 2 * one == pytest.approx(both.p)
    else:
        assert one > 0.5 - 1e-9


def test_bootstrap_resamples_dialogues() -> None:
    limit, best = hits(0, 6), hits(6, 6)
    assert p_of_loss(limit, best, alone(6), "bootstrap", 0) == 0
    half = {i: n % 2 == 0 for n, i in enumerate(limit)}
    other = {i: not v for i, v in half.items()}
    assert p_of_loss(half, other, dict.fromkeys(limit, "one"), "bootstrap", 0) == 1.0  # gains and losses cancel
    assert 0.4 < p_of_loss(half, other, alone(6), "bootstrap", 0) < 0.8
    single = {**hits(40, 40), "0000": False}
    expected = (1 - 1 / 40) ** 40  # the lost dialogue is in no resample
    assert p_of_loss(single, hits(40, 40), alone(40), "bootstrap", 0) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("rule", ["mcnemar", "bootstrap"])
@pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("margin", [3, 5, 20])
def test_samples_needed(rule: str, level: float, margin: float) -> None:
    """So many samples can show a loss of the margin, fewer cannot."""
    decision = Decision(rule, level, margin)
    needed = decision.samples_needed
    for total, shown in ((needed, True), (needed - 1, False)):
        lost = math.floor(total * margin / 100 + 1e-9)
        p = 0.5**lost if rule == "mcnemar" else math.exp(-lost)
        assert (p <= level) == shown
    decision.demand_enough(needed, True)
    with pytest.raises(EvalError, match=f"{needed - 1}, but {needed} are needed"):
        decision.demand_enough(needed - 1, True)


def test_samples_needed_by_hand() -> None:
    assert Decision().samples_needed == 100
    assert Decision("bootstrap").samples_needed == 60
    assert Decision().prompts_needed == 59
    assert Decision(margin=100).prompts_needed == 1


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        ({"level": 0.0}, "--level: expected a number between 0 and 0.5, got 0.0"),
        ({"level": math.nan}, "--level"),
        ({"margin": 0}, "--margin: expected points above 0"),
        ({"margin": 101}, "--margin"),
        ({"max_latency_ms": 0}, "--max-latency-ms: expected a number above 0, got 0"),
        ({"max_slowdown": math.nan}, "--max-slowdown"),
        ({"min_gain": -1}, "--min-gain"),
        ({"max_slowdown": 2, "min_gain": 1}, "one budget, got --max-slowdown and --min-gain"),
    ],
)
def test_bad_decisions(decision: dict[str, float], said: str) -> None:
    with pytest.raises(EvalError, match=said):
        Decision(**decision)  # type: ignore[arg-type]


def test_limits() -> None:
    assert read_limits("12, 1,4") == (1, 4, 12)
    assert read_limits("3") == (3,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "found an empty one in ''"),
        ("1,,2", "found an empty one"),
        (" ", "found an empty one"),
        ("1,2,1", "1 stands twice"),
        ("4,04", "4 stands twice"),
        ("0,1", "found '0'"),
        ("-1", "found '-1'"),
        ("1.5", "found '1.5'"),
        ("²", "found '²'"),
        ("9" * 5000, "from 1 to 10000"),
    ],
)
def test_bad_limits(text: str, said: str) -> None:
    with pytest.raises(EvalError, match=said):
        read_limits(text)


def test_the_shortest_documentation_that_is_no_worse() -> None:
    def chosen(*p: float | None) -> str:
        details: tuple[Detail, ...] = ("full", "signatures", "names")
        rows = [DetailRow(d, Accuracy(1, 2), each, 9.0) for d, each in zip(details, p, strict=True)]
        return choose_detail(rows, 0.05)

    assert chosen(None, 0.5, 0.2) == "names"
    assert chosen(None, 0.5, 0.05) == "signatures"
    assert chosen(None, 0.01, 0.2) == "names"
    assert chosen(None, 0.01, 0.02) == "full"
