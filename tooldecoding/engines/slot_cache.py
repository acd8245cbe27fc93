"""A KV cache of numbered slots that is written in place: nothing is copied when a token is added."""

import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import torch
from transformers import Cache
from transformers.cache_utils import DynamicLayer

CHUNK = 64
"""Slots are taken into use so many at once."""


class Placement(NamedTuple):
    """Where the tokens of a pass go.

    Attributes
    ----------
    rows : sequence of int
        Rows of the cache, ascending.
    row_of : torch.Tensor
        The same; shape (rows of the pass, 1), int64.
    slots : torch.Tensor
        Shape (rows of the pass, width), int64: the slot of each token.
    size : int
        Slots that the pass may see: all from 0 on.
    fresh : bool
        Nothing stands in these rows yet: the pass sees its own tokens alone, causally.
    """

    rows: Sequence[int]
    row_of: torch.Tensor
    slots: torch.Tensor
    size: int
    fresh: bool


def at_rows(tensor: torch.Tensor, rows: Sequence[int]) -> torch.Tensor:
    """Some rows of a tensor, ascending; a view where they lie side by side."""
    first, last = rows[0], rows[-1]
    return tensor[first : last + 1] if last - first + 1 == len(rows) else tensor[list(rows)]


class _Layer(DynamicLayer):
    """Keys and values, each of shape (rows, heads, slots, width)."""

    def __init__(self, owner: "SlotCache") -> None:
        super().__init__()
        self.is_initialized: bool = False
        self._owner = owner  # a proxy: a cycle would keep the memory until Python looks for cycles

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write the tokens of the pass into their slots; keys and values that the pass may see."""
        if not self.is_initialized:
            self.begin(key_states, value_states)
        return self._place(self.keys, key_states), self._place(self.values, value_states)

    def begin(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Make room for such states."""
        self.keys, self.values = (self._owner.room_for(s) for s in (key_states, value_states))
        self.is_initialized = True
        self._owner.slot_bytes += sum(s[0, :, 0].nbytes for s in (key_states, value_states))

    def _place(self, stored: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        rows, row_of, slots, size, fresh = self._owner.placement
        if len(rows) == 1:
            at_rows(stored, rows).index_copy_(2, slots[0], new)
        else:
            stored.transpose(1, 2)[row_of, slots] = new.transpose(1, 2)
        return new if fresh else at_rows(stored[:, :, :size], rows)

    def get_seq_length(self) -> int:
        """Always 0: a pass without a mask is a fresh one."""
        return 0

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """See CacheLayerMixin; asked for by fresh passes alone."""
        return query_length, 0


class SlotCache(Cache):
    """The cache of all rows.

    Attributes
    ----------
    placement : Placement
        Set before each pass.
    rows : int
    slots : int
        Of each row, that are in use so far. On the CPU memory is reserved for more, which the system gives only when
        it is touched; elsewhere for no more.
    slot_bytes : int
        Of keys and values of a slot, all layers together.
    """

    placement: Placement

    def __init__(self, rows: int, device: torch.device) -> None:
        super().__init__(layer_class_to_replicate=partial(_Layer, cast(SlotCache, weakref.proxy(self))))
        self.rows = rows
        self.slots = 0
        self.slot_bytes = 0
        self._device = device
        self._reserved = 2 if device.type == "cpu" else 1
        self._capacity = 0

    def room_for(self, states: torch.Tensor) -> torch.Tensor:
        """An empty buffer for states of shape (rows of the pass, heads, tokens, width)."""
        _, heads, _, width = states.shape
        buffer = states.new_empty((self.rows, heads, self._capacity, width))
        self._clear(buffer, 0)
        return buffer

    def _clear(self, buffer: torch.Tensor, start: int) -> None:
        """Several rows are not filled evenly, and what is masked may be no NaN; one row is, up to its last slot."""
        if self.rows > 1:
            buffer[:, :, start : self.slots] = 0

    def reserve(self, slots: int) -> None:
        """Make room for at least ``slots`` slots in each row."""
        if slots <= self.slots:
            return
        before, self.slots = self.slots, -(-slots // CHUNK) * CHUNK
        grows = self.slots > self._capacity
        if grows:
            self._capacity = self.slots * self._reserved
        for layer, name in self._places():
            tensor = getattr(layer, name)
            if grows:
                _, heads, _, width = tensor.shape
                new = tensor.new_empty((self.rows, heads, self._capacity, width))
                new[:, :, :before] = tensor[:, :, :before]
                setattr(layer, name, new)
                tensor = new
            self._clear(tensor, before)

    def keep_rows(self, rows: Sequence[int]) -> None:
        """Keep these rows alone, in this sequence."""
        self.rows = len(rows)
        for layer, name in self._places():
            old = getattr(layer, name)
            new = self.room_for(old)
            new[:, :, : self.slots] = old[list(rows), :, : self.slots]
            setattr(layer, name, new)

    def read(self, row: int, slots: Sequence[int]) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Copies of keys and values of some slots, each of shape (heads, slots, width), layer by layer."""
        at = torch.tensor(slots, device=self._device)
        return [(layer.keys[row][:, at], layer.values[row][:, at]) for layer in self._filled()]

    def write(self, row: int, count: int, states: list[tuple[torch.Tensor, torch.Tensor]]) -> None:
        """Fill the first ``count`` slots of a row with what ``read`` gave."""
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

    def _places(self) -> list[tuple[_Layer, str]]:
        """Where the tensors are; one at a time is replaced, so that no two whole caches are held."""
        return [(layer, name) for layer in self._filled() for name in ("keys", "values")]

    def _filled(self) -> list[_Layer]:
        return [layer for layer in self.layers if layer.is_initialized]
