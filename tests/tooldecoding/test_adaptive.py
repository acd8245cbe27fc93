"""Adaptive stopping in the decoder: same call, no more positions, nothing left open; and what is reported with it."""

import io
import json
import math
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from command_line import CASES, Ran
from lookup.dictionary import LookupDictionary
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.cli.results import show_result
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.options import DecodeOptions
from tooldecoding.result import DecodeResult
from tooldecoding.testing import RandomEngine, ScriptedEngine, SyntheticDecoder, SyntheticEngine
from tools import PROMPTS, WEATHER, lookup, parameter, tool
from voting import Stopping, orders_needed

TOKENIZER = byte_level_tokenizer()
DECODER = SyntheticDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER)
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


class Watched:
    """An engine that knows which branches are open."""

    def __init__(self, engine: SyntheticEngine) -> None:
        self.open_branches: set[int] = set()
        for name in ("open", "fork", "release"):
            setattr(engine, name, self._watch(getattr(engine, name), name))
        self.engine = engine

    def _watch(self, function: Any, name: str) -> Any:
        def watched(argument: int) -> Any:
            answer = function(argument)
            if name == "release":
                self.open_branches.remove(argument)
            else:
                self.open_branches.update(answer if name == "open" else [answer])
            return answer

        return watched


def decode(engine: SyntheticEngine, tools: LookupDictionary = TOOLS, **fields: Any) -> DecodeResult:
    watched = Watched(engine)
    DECODER.engine = engine
    [result] = DECODER.run(
        [Request(PROMPTS[0], tools, DecodeOptions(**{"max_value_tokens": 9, "draft_tokens": 0} | fields))]
    )
    assert not watched.open_branches
    return result


def engines() -> Iterator[Callable[[], SyntheticEngine]]:
    texts = DECODER.table.texts
    for seed in range(3):
        for doubt in (0.0, 0.1, 0.4, 0.8):
            yield lambda seed=seed, doubt=doubt: ScriptedEngine(texts, hesitant(seed, doubt), bool(seed % 2))  # type: ignore[misc]
    biases: tuple[bytes, ...] = (b"", b"'\"\\", b")]}", b"0123456789-.", b"[{(", b",=")
    for seed, chars in enumerate(biases):
        yield lambda seed=seed, chars=chars: RandomEngine(  # type: ignore[misc]
            texts, seed, lambda t: 5.0 * any(c in t for c in chars)
        )


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
        every = decode(new_engine(), **fields)
        exact = decode(new_engine(), **fields, stopping="exact")
        laxer = decode(new_engine(), **fields, stopping="posterior", stopping_level=0.1)
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
    assert len(used) > 6  # the vote was settled early and late


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
    sure = ScriptedEngine(DECODER.table.texts, hesitant(0, 0.0))
    result = decode(sure, format="pythonic", **fields)
    assert result.text == "[GetWeather(city='Rome', days=3, unit='celsius', price=1.5)]"
    assert len(result.calls[0].candidates) == orders


def test_a_long_prompt_is_computed_once_for_all_rounds() -> None:
    def positions(stopping: str) -> int:
        engine = RandomEngine(DECODER.table.texts, 3)
        DECODER.engine = engine
        options = DecodeOptions(stopping=stopping, max_value_tokens=9, draft_tokens=0)  # type: ignore[arg-type]
        [result] = DECODER.run([Request("go on, please. " * 40, TOOLS, options)])
        assert len(result.calls[0].candidates) == 12
        return result.counters.positions

    assert positions("exact") == positions("none")


RULES: list[dict[str, Any]] = [
    {"stopping": "exact"},
    {"stopping": "posterior", "stopping_level": 0.3},
    {"stopping": "posterior", "stopping_level": 0.5, "optional_share": 0.2},
]


def candidates(result: DecodeResult) -> list[list[tuple[Any, ...]]]:
    return [[(c.order, c.text, c.token_ids) for c in call.candidates] for call in result.calls]


def test_orders_that_turn_out_to_be_needed_begin_beside_the_others() -> None:
    passes = {"none": 0, "exact": 0}
    for new_engine in engines():
        for stopping in passes:
            result = decode(new_engine(), max_calls=1, order_limit=12, draft_tokens=0, stopping=stopping)
            passes[stopping] += result.counters.forward_passes
    assert passes["exact"] < 1.3 * passes["none"]  # round after round it would be twice as many


@pytest.mark.parametrize("shape", ["llama", "mistral_windowed", "bloom"])
def test_packed_is_batched_with_every_rule(shape: str) -> None:
    model = tiny_model(shape, len(TOKENIZER))
    strategies = ("batched",) if shape == "bloom" else ("batched", "packed")
    decoders = [ToolDecoder(model, TOKENIZER, strategy=s, prompt_cache_mb=0) for s in strategies]  # type: ignore[arg-type]
    fields: dict[str, Any] = {"tools": TOOLS, "max_value_tokens": 4, "order_limit": 6}
    fields |= {"max_calls": 2, "format": "pythonic", "draft_tokens": 0}
    every: Any = decoders[0].decode(PROMPTS[::2], **fields)
    for rule in RULES if shape == "llama" else RULES[::2]:
        results: list[Any] = [d.decode(PROMPTS[::2], **fields, **rule) for d in decoders]
        for first, full, *others in zip(results[0], every, *results[1:], strict=True):
            assert [candidates(r) for r in others] == [candidates(first) for _ in others]
            assert [r.text for r in others] == [first.text for _ in others]
            [written, *_], [possible, *_] = candidates(first), candidates(full)
            assert written == possible[: len(written)]
            assert first.counters.positions <= full.counters.positions or first.text != full.text


def test_together_is_alone() -> None:
    decoder = ToolDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER, prompt_cache_mb=0)
    for rule in RULES[:2]:
        fields: dict[str, Any] = {"tools": TOOLS, "max_value_tokens": 4, "order_limit": 6, **rule}
        together: Any = decoder.decode(PROMPTS, **fields)
        alone: list[Any] = [decoder.decode(p, **fields) for p in PROMPTS]
        assert [candidates(r) for r in together] == [candidates(r) for r in alone]
        assert [r.counters.positions for r in together] == [r.counters.positions for r in alone]
        assert [r.counters.forward_passes for r in together] == [r.counters.forward_passes for r in alone]


def test_an_optional_key_is_kept_by_its_share() -> None:
    tools = lookup(tool("F", *(parameter(k, "int") for k in "abc"), parameter("note", "bool", required=False)))

    def continuation(written: str) -> str:
        if written.endswith("note="):
            return "True)]"
        if not written.endswith("1"):
            return "[F(" if "F(" not in written else ")]" if "note" in written else "1, note="
        return ", note=True)]" if re.search(r"c=1$", written) else ")]"

    for share, kept in ((0.0, True), (0.3, True), (1 / 3, False), (0.5, False), (1.0, False)):
        engine = ScriptedEngine(DECODER.table.texts, continuation)
        call = decode(engine, tools, format="pythonic", optional_share=share).calls[0]
        assert sum("note=True" in c.text for c in call.candidates) == 2 and len(call.candidates) == 6
        assert ("note" in call.voted.arguments) is kept


def doubtful(**fields: Any) -> DecodeResult:
    def continuation(written: str) -> str:
        return hesitant(0, 0.0)(written).replace("Rome", "Oslo" if "(city" in written else "Rome")

    return decode(ScriptedEngine(DECODER.table.texts, continuation), format="pythonic", order_limit=24, **fields)


def shown(result: DecodeResult) -> str:
    console = Console(file=io.StringIO(), width=120)
    show_result(console, "x", result, show_orders=False)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_confidence_in_what_is_printed() -> None:
    plain = doubtful()
    [call] = plain.to_json("1")["calls"]
    assert (call["orders_used"], call["orders_possible"]) == (24, 24)
    assert [p["share"] for p in call["parameters"]] == [0.75, 1.0, 1.0, 1.0]
    for p in call["parameters"]:
        assert p["confidence"] == pytest.approx(p["share"] * math.exp(p["logprob"])) and "needs_confirmation" not in p
    assert "confirmation" not in shown(plain) and "of 24" not in shown(plain)

    least = min(p["confidence"] for p in call["parameters"][1:])
    flagged = doubtful(min_confidence=least, stopping="exact")
    [call] = flagged.to_json("1")["calls"]
    doubted = [p["confidence"] < least for p in call["parameters"]]
    assert [p["needs_confirmation"] for p in call["parameters"]] == doubted and doubted[0]
    used = call["orders_used"]
    assert 12 < used < 24 == call["orders_possible"]
    lines = [line for line in shown(flagged).splitlines() if "confirmation" in line]
    assert len(lines) == 1 and "city" in lines[0]
    assert f"{used} candidates of 24 orders" in shown(flagged)


def test_min_confidence_at_its_ends() -> None:
    [call] = doubtful(min_confidence=0.0).to_json("1")["calls"]
    assert [p["needs_confirmation"] for p in call["parameters"]] == [False] * 4
    assert all(doubtful(min_confidence=1.0).calls[0].needs_confirmation)


def test_settings_on_the_command_line(cli: Callable[..., Ran], tiny_model_path: str, tmp_path: Path) -> None:
    config = tmp_path / "tuned.yaml"
    config.write_text("stopping: exact\nmin_confidence: 1\n")
    given = ["decode", "--model", tiny_model_path, "--tools", CASES / "tools.jsonl", "--prompt", "x", "--json"]
    given += ["--max-value-tokens", 6, "--config", config, "--stopping", "posterior", "--stopping-level", 0.3]
    ran = cli(*given, "--optional-share", 0.25, "--tool-choice", "BookTable")
    assert ran.code == 0, ran.err
    [call] = json.loads(ran.out)["calls"]
    assert call["orders_used"] <= call["orders_possible"] == 6
    assert all(p["needs_confirmation"] is True for p in call["parameters"])
    for option, value, said in (
        ("--stopping", "soon", "expected 'none', 'exact' or 'posterior', got 'soon'"),
        ("--stopping-level", 0.6, "expected a number from 0 to 0.5, got 0.6"),
        ("--optional-share", -0.1, "expected a number from 0 to 1, got -0.1"),
        ("--min-confidence", "nan", "expected a number from 0 to 1, got nan"),
    ):
        ran = cli(*given, option, value)
        assert (ran.code, ran.out) == (2, "") and ran.err == f"error: {option}: {said}\n"
