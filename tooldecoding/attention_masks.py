"""Masks for attention layers that see all positions, a window of them, or some of each."""

from collections.abc import Callable
from typing import Any

import torch
from transformers import PreTrainedModel


class AttentionMasks:
    """Makes the masks that a model wants.

    Attributes
    ----------
    window : int or None
        How far the model's sliding layers see; None if it has none.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        config = model.config.get_text_config()
        layer_types = set(getattr(config, "layer_types", None) or ())
        self._by_type = bool(layer_types)
        slides = not layer_types or "sliding_attention" in layer_types
        self.window: int | None = getattr(config, "sliding_window", None) if slides else None

    def __call__(self, seen: torch.Tensor, distance: Callable[[], torch.Tensor]) -> Any:
        """Additive masks of shape (rows, 1, queries, slots), by type of layer where the model tells them apart.

        Parameters
        ----------
        seen : torch.Tensor
            Shape (rows, queries, slots), bool: what each query may see. A query that sees nothing is padding.
        distance : callable
            Gives positions from slots to queries, same shape, int64; asked for only where there is a window.
        """
        if self.window is None:
            return self._additive(seen)
        near = seen & (distance() < self.window)
        near[:, :, 0] |= ~near.any(-1)
        windowed = self._additive(near)
        return {"full_attention": self._additive(seen), "sliding_attention": windowed} if self._by_type else windowed

    def _additive(self, seen: torch.Tensor) -> torch.Tensor:
        """0 where attention is allowed, the lowest number elsewhere."""
        mask = torch.zeros(seen.shape, dtype=self._model.dtype, device=seen.device)
        return mask.masked_fill_(~seen, torch.finfo(mask.dtype).min)[:, None]
