"""Attention masks for branches that share a row, with full attention, a sliding window, or layers of both types."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import PreTrainedModel

from tooldecoding.models.places import input_device

Booleans = np.ndarray[Any, np.dtype[np.bool_]]
Integers = np.ndarray[Any, np.dtype[np.int64]]

Masks = Mapping[str, torch.Tensor]
"""By layer type: additive masks of shape (rows, 1, queries, slots)."""


class VisibleSlots(NamedTuple):
    """Which slots the queries of a row see in a pass.

    Attributes
    ----------
    queries : sequence of int
        Position of each query.
    seen : numpy.ndarray, optional
        Shape (queries, slots), bool: which slots each query sees; later slots are hidden. If None, the queries' own
        tokens are there in order, and each query sees those up to itself.
    positions : numpy.ndarray
        Shape (slots,), int64: position of the token in each slot.
    """

    queries: Sequence[int]
    seen: Booleans | None
    positions: Integers

    @property
    def end(self) -> int:
        """No query sees this slot or a later one."""
        return len(self.positions)

    def show(self, hidden: Booleans, window: int | None) -> None:
        """Mark in ``hidden``, of shape (queries, slots), what each query sees; ``window`` is how far it sees."""
        seen = np.tri(len(self.queries), self.end, dtype=bool) if self.seen is None else self.seen
        np.logical_not(seen, out=hidden[:, : self.end])
        if window is not None:
            hidden[:, : self.end] |= np.asarray(self.queries)[:, None] - self.positions >= window


class AttentionMasks:
    """Makes the attention masks of a model.

    Attributes
    ----------
    window : int or None
        Window of the model's sliding layers; None if it has none.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self._dtype = model.dtype
        self._device = input_device(model)
        config = model.config.get_text_config()
        layer_types = set(getattr(config, "layer_types", None) or ())
        slides = not layer_types or "sliding_attention" in layer_types
        self.window: int | None = getattr(config, "sliding_window", None) if slides else None
        self._by_type = bool(layer_types) and self.window is not None
        self._windows: dict[str, int | None] = {"sliding_attention": self.window}
        """Window by layer type. Without types, all layers are alike."""
        if self._by_type:
            self._windows["full_attention"] = None

    @property
    def kinds(self) -> Sequence[str]:
        """The layer types. A model that does not distinguish them has one."""
        return list(self._windows)

    def argument(self, masks: Masks) -> Any:
        """Return what the model takes: masks by layer type if it distinguishes them, otherwise its one mask."""
        return masks if self._by_type else masks["sliding_attention"]

    def __call__(self, visible: Sequence[VisibleSlots], size: int) -> Masks:
        """Return additive masks: 0 where attention is allowed, the lowest number elsewhere.

        Parameters
        ----------
        visible : sequence of VisibleSlots
            For each row of the pass; all with the same number of queries.
        size : int
            The pass may see the slots before this one.
        """
        return {kind: self._mask(window, visible, size) for kind, window in self._windows.items()}

    def _mask(self, window: int | None, visible: Sequence[VisibleSlots], size: int) -> torch.Tensor:
        hidden = np.ones((len(visible), 1, len(visible[0].queries), size), bool)
        for row, slots in zip(hidden[:, 0], visible, strict=True):
            slots.show(row, window)
        on_device = torch.from_numpy(hidden).to(self._device)
        mask = torch.zeros(hidden.shape, dtype=self._dtype, device=self._device)
        return mask.masked_fill_(on_device, torch.finfo(self._dtype).min)
