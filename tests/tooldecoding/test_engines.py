"""What engines keep of prompts, now and for later ones; long feeds in pieces; logits and their log-probabilities."""

from contextlib import nullcontext
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import tooldecoding.engines.feed_pieces as feed_pieces
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.batched_engine import BatchedEngine
from tooldecoding.engines.engine import Feed
from tooldecoding.engines.language_model import LanguageModel
from tooldecoding.engines.logits import LogitRows, NextTokenLogits
from tooldecoding.engines.packed_engine import PackedEngine
from tooldecoding.engines.prefix_cache import PrefixCache, States
from tooldecoding.engines.slot_cache import CHUNK
from tools import WEATHER, lookup

TOKENIZER = byte_level_tokenizer()
DOCUMENTED = "Tools: " + "GetWeather tells the weather of a city on some days. " * 10
SAID = ("hello", "how is Rome?", "how is Rome, for 3 days?")
REQUESTS = [f"{DOCUMENTED}\nUser: {said}\nAPI-Request: " for said in SAID]


def decode(decoder: ToolDecoder, prompt: str, order_limit: int) -> Any:
    return decoder.decode(prompt, tools=lookup(WEATHER), order_limit=order_limit)


def test_packed_keeps_one_copy_of_the_prompt() -> None:
    model, prompt = tiny_model("llama", len(TOKENIZER)), "User: what is the weather like? " * 40
    length = len(TOKENIZER.encode(prompt)) - 1
    slot = 2 * 2 * 2 * 16 * 4  # layers, keys and values, heads, width, bytes
    fields: dict[str, Any] = {"max_value_tokens": 4, "draft_tokens": 0}
    for order_limit in (1, 12):
        packed, batched = (
            decode(ToolDecoder(model, TOKENIZER, strategy, **fields), prompt, order_limit).counters  # type: ignore[arg-type]
            for strategy in ("packed", "batched")
        )
        assert packed.positions == batched.positions
        assert length * slot <= packed.cache_bytes <= -(-packed.positions // CHUNK) * CHUNK * slot
        assert batched.cache_bytes > order_limit * length * slot


def common(first: str, second: str) -> int:
    """Length of the common prefix, in tokens."""
    pairs = zip(TOKENIZER.encode(first), TOKENIZER.encode(second), strict=False)
    return next(i for i, (a, b) in enumerate(pairs) if a != b)


@pytest.mark.parametrize(
    ("shape", "strategy"), [("llama", "packed"), ("gemma2", "batched"), ("gpt2", "packed"), ("bloom", "batched")]
)
def test_what_is_shared_is_not_computed_again(shape: str, strategy: Any) -> None:
    model = tiny_model(shape, len(TOKENIZER))
    plain, caching = (
        ToolDecoder(model, TOKENIZER, strategy, prompt_cache_mb=size, max_value_tokens=5) for size in (0, 64)
    )
    for number, prompt in enumerate(REQUESTS):
        one, other = decode(plain, prompt, 1), decode(caching, prompt, 1)
        assert [call.candidates[0].token_ids for call in one.calls] == [c.candidates[0].token_ids for c in other.calls]
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


class Watched(TorchDispatchMode):
    """Notes the bytes of the largest tensor that an operation returns, and counts the scalars that are read."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = self.scalars = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation."""
        self.scalars += func is torch.ops.aten._local_scalar_dense.default
        out = func(*args, **(kwargs or {}))
        tensors = [t for t in tree_leaves(out) if isinstance(t, torch.Tensor)]
        self.largest = max([self.largest, *(t.numel() * t.element_size() for t in tensors)])
        return out


MODELS = {shape: tiny_model(shape, 300) for shape in ("llama", "mistral_windowed")}
MASKED = [
    (PackedEngine, "llama", 40, 1),
    (PackedEngine, "mistral_windowed", 0, 1),
    (BatchedEngine, "llama", 40, 1),
    (BatchedEngine, "llama", 0, 2),
    (BatchedEngine, "mistral_windowed", 0, 1),
]
"""Engine, shape, cached tokens of the prompt, and prompts of different length: whatever needs a mask."""


def last_logits(case: Any, length: int) -> tuple[list[torch.Tensor], int]:
    """Feed prompts; return the logits behind them, and the bytes of the largest tensor that was made."""
    engine_class, shape, cached, prompts = case
    random, cache = Random(0), PrefixCache(1 << 28)
    tokens = [[random.randint(5, 299) for _ in range(length >> number)] for number in range(prompts)]
    if cached:
        first = engine_class(LanguageModel(MODELS[shape]), cache)
        [root] = first.open(1)
        first.reuse(root, tokens[0][:cached])
        first.extend([Feed(root, tokens[0][:cached])])
    engine = engine_class(LanguageModel(MODELS[shape]), cache)
    feeds = []
    for root, own in zip(engine.open(prompts), tokens, strict=True):
        assert engine.reuse(root, own) == cached
        feeds.append(Feed(root, own[cached:], 1))
    with Watched() as watched:
        found = engine.extend(feeds)
    return [one.logits.clone() for behind in found for one in behind], watched.largest


@pytest.mark.parametrize("case", MASKED, ids=lambda case: f"{case[0].__name__}-{case[1]}-{case[2]}-{case[3]}")
def test_pieces_change_no_logits_and_bound_the_mask(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, unbounded = last_logits(case, 1200)
    monkeypatch.setattr(feed_pieces, "_FEWEST", 16)
    monkeypatch.setattr(feed_pieces, "MASK_BYTES", 1 << 16)
    pieces, bounded = last_logits(case, 1200)
    for one, other in zip(whole, pieces, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
    assert unbounded >= 1100 * 1100  # the mask: a byte each, if not four
    assert 2 * bounded <= unbounded


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


def test_a_pass_is_read_in_one_transfer_and_a_refused_row_in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The logits of a device that is none: copies of tensors, and scalars, are counted."""
    model, among = tiny_model("llama", 4096 + 300), np.arange(40, 50)
    feeds = [(range(5, 12), None), (range(7, 14), (among,)), (range(3, 10), None)]
    copied, copy = [0], torch.Tensor.cpu

    def counted(tensor: torch.Tensor) -> torch.Tensor:
        copied[0] += 1
        return copy(tensor).clone()

    def read(watched: Any) -> tuple[list[Any], list[Any]]:
        engine = PackedEngine(LanguageModel(model))
        roots = engine.open(len(feeds))
        answers = engine.extend([Feed(root, list(t), 0, few) for root, (t, few) in zip(roots, feeds, strict=True)])
        first, few, last = (logits for [logits] in answers)
        with watched:
            every = [first.best, first.logprob(first.best), *few.best_among(among), last.best, last.logprob(last.best)]
        copies.append(copied[0])
        return every, [last.share(among), *last.best_among(among), last.logprob(7), *last.values.tolist()]

    copies: list[int] = []
    expected, watched = read(nullcontext()), Watched()
    monkeypatch.setattr(torch.Tensor, "cpu", counted)
    monkeypatch.setattr(LogitRows, "on_cpu", False)
    for one, other in zip(read(watched), expected, strict=True):
        assert one == pytest.approx(other, abs=1e-4)
    assert copies == [0, 1] and copied == [2]
    assert watched.scalars == 2  # of the few logits, which are on the CPU by then
