"""Long feeds in pieces: the same logits, and no mask that grows as the square of a prompt's length."""

from random import Random
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import tooldecoding.engines.feed_pieces as feed_pieces
from tiny_models import tiny_model
from tooldecoding.engines.batched_engine import BatchedEngine
from tooldecoding.engines.engine import Feed
from tooldecoding.engines.language_model import LanguageModel
from tooldecoding.engines.packed_engine import PackedEngine
from tooldecoding.engines.prefix_cache import PrefixCache

BYTES = 1 << 16
MODELS = {shape: tiny_model(shape, 300) for shape in ("llama", "mistral_windowed")}
CASES = [
    (PackedEngine, "llama", 40, 1),
    (PackedEngine, "mistral_windowed", 0, 1),
    (BatchedEngine, "llama", 40, 1),
    (BatchedEngine, "llama", 0, 2),
    (BatchedEngine, "mistral_windowed", 0, 1),
]
"""Engine, shape, cached tokens of the prompt, and prompts of different length: whatever needs a mask."""


class Largest(TorchDispatchMode):
    """Notes the bytes of the largest tensor that an operation returns."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation."""
        out = func(*args, **(kwargs or {}))
        tensors = [t for t in tree_leaves(out) if isinstance(t, torch.Tensor)]
        self.bytes = max([self.bytes, *(t.numel() * t.element_size() for t in tensors)])
        return out


def last_logits(case: Any, length: int) -> tuple[list[torch.Tensor], int]:
    """Feed prompts; return the logits behind them, and the bytes of the largest tensor that was made."""
    engine_class, shape, cached, prompts = case
    random = Random(0)
    tokens = [[random.randint(5, 299) for _ in range(length >> number)] for number in range(prompts)]
    cache = PrefixCache(1 << 28)
    if cached:
        first = engine_class(LanguageModel(MODELS[shape]), cache)
        [root] = first.open(1)
        first.reuse(root, tokens[0][:cached])
        first.extend([Feed(root, tokens[0][:cached])])
    engine = engine_class(LanguageModel(MODELS[shape]), cache)
    feeds = []
    for root, own in zip(engine.open(prompts), tokens, strict=True):
        reused = engine.reuse(root, own)
        assert reused == cached
        feeds.append(Feed(root, own[reused:], 1))
    with Largest() as largest:
        found = engine.extend(feeds)
    return [one.logits.clone() for behind in found for one in behind], largest.bytes


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__name__}-{case[1]}-{case[2]}-{case[3]}")
def test_pieces_change_no_logits_and_bound_the_mask(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, unbounded = last_logits(case, 1200)
    monkeypatch.setattr(feed_pieces, "_FEWEST", 16)
    monkeypatch.setattr(feed_pieces, "MASK_BYTES", BYTES)
    pieces, bounded = last_logits(case, 1200)
    for one, other in zip(whole, pieces, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
    assert unbounded >= 1100 * 1100  # the mask: a byte each, if not four
    assert 2 * bounded <= unbounded
