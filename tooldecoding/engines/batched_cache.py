"""The KV cache of the batched engine: one row for each branch. All rows have as many slots, used or not."""

from collections.abc import Mapping, Sequence

import torch
from torch.nn.functional import pad
from transformers import Cache, DynamicCache
from transformers.cache_utils import DynamicLayer

from tooldecoding.engines.prefix_cache import Prefix, States

Spans = Sequence[tuple[int, int]]
"""Slots [start, end) of a row that its branch sees, in the order of positions."""


class BatchedCache:
    """Keys and values, and which of them each row sees.

    Attributes
    ----------
    states : DynamicCache
        The argument of the model.
    visible : torch.Tensor
        Shape (rows, slots), int64, with spare slots: 1 for the tokens of the row's branch, 0 elsewhere.
    size : int
        Slots in use.
    slot_bytes : int
        Bytes of one slot in one row in all layers; 0 before the first pass.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self.slot_bytes = 0
        self.clear()

    def clear(self) -> None:
        """Remove all rows."""
        self.states = DynamicCache()
        self.visible = torch.zeros((0, 0), dtype=torch.long, device=self._device)
        self.size = 0

    @property
    def allocated_bytes(self) -> int:
        """Bytes of all keys and values."""
        return cache_bytes(self.states)

    def show(self, new: torch.Tensor) -> None:
        """Take slots into use. ``new`` has a column for each of them: 1 if the row has a token there."""
        start, self.size = self.size, self.size + new.shape[1]
        if self.size > self.visible.shape[1]:
            self.visible = pad(self.visible, (0, 2 * self.size - self.visible.shape[1]))
        self.visible[:, start : self.size] = new

    def hide(self, row: int, spans: Spans) -> None:
        """Hide slots of a row."""
        for low, high in spans:
            self.visible[row, low:high] = 0

    def measure(self) -> None:
        """Find the bytes of a slot, after a pass."""
        if self.slot_bytes == 0:
            self.slot_bytes = self.allocated_bytes // self.visible.shape[0] // self.size

    def arrange(self, sources: Sequence[int | None]) -> None:
        """Make each row a copy of the row ``sources`` names; rows with None are new and empty."""
        if all(source is None for source in sources):
            self.clear()
            self.visible = self.visible.new_zeros((len(sources), 0))
            return
        rows = torch.tensor([source or 0 for source in sources], device=self._device)
        empty = [row for row, source in enumerate(sources) if source is None]
        self.visible = self.visible[rows]
        self.visible[empty] = 0
        for layer, name in self._places():
            states = getattr(layer, name)
            states = states[rows.to(states.device)]
            states[empty] = 0  # what stands there may be NaN, which a mask cannot hide
            setattr(layer, name, states)

    def compact(self, spans: Sequence[Spans]) -> None:
        """Keep only the slots that each row sees, moved to the left in the order of positions."""
        seen = [[slot for low, high in row for slot in range(low, high)] for row in spans]
        self.size = max(map(len, seen))
        slots = torch.tensor([[*row, *[0] * (self.size - len(row))] for row in seen], dtype=torch.long)
        lengths = torch.tensor([len(row) for row in seen], device=self._device)
        self.visible = (torch.arange(self.size, device=self._device) < lengths[:, None]).long()
        for layer, name in self._places():
            states = getattr(layer, name)
            _, heads, _, width = states.shape
            taken = slots.to(states.device)[:, None, :, None].expand(-1, heads, -1, width)
            setattr(layer, name, states.gather(2, taken))

    def fill(self, prefixes: Mapping[int, Prefix]) -> None:
        """Write cached prefixes into the first slots of new rows."""
        size = max(self.size, *(prefix.count for prefix in prefixes.values()))
        self.show(self.visible.new_zeros((len(self.visible), size - self.size)))
        for row, prefix in prefixes.items():
            self.visible[row, : prefix.count] = 1
        for number, like in enumerate(next(iter(prefixes.values())).states):
            if number == len(self.states.layers):
                self.states.update(*(t.new_zeros((len(self.visible), len(t), 0, t.shape[2])) for t in like), number)
            layer = self.states.layers[number]
            for which, name in enumerate(("keys", "values")):
                states = pad(getattr(layer, name), (0, 0, 0, size - getattr(layer, name).shape[2]))
                for row, prefix in prefixes.items():
                    states[row, :, : prefix.count] = prefix.states[number][which][:, : prefix.count]
                setattr(layer, name, states)

    def read(self, row: int, slots: Sequence[int]) -> States:
        """Copy the keys and values of some slots."""
        return [(layer.keys[row][:, slots], layer.values[row][:, slots]) for layer in self._layers()]

    def _places(self) -> list[tuple[DynamicLayer, str]]:
        """Return where the tensors are. They are replaced one at a time, so that two whole caches never coexist."""
        return [(layer, name) for layer in self._layers() for name in ("keys", "values")]

    def _layers(self) -> list[DynamicLayer]:
        return [layer for layer in self.states.layers if layer.is_initialized]


def cache_bytes(cache: Cache | None) -> int:
    """Return the bytes of a cache's keys and values, as allocated."""
    layers = cache.layers if cache is not None else []
    tensors = [t for layer in layers for t in (getattr(layer, "keys", None), getattr(layer, "values", None))]
    return sum(t.numel() * t.element_size() for t in tensors if t is not None)
