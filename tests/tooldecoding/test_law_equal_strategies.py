"""Law 2: packed = batched = each order decoded alone, token for token in fp32."""

from collections.abc import Sequence
from typing import Any

import pytest

import tooldecoding.calls.order_decoder
from lookup.dictionary import LookupDictionary
from tiny_models import OTHER_SHAPES, SHAPES, byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.errors import ModelError
from tooldecoding.result import DecodeResult
from tools import PROMPTS, WEATHER, lookup
from voting import CandidateCall

TOOLS: LookupDictionary = lookup(WEATHER)
TOKENIZER = byte_level_tokenizer()


def written(result: DecodeResult) -> list[tuple[Any, ...]]:
    """Everything that the candidates of a result wrote."""
    return [(c.order, c.text, c.token_ids) for call in result.calls for c in call.candidates]


def decode(decoder: ToolDecoder, prompts: Sequence[str], **fields: Any) -> list[DecodeResult]:
    results = decoder.decode(prompts, tools=TOOLS, max_value_tokens=4, max_calls=2, **fields)
    assert isinstance(results, list)
    return results


def candidate_alone(
    decoder: ToolDecoder, prompt: str, order: tuple[str, ...], patch: Any, **fields: Any
) -> CandidateCall:
    patch.setattr(tooldecoding.calls.order_decoder, "draw_orders", lambda *_: (order,))
    [result] = decode(decoder, [prompt], **fields)
    patch.undo()
    return result.calls[0].candidates[0]


@pytest.mark.parametrize("shape", [*SHAPES, "mistral_windowed", "gemma2", "gpt2"])
def test_packed_is_batched(shape: str) -> None:
    model = tiny_model(shape, len(TOKENIZER))
    packed, batched = (ToolDecoder(model, TOKENIZER, strategy=s) for s in ("packed", "batched"))
    for format, order_limit in (("api-bank", 12), ("pythonic", 2)):
        one = decode(packed, PROMPTS, format=format, order_limit=order_limit)
        other = decode(batched, PROMPTS, format=format, order_limit=order_limit)
        assert [written(r) for r in one] == [written(r) for r in other]
        assert [r.text for r in one] == [r.text for r in other]
        assert all(len(r.calls[0].candidates) == order_limit for r in one)


@pytest.mark.parametrize("shape", [*SHAPES, *OTHER_SHAPES])
def test_together_is_alone(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model(shape, len(TOKENIZER))
    alone = ToolDecoder(model, TOKENIZER, strategy="batched")
    together = [decode(alone, PROMPTS[:2], order_limit=6)]
    if shape == "bloom":
        with pytest.raises(ModelError):
            ToolDecoder(model, TOKENIZER, strategy="packed")
    else:
        together.append(decode(ToolDecoder(model, TOKENIZER, strategy="packed"), PROMPTS[:2], order_limit=6))
    for prompt, *results in zip(PROMPTS[:2], *together, strict=True):
        for candidates in zip(*(r.calls[0].candidates for r in results), strict=True):
            single = candidate_alone(alone, prompt, candidates[0].order, monkeypatch)
            for candidate in candidates:
                assert single.text == candidate.text
                assert single.token_ids == candidate.token_ids
                for a, b in zip(single.values, candidate.values, strict=True):
                    assert a.logprob == pytest.approx(b.logprob, abs=1e-4)


def test_the_model_decides_the_strategy() -> None:
    assert ToolDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER).strategy == "packed"
    assert ToolDecoder(tiny_model("bloom", len(TOKENIZER)), TOKENIZER).strategy == "batched"


def test_same_seed_same_output() -> None:
    decoder = ToolDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER)
    first, second = (decode(decoder, PROMPTS, order_limit=6, seed=3) for _ in range(2))
    assert [r.text for r in first] == [r.text for r in second]
    assert [written(r) for r in first] == [written(r) for r in second]
    other = decode(decoder, PROMPTS, order_limit=6, seed=4)
    assert [written(r) for r in first] != [written(r) for r in other]
