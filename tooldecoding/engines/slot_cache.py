"""The KV cache of the packed engine: numbered slots, written in place. Adding a token copies nothing."""

import math
import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import torch
from transformers import Cache
from transformers.cache_utils import DynamicLayer

CHUNK = 64
"""Slots are taken into use in chunks of this size."""


class RowRun(NamedTuple):
    """Rows of a pass that are computed together.

    Attributes
    ----------
    rows : sequence of int
        Rows of the cache, ascending.
    start : int
        Where its tokens begin in the line of a ragged pass.
    width : int
        Tokens of each row, with padding.
    size : int
        The run may see the slots before this one.
    fresh : bool
        Whether these rows are empty: each sees only its own tokens, causally.
    """

    rows: Sequence[int]
    start: int
    width: int
    size: int
    fresh: bool

    @property
    def tokens(self) -> int:
        """Tokens of all rows, with padding."""
        return len(self.rows) * self.width

    def of(self, line: torch.Tensor) -> torch.Tensor:
        """Return its part, of shape (rows, heads, width, features), of a line of shape (1, heads, tokens, features)."""
        _, heads, _, features = line.shape
        part = line[0, :, self.start : self.start + self.tokens]
        return part.view(heads, len(self.rows), self.width, features).transpose(0, 1)


class Placement(NamedTuple):
    """Where the cache stores the tokens of a pass.

    Attributes
    ----------
    row_of, slots : torch.Tensor
        Of each token; int64, of shape (rows, width), or (1, tokens) in a ragged pass.
    runs : sequence of RowRun
        More than one in a ragged pass.
    """

    row_of: torch.Tensor
    slots: torch.Tensor
    runs: Sequence[RowRun]


def at_rows(tensor: torch.Tensor, rows: Sequence[int]) -> torch.Tensor:
    """Select rows of a tensor, given in ascending order. Returns a view if they are adjacent."""
    first, last = rows[0], rows[-1]
    return tensor[first : last + 1] if last - first + 1 == len(rows) else tensor[list(rows)]


class _Layer(DynamicLayer):
    """Keys and values, each of shape (rows, heads, slots, width)."""

    def __init__(self, owner: "SlotCache") -> None:
        super().__init__()
        self.is_initialized: bool = False
        self._owner = owner  # a proxy: a cycle would keep the memory until the next garbage collection

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write the tokens of the pass into their slots; return the keys and values that the pass may see."""
        if not self.is_initialized:
            self.begin(key_states, value_states)
        self._place(self.keys, key_states)
        self._place(self.values, value_states)
        runs = self._owner.placement.runs
        if len(runs) > 1:
            self._owner.seen = [self._seen(run, run.of(key_states), run.of(value_states)) for run in runs]
            return key_states, value_states
        return self._seen(runs[0], key_states, value_states)

    def begin(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Allocate buffers for states of this shape."""
        self.keys, self.values = (self._owner.room_for(s) for s in (key_states, value_states))
        self.is_initialized = True
        self._owner.slot_bytes += sum(s[0, :, 0].nbytes for s in (key_states, value_states))

    def _place(self, stored: torch.Tensor, new: torch.Tensor) -> None:
        row_of, slots, runs = self._owner.placement
        if len(runs) == len(runs[0].rows) == 1:
            at_rows(stored, runs[0].rows).index_copy_(2, slots[0].to(stored.device), new)
        else:
            stored.transpose(1, 2)[row_of.to(stored.device), slots.to(stored.device)] = new.transpose(1, 2)

    def _seen(self, run: RowRun, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the keys and values that a run may see; those given are its new ones."""
        if run.fresh:
            return keys, values
        return at_rows(self.keys[:, :, : run.size], run.rows), at_rows(self.values[:, :, : run.size], run.rows)

    def get_seq_length(self) -> int:
        """Return 0: only passes on empty rows have no mask."""
        return 0

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """See CacheLayerMixin. Called only in passes on empty rows."""
        return query_length, 0


class SlotCache(Cache):
    """Keys and values of all rows. Slots that no pass has written since they were cleared are zero.

    That holds for spare rows, too: a mask can hide any number, but not NaN.

    Attributes
    ----------
    placement : Placement
        Set before each pass.
    seen : sequence of (torch.Tensor, torch.Tensor)
        In a ragged pass: the keys and values that each run may see in the latest layer.
    rows : int
        Allocated rows, in use or spare.
    slots : int
        Slots of each row in use. On the CPU more are reserved, because the system provides memory only when it is
        touched.
    slot_bytes : int
        Bytes of one slot in one row in all layers; 0 until a pass.
    """

    placement: Placement
    seen: Sequence[tuple[torch.Tensor, torch.Tensor]]

    def __init__(self, device: torch.device) -> None:
        super().__init__(layer_class_to_replicate=partial(_Layer, cast(SlotCache, weakref.proxy(self))))
        self.rows = 0
        self.slots = 0
        self.slot_bytes = 0
        self._reserved = 2 if device.type == "cpu" else 1
        self._capacity = 0

    def room_for(self, states: torch.Tensor) -> torch.Tensor:
        """Allocate a buffer for states of shape (rows of the pass, heads, tokens, width)."""
        _, heads, _, width = states.shape
        buffer = states.new_empty((self.rows, heads, self._capacity, width))
        buffer[:, :, : self.slots] = 0
        return buffer

    def reserve(self, rows: int, slots: int) -> None:
        """Provide at least so many rows, each with at least so many slots."""
        self._resize(*self._provided(rows, slots))

    def bytes_with(self, rows: int, slots: int) -> float:
        """Return the bytes of all rows behind ``reserve``; infinity if those of a slot are not known yet."""
        rows, slots = self._provided(rows, slots)
        return rows * slots * self.slot_bytes if self.slot_bytes else math.inf

    def _provided(self, rows: int, slots: int) -> tuple[int, int]:
        """Return the rows and slots that there are if so many are demanded."""
        if rows > self.rows:
            rows = max(rows, self.rows * 3 // 2)
        if slots > self.slots and self._reserved == 1:  # a GPU copies all rows to make them longer
            slots = max(slots, self.slots * 9 // 8)
        return max(rows, self.rows), max(_in_chunks(slots), self.slots)

    def fit(self, rows: int, slots: int) -> None:
        """Give memory back if less than a quarter of the rows or slots is needed."""
        slots = _in_chunks(slots)
        kept_rows = rows if 4 * rows < self.rows else self.rows
        kept_slots = slots if 4 * slots < self.slots else self.slots
        self._resize(kept_rows, kept_slots)

    @torch.inference_mode()
    def _resize(self, rows: int, slots: int) -> None:
        old_rows, old_slots, old_capacity = self.rows, self.slots, self._capacity
        self.rows, self.slots = rows, slots
        if slots > self._capacity or slots < old_slots:
            self._capacity = slots * self._reserved
        moves = (rows, self._capacity) != (old_rows, old_capacity)
        if not moves and slots == old_slots:
            return
        kept_rows, kept_slots = min(rows, old_rows), min(slots, old_slots)
        for layer, name in self._places():
            tensor = getattr(layer, name)
            if moves:
                _, heads, _, width = tensor.shape
                new = tensor.new_empty((rows, heads, self._capacity, width))
                new[:kept_rows, :, :kept_slots] = tensor[:kept_rows, :, :kept_slots]
                new[kept_rows:, :, :kept_slots] = 0
                setattr(layer, name, new)
                tensor = new
            tensor[:, :, kept_slots:slots] = 0

    @torch.inference_mode()
    def clear(self, row: int, count: int) -> None:
        """Zero the first slots of a row, all that were written."""
        for layer, name in self._places():
            getattr(layer, name)[row, :, :count] = 0

    @torch.inference_mode()
    def move(self, source: int, target: int, count: int) -> None:
        """Move the first slots of a row, all that were written, to a row that was cleared."""
        for layer, name in self._places():
            tensor = getattr(layer, name)
            tensor[target, :, :count] = tensor[source, :, :count]
        self.clear(source, count)

    def read(self, row: int, slots: Sequence[int]) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Copy the keys and values of some slots, each of shape (heads, slots, width), layer by layer."""
        at = torch.tensor(slots)
        pairs = [(layer.keys[row], layer.values[row]) for layer in self._filled()]
        return [(keys[:, at.to(keys.device)], values[:, at.to(values.device)]) for keys, values in pairs]

    @torch.inference_mode()
    def write(self, row: int, count: int, states: list[tuple[torch.Tensor, torch.Tensor]]) -> None:
        """Fill the first ``count`` slots of a row with states that ``read`` returned."""
        for number, (keys, values) in enumerate(states):
            while len(self.layers) <= number:
                self.layers.append(_Layer(cast(SlotCache, weakref.proxy(self))))
            layer = self.layers[number]
            if not layer.is_initialized:
                layer.begin(keys[None], values[None])
            layer.keys[row, :, :count], layer.values[row, :, :count] = keys[:, :count], values[:, :count]

    @property
    def bytes_per_row(self) -> int:
        """Bytes of one row's slots."""
        return self.slots * self.slot_bytes

    @property
    def allocated_bytes(self) -> int:
        """Bytes of all rows' slots in use, with spare rows."""
        return self.rows * self.bytes_per_row

    def _places(self) -> list[tuple[_Layer, str]]:
        """Return where the tensors are. They are replaced one at a time, so that two whole caches never coexist."""
        return [(layer, name) for layer in self._filled() for name in ("keys", "values")]

    def _filled(self) -> list[_Layer]:
        return [layer for layer in self.layers if layer.is_initialized]


def _in_chunks(slots: int) -> int:
    return -(-slots // CHUNK) * CHUNK
