"""Adaptive stopping in the decoder: same call, no more positions; and what is reported with it."""

import io
import itertools
import math
import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from rich.console import Console

from synthetic import decode, likes, synthetic
from tooldecoding.cli.results import show_result
from tooldecoding.result import DecodeResult
from tooldecoding.testing import ScriptedEngine, SyntheticEngine
from tools import PROMPTS, WEATHER, lookup
from voting import Stopping, orders_needed

TOOLS = lookup(WEATHER)
LITERALS = {
    "city": ("'Rome'", "'Paris'", "'Oslo'"),
    "days": ("3", "33", "4"),
    "unit": ("'celsius'", "'fahrenheit'", "'celsius'"),
    "price": ("1.5", "1", "1.0"),
    "tags": ("['a']", "['a', 'b']", "[]"),
    "hourly": ("True", "False", "True"),
}


def hesitant(seed: int, doubt: float) -> Callable[[str], str]:
    """A model that writes another value, or an optional key, with this probability, by what it has written before."""

    def continuation(written: str) -> str:
        if "GetWeather(" not in written:
            return "[GetWeather("
        *before, call = re.split(r"(?:\(|, )(?=\w+=)", written[written.index("GetWeather(") :])
        key, given = call.split("=", 1) if before else ("", "")
        behind = random.Random(f"{seed} {before} {key}")
        other = behind.random() < doubt
        literal = LITERALS[key][behind.randint(1, 2) if other else 0] if key else ""
        optional = [k for k in ("tags", "hourly") if f"{k}=" not in written]
        end = f", {optional[0]}=" if optional and behind.random() < doubt else ")]"
        return (literal + end)[len(given) :] if (literal + end).startswith(given) else end

    return continuation


def decode_weather(engine: SyntheticEngine, **fields: Any) -> DecodeResult:
    return decode(engine, PROMPTS[0], TOOLS, **{"max_value_tokens": 9, "draft_tokens": 0} | fields)


def engines() -> Iterator[Callable[[], SyntheticEngine]]:
    texts = synthetic().table.texts
    for seed, doubt in itertools.product(range(2), (0.0, 0.1, 0.4, 0.8)):
        yield partial(ScriptedEngine, texts, hesitant(seed, doubt), bool(seed % 2))
    for seed, liked in enumerate((b"", b"'\"\\", b"0123456789-.", b",=")):
        yield partial(likes, liked, seed)


def decided(result: DecodeResult) -> list[tuple[str, bool]]:
    return [(repr(c.voted.arguments), c.voted.valid) for c in result.calls]


def fewest(full: DecodeResult, stopping: Stopping, level: float, share: float) -> int:
    """How many orders settle the first vote if no order is begun before all earlier ones are finished."""
    [call, *_] = full.calls
    count, total = 0, len(call.candidates)
    while more := orders_needed(call.candidates[:count], TOOLS[call.voted.name], total, stopping, level, share):
        count += more
    return count


@pytest.mark.parametrize("fields", [{"max_calls": 2}, {"value_constraint": "free", "max_calls": 1}], ids=str)
def test_exact_stopping_changes_nothing_but_the_cost(fields: dict[str, Any]) -> None:
    used: set[int] = set()
    for number, new_engine in enumerate(engines()):
        fields = fields | {"format": "pythonic", "optional_share": (0.5, 0.2)[number % 2]}
        fields["order_limit"] = (12, 6, 5, 12)[number // 4 % 4]
        every = decode_weather(new_engine(), **fields)
        exact = decode_weather(new_engine(), **fields, stopping="exact")
        laxer = decode_weather(new_engine(), **fields, stopping="posterior", stopping_level=0.1)
        assert exact.text == every.text and decided(exact) == decided(every)
        for early, full in ((exact, every), (laxer, every)):
            for one, other in zip(early.calls[:1], full.calls, strict=False):
                assert one.candidates == other.candidates[: len(one.candidates)]
                assert one.orders_possible == len(other.candidates)
        share = fields["optional_share"]
        assert len(exact.calls[0].candidates) == fewest(every, "exact", 0.05, share)
        assert len(laxer.calls[0].candidates) == fewest(every, "posterior", 0.1, share)
        assert len(laxer.calls[0].candidates) <= len(exact.calls[0].candidates)
        for cost in ("positions", "forced_tokens", "constrained_tokens", "free_tokens"):
            spent, of = getattr(exact.counters, cost), getattr(every.counters, cost)
            assert spent <= of
            if all(len(c.candidates) == c.orders_possible for c in exact.calls):
                assert spent == of  # what orders share is computed once, also by orders of different rounds
                assert exact.counters.forward_passes >= every.counters.forward_passes
        used.add(len(exact.calls[0].candidates))
    assert len(used) > 4  # the vote was settled early and late


@pytest.mark.parametrize(
    ("fields", "orders"),
    [
        ({"stopping": "none"}, 12),
        ({"stopping": "exact"}, 7),
        ({"stopping": "posterior"}, 4),
        ({"stopping": "posterior", "stopping_level": 0.0}, 7),
        ({"stopping": "exact", "optional_share": 0.2}, 10),  # to be sure that no optional key comes in
        ({"stopping": "exact", "order_limit": 1}, 1),
        ({"stopping": "exact", "orders": "aggregated"}, 2),
    ],
)
def test_orders_of_a_sure_model(fields: dict[str, Any], orders: int) -> None:
    sure = ScriptedEngine(synthetic().table.texts, hesitant(0, 0.0))
    result = decode_weather(sure, format="pythonic", **fields)
    assert result.text == "[GetWeather(city='Rome', days=3, unit='celsius', price=1.5)]"
    assert len(result.calls[0].candidates) == orders
    if orders in (4, 7, 10):  # the others are not begun
        every = decode_weather(ScriptedEngine(synthetic().table.texts, hesitant(0, 0.0)), format="pythonic")
        assert result.counters.free_tokens < every.counters.free_tokens


def test_orders_that_turn_out_to_be_needed_begin_beside_the_others() -> None:
    passes = {"none": 0, "exact": 0}
    for new_engine in list(engines())[::2]:
        for stopping in passes:
            result = decode_weather(new_engine(), max_calls=1, order_limit=12, stopping=stopping)
            passes[stopping] += result.counters.forward_passes
    assert passes["exact"] < 1.3 * passes["none"]  # round after round it would be twice as many


def test_confidence_in_what_is_printed() -> None:
    """A model whose first key depends on its place."""

    def continuation(written: str) -> str:
        return hesitant(0, 0.0)(written).replace("Rome", "Oslo" if "(city" in written else "Rome")

    def doubtful(**fields: Any) -> Any:
        engine = ScriptedEngine(synthetic().table.texts, continuation)
        result = decode_weather(engine, format="pythonic", order_limit=24, **fields)
        console = Console(file=io.StringIO(), width=120)
        show_result(console, "x", result, show_orders=False)
        return result.to_json("1")["calls"][0], console.file.getvalue()  # type: ignore[attr-defined]

    call, shown = doubtful()
    assert (call["orders_used"], call["orders_possible"]) == (24, 24)
    assert [p["share"] for p in call["parameters"]] == [0.75, 1.0, 1.0, 1.0]
    for p in call["parameters"]:
        assert p["confidence"] == pytest.approx(p["share"] * math.exp(p["logprob"])) and "needs_confirmation" not in p
    assert "confirmation" not in shown and "of 24" not in shown

    least = min(p["confidence"] for p in call["parameters"][1:])
    call, shown = doubtful(min_confidence=least, stopping="exact")
    doubted = [p["confidence"] < least for p in call["parameters"]]
    assert [p["needs_confirmation"] for p in call["parameters"]] == doubted and doubted[0]
    assert 12 < call["orders_used"] < 24 == call["orders_possible"]
    lines = [line for line in shown.splitlines() if "confirmation" in line]
    assert len(lines) == 1 and "city" in lines[0]
    assert f"{call['orders_used']} candidates of 24 orders" in shown
