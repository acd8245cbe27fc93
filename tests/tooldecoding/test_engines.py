"""What engines keep of a prompt, half precision, and log-probabilities."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.engine import Feed
from tooldecoding.engines.language_model import LanguageModel
from tooldecoding.engines.logits import LogitRows, NextTokenLogits
from tooldecoding.engines.packed_engine import PackedEngine
from tooldecoding.engines.slot_cache import CHUNK
from tools import WEATHER, lookup

TOKENIZER = byte_level_tokenizer()


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


class Transfers(TorchDispatchMode):
    """Counts what is read from the logits of a device that is none: copies of tensors, and scalars."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.copies = self.scalars = 0
        copy = torch.Tensor.cpu

        def counted(tensor: torch.Tensor) -> torch.Tensor:
            self.copies += 1
            return copy(tensor).clone()

        patch.setattr(torch.Tensor, "cpu", counted)
        patch.setattr(LogitRows, "on_cpu", False)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation."""
        self.scalars += func is torch.ops.aten._local_scalar_dense.default
        return func(*args, **(kwargs or {}))


def test_a_pass_is_read_in_one_transfer_and_a_refused_row_in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model("llama", 4096 + 300)
    among = np.arange(40, 50)
    feeds = [(range(5, 12), None), (range(7, 14), (among,)), (range(3, 10), None)]

    def read() -> tuple[list[Any], list[Any]]:
        engine = PackedEngine(LanguageModel(model))
        roots = engine.open(len(feeds))
        answers = engine.extend([Feed(root, list(t), 0, few) for root, (t, few) in zip(roots, feeds, strict=True)])
        first, few, last = (logits for [logits] in answers)
        with transfers or nullcontext():
            every = [first.best, first.logprob(first.best), *few.best_among(among), last.best, last.logprob(last.best)]
        copies.append(transfers.copies if transfers else 0)
        return every, [last.share(among), *last.best_among(among), last.logprob(7), *last.values.tolist()]

    copies: list[int] = []
    transfers: Transfers | None = None
    expected = read()
    transfers = Transfers(monkeypatch)
    for one, other in zip(read(), expected, strict=True):
        assert one == pytest.approx(other, abs=1e-4)
    assert copies == [0, 1] and transfers.copies == 2
    assert transfers.scalars == 2  # of the few logits, which are on the CPU by then
