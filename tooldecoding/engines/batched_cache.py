"""The KV cache of the batched engine: each branch has its own, and they are stacked layer by layer for a pass."""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import Cache
from transformers.cache_utils import DynamicLayer

from tooldecoding.engines.prefix_cache import States


class StackedCache(Cache):
    """The argument of the model in one pass. Rows end where the new tokens begin, so that distances are right.

    Each layer's states of the branches are replaced by views of the stack, so that two whole caches never coexist.

    Parameters
    ----------
    states : sequence of list
        For each row the keys and values of its branch, which are replaced.
    lengths, sizes : sequence of int
        For each row how many tokens it has, and how many it gets.
    """

    def __init__(self, states: Sequence[States], lengths: Sequence[int], sizes: Sequence[int]) -> None:
        super().__init__(layer_class_to_replicate=DynamicLayer)
        self._states = states
        self.before = max(lengths)
        """Slots in front of the new tokens."""
        self._spans = [(self.before - n, self.before + size) for n, size in zip(lengths, sizes, strict=True)]

    def visible(self, width: int) -> torch.Tensor:
        """Return which slots hold a token of the row, shape (rows, slots), int64, if rows get up to ``width``."""
        slots = torch.arange(self.before + width)
        start, end = torch.tensor(self._spans)[..., None].unbind(1)
        return (slots >= start).logical_and(slots < end).long()

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Stack the states of the branches in front of the new ones."""
        keys, values = (self._stacked(layer_idx, which, new) for which, new in enumerate((key_states, value_states)))
        for row, (states, (start, end)) in enumerate(zip(self._states, self._spans, strict=True)):
            states[layer_idx : layer_idx + 1] = [(keys[row, :, start:end], values[row, :, start:end])]
        return keys, values

    def _stacked(self, number: int, which: int, new: torch.Tensor) -> torch.Tensor:
        if not self.before:
            return new
        rows, heads, width, features = new.shape
        stack = new.new_zeros((rows, heads, self.before + width, features))  # a mask cannot hide NaN
        stack[:, :, self.before :] = new
        for row, (states, (start, _)) in enumerate(zip(self._states, self._spans, strict=True)):
            if start < self.before:
                stack[row, :, start : self.before] = states[number][which]
        return stack

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Return the slots in front of the new tokens."""
        return self.before

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:
        """See Cache."""
        return self.before + query_length, 0


def cache_bytes(cache: Cache | None) -> int:
    """Return the bytes of a cache's keys and values, as allocated."""
    layers = cache.layers if cache is not None else []
    tensors = [t for layer in layers for t in (getattr(layer, "keys", None), getattr(layer, "values", None))]
    return sum(t.numel() * t.element_size() for t in tensors if t is not None)
