"""The cost of a call, exactly as the formula in docs/costs.md says, and drafts that change the cost alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookup.dictionary import LookupDictionary, ToolSpec
from tiny_models import byte_level_tokenizer, sentencepiece_tokenizer, tiny_model
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.engines.engine import Feed
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.options import DecodeOptions
from tooldecoding.result import DecodeResult
from tooldecoding.testing import RandomEngine, ScriptedEngine, SyntheticDecoder
from tools import PROMPTS, WEATHER, lookup, parameter, tool

TOKENIZERS = (byte_level_tokenizer(), sentencepiece_tokenizer(byte_fallback=True))
DECODERS = [SyntheticDecoder(tiny_model("llama", len(t)), t) for t in TOKENIZERS]
BIASES = (b"", b"'\"\\", b")]}", b"0123456789-.", b"[{(", b",=")
LONG = "go on, please. " * 40


class LookedAhead(RandomEngine):
    """Counts the passes that only look ahead, behind tokens that leave determined bytes pending."""

    passes = 0

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        LookedAhead.passes += all(feed.ahead == len(feed.tokens) for feed in feeds)
        return super().extend(feeds)


def decode(
    number: int, seed: int, bias: bytes, tools: LookupDictionary, prompt: str = "go on\n", **fields: Any
) -> DecodeResult:
    decoder = DECODERS[number]
    engine = LookedAhead(decoder.table.texts, seed, lambda text: 5.0 * any(c in text for c in bias))
    decoder.engine = engine
    options = DecodeOptions(**{"max_calls": 1, "max_value_tokens": 7, "draft_tokens": 0} | fields)
    return decoder.run([Request(prompt, tools, options)])[0]


def in_order(spec: ToolSpec, order: tuple[str, ...]) -> LookupDictionary:
    """The tool with its required keys documented in this order."""
    return lookup(replace(spec, parameters=(*map(spec.parameter, order), *spec.optional)))


cells = pytest.mark.parametrize("format", ["api-bank", "pythonic"])


@cells
@pytest.mark.parametrize("number", [0, 1])
def test_passes_of_one_order(number: int, format: str) -> None:
    seen = set()
    for seed in range(4):
        for bias in BIASES:
            LookedAhead.passes = 0
            counters = decode(number, seed, bias, lookup(WEATHER), format=format, order_limit=1).counters
            decisions = counters.free_tokens + counters.constrained_tokens
            assert counters.forward_passes == decisions + LookedAhead.passes
            seen.add(decisions)
    assert len(seen) > 4


@cells
@pytest.mark.parametrize("number", [0, 1])
def test_passes_are_those_of_the_longest_order(number: int, format: str) -> None:
    for seed, bias in enumerate(BIASES):
        known: dict[tuple[str, ...], DecodeResult] = {}
        for order_limit in (4, 12):
            result = decode(number, seed, bias, lookup(WEATHER), format=format, order_limit=order_limit)
            alone = []
            for candidate in result.calls[0].candidates:
                order = candidate.order
                if order not in known:
                    known[order] = decode(number, seed, bias, in_order(WEATHER, order), format=format, order_limit=1)
                one = known[order]
                assert one.calls[0].candidates[0].token_ids == candidate.token_ids
                alone.append(one.counters.forward_passes)
            assert result.counters.forward_passes == max(alone)


def test_a_long_prompt_costs_a_pass_of_its_own_only_where_orders_part_behind_it() -> None:
    for tools, order_limit, extra in (
        (lookup(WEATHER), 1, 0),
        (lookup(WEATHER), 12, 1),
        (lookup(WEATHER, tool("Stop")), 12, 0),
    ):
        fields: dict[str, Any] = {"order_limit": order_limit, "tool_choice": "required"}
        for seed in range(4):
            short = decode(0, seed, b"", tools, "on\n", **fields)
            long = decode(0, seed, b"", tools, LONG + "on\n", **fields)
            if [c.text for c in short.calls[0].candidates] == [c.text for c in long.calls[0].candidates]:
                assert long.counters.forward_passes == short.counters.forward_passes + extra


def outcome(result: DecodeResult) -> Any:
    """All that a decode gives, but for its cost."""
    return [(c.voted, c.candidates, c.confidences) for c in result.calls], result.text, result.token_ids


QUOTING = tool("Say", *(parameter(k, "str") for k in ("to", "subject", "body")), parameter("n", "int", required=False))
PROMPT = "User: say 'see you in New York on 2023-01-02' to Bob\nAPI-Request: [Say(to='Eve', subject='x')]\n"


@settings(max_examples=40, deadline=None)
@given(
    number=st.integers(0, 1),
    seed=st.integers(0, 10**6),
    bias=st.sampled_from(BIASES),
    format=st.sampled_from(["api-bank", "pythonic"]),
    constraint=st.sampled_from(["typed", "free"]),
    order_limit=st.sampled_from([1, 3, 12]),
    draft_tokens=st.sampled_from([1, 2, 5, 32, 500]),
    spec=st.sampled_from([WEATHER, QUOTING]),
)
def test_drafts_change_nothing_but_the_cost(
    number: int,
    seed: int,
    bias: bytes,
    format: str,
    constraint: str,
    order_limit: int,
    draft_tokens: int,
    spec: ToolSpec,
) -> None:
    fields = {"format": format, "value_constraint": constraint, "order_limit": order_limit, "max_calls": 2}
    plain = decode(number, seed, bias, lookup(spec), PROMPT, **fields)
    drafted = decode(number, seed, bias, lookup(spec), PROMPT, **fields, draft_tokens=draft_tokens)
    assert outcome(plain) == outcome(drafted)
    assert drafted.counters.forward_passes <= plain.counters.forward_passes
    assert drafted.counters.free_tokens == plain.counters.free_tokens


@pytest.mark.parametrize("strategy", ["packed", "batched"])
@pytest.mark.parametrize("shape", ["llama", "mistral_windowed", "gemma2"])
def test_drafts_change_nothing_with_real_caches(shape: str, strategy: Any) -> None:
    tokenizer = TOKENIZERS[0]
    decoder = ToolDecoder(tiny_model(shape, len(tokenizer)), tokenizer, strategy, max_value_tokens=8, order_limit=6)
    for spec, format in ((WEATHER, "pythonic"), (QUOTING, "api-bank")):
        fields: dict[str, Any] = {"tools": lookup(spec), "format": format, "max_calls": 2}
        plain: Any = decoder.decode([PROMPT, PROMPTS[2]], **fields, draft_tokens=0)
        drafted: Any = decoder.decode([PROMPT, PROMPTS[2]], **fields, draft_tokens=16)
        for one, other in zip(plain, drafted, strict=True):
            assert [[c.token_ids for c in call.candidates] for call in one.calls] == [
                [c.token_ids for c in call.candidates] for call in other.calls
            ]


def test_no_token_is_tried_beyond_the_context() -> None:
    model = tiny_model("gpt2", len(TOKENIZERS[0]))  # learned positions: one beyond the last is an error
    limit = model.config.max_position_embeddings
    decoder = ToolDecoder(model, TOKENIZERS[0], max_value_tokens=30)
    copied = "x='" + "abcdefgh " * 20 + "'\n"
    spec = tool("F", parameter("x", "str"), parameter("y", "str"))
    sizes = range(limit - 60, limit - 31, 4)
    filler = decoder.tokenizer.encode("a ")
    for size in sizes:
        tail = decoder.tokenizer.encode(copied)
        prompt = [*(filler * limit)[: size - len(tail)], *tail]
        [result] = decoder.run([Request(prompt, lookup(spec), DecodeOptions(draft_tokens=64, max_value_tokens=30))])
        assert result.calls


@pytest.mark.parametrize(
    ("kind", "circle"),
    [
        ("str", "0.0.0-"),
        ("str", "-"),
        ("str", "one circle of many more words than others. "),
        ("list", "'git-add.git', "),
        ("list", "1, "),
    ],
)
def test_a_value_that_goes_round_in_circles_takes_a_pass_for_each_draft(kind: str, circle: str) -> None:
    tools, begun, most = lookup(tool("F", parameter("x", kind))), {"str": "[F(x='", "list": "[F(x=["}[kind], 320

    def goes_on(text: str) -> str:
        written = text.rpartition(begun)[2] if begun in text else ""
        return (circle * 9999)[len(written) :]

    results = []
    for draft_tokens in (0, 32):
        DECODERS[0].engine = ScriptedEngine(DECODERS[0].table.texts, goes_on)
        fields: dict[str, Any] = {"format": "pythonic", "max_calls": 1, "order_limit": 1, "max_value_tokens": most}
        request = Request("go on\n", tools, DecodeOptions(**fields, draft_tokens=draft_tokens))
        results += DECODERS[0].run([request])
    plain, drafted = results
    assert outcome(plain) == outcome(drafted)
    assert plain.calls[0].voted.parameters[0].truncated and plain.counters.forward_passes >= most
    assert drafted.counters.forward_passes <= most // 32 + 2 * len(circle) + 8
