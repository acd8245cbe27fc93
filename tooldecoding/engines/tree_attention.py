"""Masks for attention layers that see all positions, a window of them, or some of each.

A mask is kept from pass to pass. What every query of a row sees, the prompt above all, is written to it once; a pass
writes the few slots behind that, whatever the length of the prompt, and the model gets a view.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import PreTrainedModel

from tooldecoding.engines.slot_cache import at_rows

KEPT_QUERIES, KEPT_BYTES = 128, 64 << 20
"""A mask of more is made for its pass alone."""
_QUERIES, _SLOTS = 16, 256
"""Masks that are kept have multiples of these."""

Seen = np.ndarray[Any, np.dtype[np.bool_]]
Positions = np.ndarray[Any, np.dtype[np.int64]]


class Sight(NamedTuple):
    """What the queries of a row see in a pass.

    Attributes
    ----------
    first : int
        Every query sees all slots before this one; each holds the token of the position that is its number.
    queries : sequence of int
        Position of each query.
    behind : numpy.ndarray, optional
        Shape (queries, slots), bool: which slots from ``first`` on each query sees; later slots are hidden. None:
        the queries' own tokens stand there, one after the other, and each sees those up to itself.
    positions : numpy.ndarray, optional
        Shape (slots,), int64: of the tokens in the slots of ``behind``.
    """

    first: int
    queries: Sequence[int]
    behind: Seen | None = None
    positions: Positions | None = None

    @property
    def end(self) -> int:
        """No query sees this slot or a later one."""
        return self.first + (len(self.queries) if self.behind is None else self.behind.shape[1])


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
        slides = not layer_types or "sliding_attention" in layer_types
        self.window: int | None = getattr(config, "sliding_window", None) if slides else None
        self._by_type = bool(layer_types) and self.window is not None
        self._windows: dict[str, int | None] = {"sliding_attention": self.window}
        """How far the layers of each type see; without types all are alike."""
        if self._by_type:
            self._windows["full_attention"] = None
        self._kept: dict[str, Mask] = {}

    def __call__(self, rows: Sequence[int], of: int, sights: Sequence[Sight], size: int) -> Any:
        """Additive masks of shape (rows, 1, queries, slots), by type of layer where the model tells them apart.

        They hold until the next call.

        Parameters
        ----------
        rows : sequence of int
            The rows of the pass, ascending.
        of : int
            How many rows there are; when others take their places, ``forget``.
        sights : sequence of Sight
            Of each row of the pass; all of equally many queries.
        size : int
            Slots that the pass may see: all from 0 on.
        """
        masks = {kind: self._mask(kind, rows, of, sights, size) for kind in self._windows}
        return masks if self._by_type else masks["sliding_attention"]

    def forget(self) -> None:
        """Begin anew with other rows."""
        self._kept.clear()

    def _mask(self, kind: str, rows: Sequence[int], of: int, sights: Sequence[Sight], size: int) -> torch.Tensor:
        queries = len(sights[0].queries)
        mask = self._kept.get(kind)
        if mask is None or not mask.has_room(queries, size):
            shape = of, -(-queries // _QUERIES) * _QUERIES, -(-size * 5 // (4 * _SLOTS)) * _SLOTS
            size_in_bytes = shape[0] * shape[1] * shape[2] * self._model.dtype.itemsize
            kept = queries <= KEPT_QUERIES and size_in_bytes <= KEPT_BYTES
            if not kept:
                rows, shape = range(len(rows)), (len(rows), queries, size)
            mask = Mask(shape, self._windows[kind], self._model.dtype, self._model.device)
            if kept:
                self._kept[kind] = mask
        for row, sight in zip(rows, sights, strict=True):
            mask.write(row, sight)
        return at_rows(mask.values, rows)[:, None, :queries, :size]


class Mask:
    """An additive mask that remembers what is written in it.

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
        """By row and query: slots before this one are too far away."""

    def has_room(self, queries: int, slots: int) -> bool:
        """Whether a pass of this size fits in."""
        return queries <= self.values.shape[1] and slots <= self.values.shape[2]

    def write(self, row: int, sight: Sight) -> None:
        """Make the first queries of a row see what they should."""
        first, end, queries = sight.first, sight.end, len(sight.queries)
        if sight.behind is None and queries == 1:
            first = end  # it sees itself, too
        values = self.values[row]
        if first > self._open[row]:
            values[:, self._open[row] : first] = 0
        if self._used[row] > end:
            values[:, end : self._used[row]] = self._hidden
        if end > first:
            self._write_behind(values[:queries, first:end], sight)
        if self._window is not None:
            self._write_low(values, row, first, np.asarray(sight.queries) - self._window + 1)
        self._open[row], self._used[row] = first, end

    def _write_behind(self, values: torch.Tensor, sight: Sight) -> None:
        if sight.behind is None:
            values.fill_(self._hidden).triu_(1)
            if self._window is not None and self._window < len(values):
                values += torch.full_like(values, self._hidden).tril_(-self._window)
            return
        unseen = ~sight.behind
        if self._window is not None and sight.positions is not None:
            unseen |= np.asarray(sight.queries)[:, None] - sight.positions >= self._window
        self._fill(values, unseen)

    def _write_low(self, values: torch.Tensor, row: int, first: int, low: Positions) -> None:
        """Hide what the window has left behind, where that has changed since the last pass."""
        before = np.minimum(self._low[row], first)
        new = np.full_like(before, low[-1])  # lines not in use now keep up, so as to have no more to do later
        new[: len(low)] = low
        new = new.clip(0, first)
        start, end = min(before.min(), new.min()), max(before.max(), new.max())
        if end > start:
            self._fill(values[:, start:end], np.arange(start, end) < new[:, None])
        self._low[row] = new

    def _fill(self, values: torch.Tensor, unseen: Seen) -> None:
        """Write to a part of the mask; numpy does this several times faster than torch."""
        values.copy_(torch.from_numpy(np.multiply(unseen, np.float32(self._hidden), dtype=np.float32)))
