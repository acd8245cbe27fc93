"""Law 2: packed = batched = each prompt and each order decoded alone, token for token, whatever the settings."""

from dataclasses import replace
from typing import Any

import pytest

from tiny_models import OTHER_SHAPES, RECURRENT_SHAPES, SHAPES, byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.errors import ModelError
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tools import PROMPTS, WEATHER, in_order, lookup, parameter, tool

TOKENIZER = byte_level_tokenizer()
SEND = tool("Send", parameter("to", "str"), parameter("body", "str"), parameter("n", "int", required=False))
TASKS = [(PROMPTS[0], lookup(WEATHER)), (f"say 'New York' to Bob {PROMPTS[1]}", lookup(SEND, WEATHER))]
SETTINGS: dict[str, dict[str, Any]] = {
    "orders": {"format": "api-bank", "order_limit": 6},
    "drafts": {"format": "pythonic", "order_limit": 1, "max_calls": 2},
    "exact": {"format": "pythonic", "order_limit": 6, "max_calls": 2, "stopping": "exact"},
    "posterior": {"order_limit": 6, "stopping": "posterior", "stopping_level": 0.5, "optional_share": 0.2},
}

THOROUGH = ("llama", "bloom")
"""Shapes that are decoded with all settings, one for each strategy; each of the others has one of them."""


def requests(**fields: Any) -> list[Request]:
    return [Request(prompt, tools, DecodeOptions(**{"max_value_tokens": 3} | fields)) for prompt, tools in TASKS]


def decoders(shape: str) -> list[ToolDecoder]:
    """One for each strategy that the model can be decoded with."""
    model = tiny_model(shape, len(TOKENIZER))
    made = [ToolDecoder(model, TOKENIZER, strategy="batched", prompt_cache_mb=0)]
    if shape == "bloom":
        with pytest.raises(ModelError, match="use batched or auto"):
            ToolDecoder(model, TOKENIZER, strategy="packed")
    elif shape not in RECURRENT_SHAPES:
        made.append(ToolDecoder(model, TOKENIZER, strategy="packed", prompt_cache_mb=0))
    assert ToolDecoder(model, TOKENIZER).strategy == made[-1].strategy, "auto packs where that is possible"
    return made


def written(result: DecodeResult) -> Any:
    """Everything that a result and its candidates wrote."""
    return result.text, [(c.order, c.text, c.token_ids) for call in result.calls for c in call.candidates]


def cost(result: DecodeResult) -> tuple[int, int]:
    return result.counters.positions, result.counters.forward_passes


@pytest.mark.parametrize(("place", "shape"), list(enumerate([*SHAPES, *OTHER_SHAPES, *RECURRENT_SHAPES])))
def test_strategies_neighbours_and_drafts_change_nothing(place: int, shape: str) -> None:
    made, every = decoders(shape), list(SETTINGS.values())
    for fields in every if shape in THOROUGH else [every[place % len(every)]]:
        expected = [written(result) for result in made[0].run(requests(**fields, draft_tokens=0))]
        for decoder in made:
            together = decoder.run(requests(**fields))
            alone = [decoder.run([request])[0] for request in requests(**fields)]
            assert [written(r) for r in together] == [written(r) for r in alone] == expected
            assert [cost(r) for r in together] == [cost(r) for r in alone]
    if shape in RECURRENT_SHAPES:  # a state cannot go back, so that no draft is tried, and none is paid for
        drafted, plain = (made[0].run(requests(order_limit=1, draft_tokens=n)) for n in (12, 0))
        assert [cost(r) for r in drafted] == [cost(r) for r in plain]


@pytest.mark.parametrize("shape", ["llama", "gemma2", "gpt2", "bloom"])
def test_an_order_beside_others_is_the_order_alone(shape: str) -> None:
    for decoder in decoders(shape):
        [result] = decoder.run(requests(order_limit=6)[:1])
        assert len(result.calls[0].candidates) == 6
        for candidate in result.calls[0].candidates[1::2]:
            [request] = requests(order_limit=1)[:1]
            [alone] = decoder.run([replace(request, tools=in_order(WEATHER, candidate.order))])
            [single] = alone.calls[0].candidates
            assert (single.text, single.token_ids) == (candidate.text, candidate.token_ids)
            logprobs = [value.logprob for value in candidate.values]
            assert [value.logprob for value in single.values] == pytest.approx(logprobs, abs=1e-4)


def test_same_seed_same_output() -> None:
    first, second, other = (
        [written(r) for r in decoders("llama")[-1].run(requests(order_limit=6, seed=seed))] for seed in (3, 3, 4)
    )
    assert first == second != other
