"""Attention masks for branches that share a row, with full attention, a sliding window, or layers of both types.

A mask is kept from pass to pass. Slots that every query of a row sees, above all those of the prompt, are written once.
A pass writes only the few slots behind them, whatever the length of the prompt, and the model gets a view.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import PreTrainedModel

from tooldecoding.engines.slot_cache import at_rows
from tooldecoding.models.places import input_device

KEPT_BYTES = 64 << 20
"""A mask that is larger is made for one pass and not kept."""
_QUERIES, _SLOTS = 16, 256
"""Sizes of kept masks are multiples of these."""

Booleans = np.ndarray[Any, np.dtype[np.bool_]]
Integers = np.ndarray[Any, np.dtype[np.int64]]


Masks = Mapping[str, torch.Tensor]
"""By layer type: additive masks of shape (rows, 1, queries, slots)."""


class VisibleSlots(NamedTuple):
    """Which slots the queries of a row see in a pass.

    Attributes
    ----------
    first : int
        Every query sees all slots before this one. Each of them holds the token of the position with its number.
    queries : sequence of int
        Position of each query.
    behind : numpy.ndarray, optional
        Shape (queries, slots), bool: which slots from ``first`` on each query sees; later slots are hidden. If None,
        the queries' own tokens are there in order, and each query sees those up to itself.
    positions : numpy.ndarray, optional
        Shape (slots,), int64: position of the token in each slot of ``behind``.
    """

    first: int
    queries: Sequence[int]
    behind: Booleans | None = None
    positions: Integers | None = None

    @property
    def end(self) -> int:
        """No query sees this slot or a later one."""
        return self.first + (len(self.queries) if self.behind is None else self.behind.shape[1])


class AttentionMasks:
    """Makes the attention masks of a model.

    Attributes
    ----------
    window : int or None
        Window of the model's sliding layers; None if it has none.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
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
        self._kept: dict[str, Mask] = {}

    @property
    def kinds(self) -> Sequence[str]:
        """The layer types. A model that does not distinguish them has one."""
        return list(self._windows)

    def argument(self, masks: Masks) -> Any:
        """Return what the model takes: masks by layer type if it distinguishes them, otherwise its one mask."""
        return masks if self._by_type else masks["sliding_attention"]

    def __call__(self, rows: Sequence[int], total_rows: int, visible: Sequence[VisibleSlots], size: int) -> Masks:
        """Return additive masks, valid until the next call for one of these rows.

        Parameters
        ----------
        rows : sequence of int
            The rows of the pass, ascending.
        total_rows : int
            The number of all rows. Call ``forget`` when other prompts take their places.
        visible : sequence of VisibleSlots
            For each row of the pass; all with the same number of queries.
        size : int
            The pass may see the slots before this one.
        """
        return {kind: self._mask(kind, rows, total_rows, visible, size) for kind in self._windows}

    def forget(self) -> None:
        """Forget the masks, because the rows have changed."""
        self._kept.clear()

    def _mask(
        self, kind: str, rows: Sequence[int], total_rows: int, visible: Sequence[VisibleSlots], size: int
    ) -> torch.Tensor:
        queries = len(visible[0].queries)
        mask = self._kept.get(kind)
        if mask is None or not mask.has_room(queries, size):
            shape = total_rows, -(-queries // _QUERIES) * _QUERIES, -(-size * 5 // (4 * _SLOTS)) * _SLOTS
            size_in_bytes = shape[0] * shape[1] * shape[2] * self._model.dtype.itemsize
            kept = size_in_bytes <= KEPT_BYTES
            if not kept:
                rows, shape = range(len(rows)), (len(rows), queries, size)
            mask = Mask(shape, self._windows[kind], self._model.dtype, self._device)
            if kept:
                self._kept[kind] = mask
        for row, slots in zip(rows, visible, strict=True):
            mask.write(row, slots)
        return at_rows(mask.values, rows)[:, None, :queries, :size]


class Mask:
    """An additive mask that remembers what it contains.

    Parameters
    ----------
    shape : (rows, queries, slots)
    window : int or None
        How far a query sees.

    Attributes
    ----------
    values : torch.Tensor
        0 where attention is allowed, the lowest number elsewhere.
    """

    def __init__(
        self, shape: tuple[int, int, int], window: int | None, dtype: torch.dtype, device: torch.device
    ) -> None:
        self._hidden = max(torch.finfo(dtype).min, torch.finfo(torch.float32).min)  # what numpy's float32 can hold
        self._window = window
        self.values = torch.full(shape, self._hidden, dtype=dtype, device=device)
        self._open = [0] * shape[0]
        """By row: all queries see the slots before this one, as far as the window reaches."""
        self._used = [0] * shape[0]
        """By row: no query sees a slot from this one on."""
        self._low = np.zeros(shape[:2], np.int64)
        """By row and query: slots before this one are outside the window."""

    def has_room(self, queries: int, slots: int) -> bool:
        """Whether a pass of this size fits."""
        return queries <= self.values.shape[1] and slots <= self.values.shape[2]

    def write(self, row: int, visible: VisibleSlots) -> None:
        """Show the first queries of a row these slots, and hide the others."""
        first, end, queries = visible.first, visible.end, len(visible.queries)
        if visible.behind is None and queries == 1:
            first = end  # it also sees itself
        values = self.values[row]
        if first > self._open[row]:
            values[:, self._open[row] : first] = 0
        if self._used[row] > end:
            values[:, end : self._used[row]] = self._hidden
        if end > first:
            self._write_behind(values[:queries, first:end], visible)
        if self._window is not None:
            self._write_low(values, row, first, np.asarray(visible.queries) - self._window + 1)
        self._open[row], self._used[row] = first, end

    def _write_behind(self, values: torch.Tensor, visible: VisibleSlots) -> None:
        if visible.behind is None:
            values.fill_(self._hidden).triu_(1)
            if self._window is not None and self._window < len(values):
                values += torch.full_like(values, self._hidden).tril_(-self._window)
            return
        hidden = ~visible.behind
        if self._window is not None and visible.positions is not None:
            hidden |= np.asarray(visible.queries)[:, None] - visible.positions >= self._window
        self._fill(values, hidden)

    def _write_low(self, values: torch.Tensor, row: int, first: int, low: Integers) -> None:
        """Hide the slots that have left the window since the last pass."""
        before = np.minimum(self._low[row], first)
        new = np.full_like(before, low[-1])  # unused lines are kept up to date, so that later passes write less
        new[: len(low)] = low
        new = new.clip(0, first)
        start, end = min(before.min(), new.min()), max(before.max(), new.max())
        if end > start:
            self._fill(values[:, start:end], np.arange(start, end) < new[:, None])
        self._low[row] = new

    def _fill(self, values: torch.Tensor, hidden: Booleans) -> None:
        """Write a part of the mask. numpy does this several times faster than torch."""
        values.copy_(torch.from_numpy(np.multiply(hidden, np.float32(self._hidden), dtype=np.float32)))
