"""Engines: a branch gets the logits it would get alone, and its cost is counted exactly."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from tiny_models import SHAPES, byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.choose_engine import EngineFactory
from tooldecoding.engines.engine import Engine, Feed
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.engines.slot_cache import CHUNK
from tooldecoding.errors import ModelError
from tools import PROMPTS, WEATHER, lookup

TOKENIZER = byte_level_tokenizer()
RECURRENT: dict[str, dict[str, Any]] = {
    "lfm2": {"layer_types": ["conv", "full_attention"], "num_key_value_heads": 2},
    "mamba": {"state_size": 8},
}


def recurrent_model(model_type: str) -> Any:
    torch.manual_seed(0)
    common = {"vocab_size": len(TOKENIZER), "hidden_size": 64, "num_hidden_layers": 2, "initializer_range": 0.3}
    config = AutoConfig.for_model(
        model_type, **common | {"num_attention_heads": 4, "intermediate_size": 96} | RECURRENT[model_type]
    )
    return AutoModelForCausalLM.from_config(config).eval()


def reference(model: Any, tokens: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        logits: torch.Tensor = model(torch.tensor([tokens])).logits[0, -1].float()
    return logits


def assert_logits(found: NextTokenLogits, model: Any, tokens: list[int]) -> None:
    torch.testing.assert_close(found.logits, reference(model, tokens), atol=1e-4, rtol=1e-4)


def walk(engine: Engine, model: Any) -> None:
    """Two prompts, forks of forks, a speculative token kept and one dropped, a release in between."""
    a, b = engine.open(2)
    [first], [second] = engine.extend([Feed(a, [5, 6, 7, 8]), Feed(b, [9, 10])])
    assert_logits(first, model, [5, 6, 7, 8])
    assert_logits(second, model, [9, 10])
    c = engine.fork(a)
    held = engine.can_drop
    [[x, *x2], [y], [z]] = engine.extend([Feed(c, [11, 12], int(held)), Feed(a, [13]), Feed(b, [14, 15, 16])])
    assert_logits(x, model, [5, 6, 7, 8, 11] if held else [5, 6, 7, 8, 11, 12])
    assert_logits(y, model, [5, 6, 7, 8, 13])
    assert_logits(z, model, [9, 10, 14, 15, 16])
    if held:
        assert_logits(x2[0], model, [5, 6, 7, 8, 11, 12])
        engine.drop(c, 1)
    d = engine.fork(c)
    engine.release(a)
    before = [5, 6, 7, 8, 11] if held else [5, 6, 7, 8, 11, 12]
    [[u], [v]] = engine.extend([Feed(d, [20, 21, 22]), Feed(c, [23])])
    assert_logits(u, model, [*before, 20, 21, 22])
    assert_logits(v, model, [*before, 23])
    [[w]] = engine.extend([Feed(d, [24])])
    assert_logits(w, model, [*before, 20, 21, 22, 24])
    assert engine.usage(d).positions == 4 + 2 + 1 + 3 + 1 + 1
    assert engine.usage(b).positions == 2 + 3


@pytest.mark.parametrize("strategy", ["packed", "batched"])
@pytest.mark.parametrize("shape", [*SHAPES, "mistral_windowed", "gemma2", "gpt2", "bloom"])
def test_a_branch_sees_itself_alone(shape: str, strategy: Any) -> None:
    model = tiny_model(shape, len(TOKENIZER))
    if (shape, strategy) == ("bloom", "packed"):
        with pytest.raises(ModelError, match="use batched or auto"):
            EngineFactory(model, strategy)
        return
    engine = EngineFactory(model, strategy)()
    walk(engine, model)
    assert engine.usage(2).forward_passes == 2  # the second prompt took part in two of the four passes


@pytest.mark.parametrize("model_type", RECURRENT)
def test_recurrent_models(model_type: str) -> None:
    model = recurrent_model(model_type)
    factory = EngineFactory(model, "auto")
    assert factory.recurrent and factory.strategy == "batched"
    walk(factory(), model)
    decoder = ToolDecoder(model, TOKENIZER, max_value_tokens=5, order_limit=3)
    together = decoder.decode(PROMPTS, tools=lookup(WEATHER))
    alone = [decoder.decode(p, tools=lookup(WEATHER)) for p in PROMPTS]
    assert [r.text for r in together] == [r.text for r in alone]  # type: ignore[union-attr]


def test_packed_keeps_one_copy_of_the_prompt() -> None:
    model = tiny_model("llama", len(TOKENIZER))
    prompt = "User: what is the weather like? " * 40
    length = len(TOKENIZER.encode(prompt)) - 1
    slot = 2 * 2 * 2 * 16 * 4  # layers, keys and values, heads, width, bytes
    for order_limit in (1, 12):
        packed, batched = (
            ToolDecoder(model, TOKENIZER, strategy=s, max_value_tokens=4, draft_tokens=0)  # type: ignore[arg-type]
            .decode(prompt, tools=lookup(WEATHER), order_limit=order_limit)
            .counters  # type: ignore[union-attr]
            for s in ("packed", "batched")
        )
        assert packed.positions == batched.positions
        assert length * slot <= packed.cache_bytes <= -(-packed.positions // CHUNK) * CHUNK * slot
        assert batched.cache_bytes > order_limit * length * slot


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision(dtype: torch.dtype) -> None:
    model = tiny_model("llama", len(TOKENIZER)).to(dtype)
    for strategy in ("packed", "batched"):
        decoder = ToolDecoder(model, TOKENIZER, strategy=strategy, max_value_tokens=4)  # type: ignore[arg-type]
        results = decoder.decode(PROMPTS, tools=lookup(WEATHER), order_limit=4)
        assert all(r.valid for r in results)  # type: ignore[union-attr]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_on_a_gpu() -> None:
    model = tiny_model("llama", len(TOKENIZER)).to("cuda")
    walk(EngineFactory(model, "packed")(), model.cpu())


@pytest.mark.parametrize("size", [300, 4096, 10_000])
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 1e4])
def test_logprobs_are_those_of_softmax(size: int, spread: float) -> None:
    logits = torch.randn(size, generator=torch.Generator().manual_seed(size)) * spread
    logits[[7, 200]] = logits.max() + 1.0
    found = NextTokenLogits(logits)
    expected = torch.log_softmax(logits.double(), -1)
    assert found.best == 7  # the lower id among equals
    for token in (7, 200, 9, size - 1):
        assert found.logprob(token) == pytest.approx(float(expected[token]), abs=1e-4, rel=1e-6)
    among = np.array([8, 9, 200])
    expected = torch.log_softmax(logits[among].double(), -1)
    assert found.best_among(among) == (200, pytest.approx(float(expected[2]), abs=1e-5))
