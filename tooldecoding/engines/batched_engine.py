"""Batched engine: one row of the batch for each branch. For attention models that cannot pack; forks copy the cache."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch.nn.functional import pad
from transformers import Cache, DynamicCache

from tooldecoding.engines.engine import BranchId, BranchTable, Feed, Usage
from tooldecoding.engines.language_model import LanguageModel, wanted_by
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.engines.prefix_cache import Prefix, PrefixCache
from tooldecoding.engines.tree_attention import AttentionMasks, VisibleSlots


@dataclass(eq=False)
class _Prompt:
    """A prompt's cost, its tokens until they are in the prefix cache, and its cached prefix until the first pass."""

    usage: Usage = field(default_factory=Usage)
    unstored: tuple[int, ...] = ()
    prefix: Prefix | None = None


@dataclass
class _BatchedBranch:
    prompt: _Prompt
    row: int = 0
    """Its row of the batch, from the first pass on."""
    length: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)
    """Cache slots [start, end) of its row that it sees, in the order of positions."""
    dropped: list[tuple[int, int]] = field(default_factory=list)
    """Slots of its row to hide before the next pass."""

    def append(self, slot: int, count: int) -> None:
        """Add tokens that were written to the slots from ``slot`` on."""
        self.length += count
        start = slot
        if self.spans and self.spans[-1][1] == slot:
            start, _ = self.spans.pop()
        self.spans.append((start, slot + count))

    def drop(self, count: int) -> None:
        """Remove the last tokens."""
        self.length -= count
        while count:
            start, end = self.spans.pop()
            kept = max(start, end - count)
            if kept > start:
                self.spans.append((start, kept))
            self.dropped.append((kept, end))
            count -= end - kept


class BatchedEngine:
    """See Engine. A 2-D mask hides padding and dropped tokens; a 4-D mask if the model has a sliding window.

    Parameters
    ----------
    model : LanguageModel
    prefix_cache : PrefixCache, optional
        Prefixes of prompts are looked up and stored here.
    """

    can_drop = True

    def __init__(self, model: LanguageModel, prefix_cache: PrefixCache | None = None) -> None:
        self._model = model
        self._prefix_cache = prefix_cache
        self._device = model.model.device
        self._masks = AttentionMasks(model.model)
        self._branches: BranchTable[_BatchedBranch] = BranchTable()
        self._cache: DynamicCache | None = None
        self._visible = torch.zeros((0, 0), dtype=torch.long)
        """Shape (rows, slots), with spare slots: 1 for the tokens of the row's branch, 0 elsewhere."""
        self._size = 0
        """Slots in use."""

    def open(self, count: int) -> list[BranchId]:
        """See Engine."""
        return [self._branches.add(_BatchedBranch(_Prompt())) for _ in range(count)]

    def reuse(self, branch: BranchId, tokens: Sequence[int]) -> int:
        """See Engine."""
        if self._prefix_cache is None:
            return 0
        root = self._branches[branch]
        root.prompt.unstored = tuple(tokens)
        prefix = self._prefix_cache.find(tokens, len(tokens) - 1)
        if prefix is None:
            return 0
        root.prompt.prefix = prefix
        root.length, root.spans = prefix.count, [(0, prefix.count)]
        root.prompt.usage.reused_positions = prefix.count
        return prefix.count

    def fork(self, branch: BranchId) -> BranchId:
        """See Engine."""
        parent = self._branches[branch]
        return self._branches.add(replace(parent, spans=list(parent.spans), dropped=list(parent.dropped)))

    def release(self, branch: BranchId) -> None:
        """See Engine."""
        del self._branches[branch]

    def drop(self, branch: BranchId, count: int) -> None:
        """See Engine."""
        self._branches[branch].drop(count)

    def usage(self, branch: BranchId) -> Usage:
        """See Engine."""
        return self._branches[branch].prompt.usage

    @torch.inference_mode()
    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine. Always one forward pass."""
        self._arrange_rows()
        before, width = self._size, max(len(feed.tokens) for feed in feeds)
        arguments = self._arguments(feeds, width)
        wanted = [wanted_by(feed, self._branches[feed.branch].row, len(feed.tokens)) for feed in feeds]
        logits, output = self._model.forward(arguments, wanted)
        self._cache = output.past_key_values
        for feed in feeds:
            branch = self._branches[feed.branch]
            branch.append(before, len(feed.tokens))
            self._store(branch)
        self._count(feeds, width)
        return logits

    def _arguments(self, feeds: Sequence[Feed], width: int) -> dict[str, Any]:
        """Return the model's arguments for a pass, and show each branch its new tokens."""
        before, rows = self._size, range(len(self._branches))
        tokens, positions, visible = ([[0] * width for _ in rows] for _ in range(3))
        for feed in feeds:
            branch, size = self._branches[feed.branch], len(feed.tokens)
            tokens[branch.row][:size] = feed.tokens
            positions[branch.row][:size] = range(branch.length, branch.length + size)
            visible[branch.row][:size] = [1] * size
        input_ids, position_ids, new = torch.tensor([tokens, positions, visible], device=self._device).unbind()
        self._show(new)
        arguments = {
            "input_ids": input_ids,
            "attention_mask": self._mask(positions, before),
            "past_key_values": self._cache,
            "use_cache": True,
        }
        return arguments | ({"position_ids": position_ids} if self._model.takes_positions else {})

    def _arrange_rows(self) -> None:
        """Give each live branch one row, and remove the rows of released branches."""
        branches = list(self._branches.values())
        sources = [branch.row for branch in branches]
        if self._cache is None:
            self._cache = DynamicCache()
            self._visible = torch.zeros((len(branches), 0), dtype=torch.long, device=self._device)
            self._begin_with_prefixes(self._cache)
        elif sources != list(range(len(self._visible))):
            source = torch.tensor(sources, device=self._device)
            if self._size:
                self._cache.reorder_cache(source)
            self._visible = self._visible[source]
            self._masks.forget()
        for row, branch in enumerate(branches):
            branch.row = row
            for low, high in branch.dropped:
                self._visible[row, low:high] = 0
            branch.dropped = []

    def _begin_with_prefixes(self, cache: DynamicCache) -> None:
        """Fill the empty cache with the cached prefixes of the prompts."""
        branches = list(self._branches.values())
        prefixes = {row: branch.prompt.prefix for row, branch in enumerate(branches) if branch.prompt.prefix}
        if not prefixes:
            return
        size = max(prefix.count for prefix in prefixes.values())
        for number, like in enumerate(next(iter(prefixes.values())).states):
            filled = []
            for which, (heads, _, width) in enumerate(t.shape for t in like):
                states = like[which].new_zeros((len(branches), heads, size, width))
                for row, prefix in prefixes.items():
                    states[row, :, : prefix.count] = prefix.states[number][which][:, : prefix.count]
                filled.append(states)
            cache.update(*filled, number)
        self._show(torch.tensor([[int(i < branch.length) for i in range(size)] for branch in branches]))
        for branch in branches:
            branch.prompt.prefix = None

    def _show(self, new: torch.Tensor) -> None:
        """Take slots into use. ``new`` has a column for each of them: 1 if the row has a token there."""
        start, self._size = self._size, self._size + new.shape[1]
        if self._size > self._visible.shape[1]:
            self._visible = pad(self._visible, (0, 2 * self._size - self._visible.shape[1]))
        self._visible[:, start : self._size] = new

    def _mask(self, positions: Sequence[Sequence[int]], before: int) -> Any:
        if before == 0 or self._masks.window is None:
            return self._visible[:, : self._size]
        rows = range(len(self._branches))
        visible = [self._visible_slots(b, positions[b.row], before) for b in self._branches.values()]
        return self._masks(rows, len(rows), visible, self._size)

    def _visible_slots(self, branch: _BatchedBranch, queries: Sequence[int], before: int) -> VisibleSlots:
        """The queries of a row see their branch, and the tokens of the pass up to themselves."""
        spans = branch.spans or [(0, 0)]
        first = spans[0][1] if spans[0][0] == 0 else 0
        behind = np.zeros((len(queries), self._size - first), bool)
        behind[:, before - first :] = np.tri(len(queries), dtype=bool)
        positions = np.zeros(self._size - first, np.int64)
        positions[before - first :] = queries
        known = 0
        for low, high in spans:
            if low >= first:
                behind[:, low - first : high - first] = True
                positions[low - first : high - first] = range(known, known + high - low)
            known += high - low
        return VisibleSlots(first, queries, behind, positions)

    def _store(self, branch: _BatchedBranch) -> None:
        """Copy a computed prompt to the prefix cache."""
        tokens, branch.prompt.unstored = branch.prompt.unstored, ()
        if not tokens or self._prefix_cache is None or self._cache is None or self._prefix_cache.knows(tokens):
            return
        slots = torch.tensor([s for low, high in branch.spans for s in range(low, high)], device=self._device)
        slots, row = slots[: len(tokens)], branch.row
        self._prefix_cache.store(tokens, [(m.keys[row][:, slots], m.values[row][:, slots]) for m in self._cache.layers])

    def _count(self, feeds: Sequence[Feed], width: int) -> None:
        bytes_per_row = cache_bytes(self._cache) // len(self._branches)
        computed: dict[_Prompt, int] = {}
        for feed in feeds:
            prompt = self._branches[feed.branch].prompt
            computed[prompt] = computed.get(prompt, 0) + len(feed.tokens)
        for prompt, positions in computed.items():
            rows = sum(branch.prompt is prompt for branch in self._branches.values())
            usage = prompt.usage
            usage.forward_passes += 1
            usage.positions += positions
            usage.padding += rows * width - positions
            usage.cache_bytes = max(usage.cache_bytes, bytes_per_row * rows)


def cache_bytes(cache: Cache | None) -> int:
    """Return the bytes of a cache's keys and values, as allocated."""
    layers = cache.layers if cache is not None else []
    tensors = [t for layer in layers for t in (getattr(layer, "keys", None), getattr(layer, "values", None))]
    return sum(t.numel() * t.element_size() for t in tensors if t is not None)
