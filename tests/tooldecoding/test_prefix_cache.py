"""The prefix cache: a shared prefix is not computed again; same output, bounded memory."""

from typing import Any

import pytest
import torch

from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.prefix_cache import PrefixCache, States
from tooldecoding.result import DecodeResult
from tools import WEATHER, lookup

TOKENIZER = byte_level_tokenizer()
TOOLS = "Tools: " + "GetWeather tells the weather of a city on some days. " * 10
REQUESTS = [f"{TOOLS}\nUser: {said}\nAPI-Request: " for said in ("hello", "how is Rome?", "how is Rome, for 3 days?")]


def decoder(shape: str = "llama", strategy: Any = "auto", megabytes: int = 64) -> ToolDecoder:
    return ToolDecoder(
        tiny_model(shape, len(TOKENIZER)), TOKENIZER, strategy, prompt_cache_mb=megabytes, max_value_tokens=5
    )


def decode(decoder: ToolDecoder, prompt: Any, order_limit: int = 4) -> Any:
    return decoder.decode(prompt, tools=lookup(WEATHER), order_limit=order_limit)


def written(result: DecodeResult) -> list[Any]:
    return [[(c.text, c.token_ids) for c in call.candidates] for call in result.calls]


def common(first: str, second: str) -> int:
    """Length of the common prefix, in tokens."""
    pairs = zip(TOKENIZER.encode(first), TOKENIZER.encode(second), strict=False)
    return next(i for i, (a, b) in enumerate(pairs) if a != b)


@pytest.mark.parametrize("strategy", ["packed", "batched"])
@pytest.mark.parametrize("shape", ["llama", "gemma2", "gpt2", "bloom"])
def test_what_is_shared_is_not_computed_again(shape: str, strategy: Any) -> None:
    if (shape, strategy) == ("bloom", "packed"):
        pytest.skip("bloom cannot be packed")
    plain, caching = decoder(shape, strategy, 0), decoder(shape, strategy)
    for number, prompt in enumerate(REQUESTS):
        one, other = decode(plain, prompt, 1), decode(caching, prompt, 1)
        assert written(one) == written(other)
        shared = max((common(prompt, former) for former in REQUESTS[:number]), default=0)
        assert other.counters.reused_positions == shared
        assert other.counters.positions == one.counters.positions - shared
        assert one.counters.reused_positions == 0
    again = decode(caching, REQUESTS[0], 12).counters
    size = len(TOKENIZER.encode(REQUESTS[0]))
    assert again.reused_positions == size - 2  # the last token is held back, and one must be fed to get logits
    statistics = caching.prompt_cache.statistics
    assert (statistics.lookups, statistics.hits) == (4, 3) and 0 < statistics.bytes <= 64 << 20


def test_keys_that_depend_on_the_length_of_the_prompt_are_not_kept() -> None:
    model = tiny_model("llama", len(TOKENIZER))
    assert ToolDecoder(model, TOKENIZER).prompt_cache.max_bytes > 0
    model.config.rope_parameters = {"rope_type": "longrope", "rope_theta": 10000.0}
    assert ToolDecoder(model, TOKENIZER).prompt_cache.max_bytes == 0


def states(tokens: int) -> States:
    return [(torch.zeros(1, tokens, 8), torch.zeros(1, tokens, 8))]


def test_the_oldest_prompts_are_forgotten() -> None:
    size = 2 * 100 * 8 * 4
    cache = PrefixCache(3 * size)
    prompts = [[number] * 100 for number in range(5)]
    for prompt in prompts[:3]:
        cache.store(prompt, states(100))
    assert cache.find(prompts[0], 99) is not None  # used again: now the second is the oldest
    cache.store(prompts[3], states(100))
    assert [cache.knows(p) for p in prompts] == [True, False, True, True, False]
    assert cache.statistics.bytes == 3 * size
    cache.store([7] * 1000, states(1000))  # larger than all of it
    assert cache.statistics.prompts == 3
    cache.store([*prompts[3], 5], states(101))
    assert cache.statistics.prompts == 2, "the beginning of a prompt is not kept beside it, and another was the oldest"
    cache.clear()
    assert cache.statistics.bytes == 0 and cache.find(prompts[0], 99) is None
