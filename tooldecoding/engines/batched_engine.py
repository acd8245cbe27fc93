"""Branches in a row of the batch each, for attention models that cannot pack them; forking repeats the cache."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch.nn.functional import pad
from transformers import DynamicCache

from tooldecoding.engines.engine import Feed, Usage
from tooldecoding.engines.language_model import LanguageModel, Wanted
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.engines.prefix_cache import Prefix, PrefixCache
from tooldecoding.engines.tree_attention import AttentionMasks, Sight


@dataclass
class _Branch:
    prompt: int
    length: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)
    """Cache slots [start, end) of its own row that it sees, in the sequence of their positions."""
    dropped: list[tuple[int, int]] = field(default_factory=list)
    """Slots that are to be hidden in its row before the next pass."""


class BatchedEngine:
    """See Engine. A 2-D mask hides padding and dropped tokens; with a sliding window a 4-D mask does.

    Parameters
    ----------
    head : LanguageModel
    prompts : PrefixCache, optional
        Where the beginnings of prompts are looked up and stored.
    """

    can_drop = True

    def __init__(self, head: LanguageModel, prompts: PrefixCache | None = None) -> None:
        self._head = head
        self._stored = prompts
        self._device = head.model.device
        self._masks = AttentionMasks(head.model)
        self._branches: dict[int, _Branch] = {}
        self._usages: list[Usage] = []
        self._unstored: dict[int, tuple[int, ...]] = {}
        self._prefixes: dict[int, Prefix] = {}
        self._rows: list[int] = []
        self._row_of: dict[int, int] = {}
        self._cache: DynamicCache | None = None
        self._visible = torch.zeros((0, 0), dtype=torch.long)
        """Shape (rows, slots), more slots than are in use: 1 for the tokens of the row's branch, 0 elsewhere."""
        self._size = 0
        self._next = 0

    def open(self, count: int) -> list[int]:
        """See Engine."""
        roots = []
        for _ in range(count):
            self._usages.append(Usage())
            roots.append(self._add(_Branch(len(self._usages) - 1)))
        return roots

    def reuse(self, branch: int, tokens: Sequence[int]) -> int:
        """See Engine."""
        if self._stored is None:
            return 0
        root = self._branches[branch]
        self._unstored[root.prompt] = tuple(tokens)
        prefix = self._stored.find(tokens, len(tokens) - 1)
        if prefix is None:
            return 0
        self._prefixes[root.prompt] = prefix
        root.length, root.spans = prefix.count, [(0, prefix.count)]
        self._usages[root.prompt].reused_positions = prefix.count
        return prefix.count

    def fork(self, branch: int) -> int:
        """See Engine."""
        parent = self._branches[branch]
        child = self._add(replace(parent, spans=list(parent.spans), dropped=list(parent.dropped)))
        if branch in self._row_of:
            self._row_of[child] = self._row_of[branch]
        return child

    def _add(self, branch: _Branch) -> int:
        self._next += 1
        self._branches[self._next] = branch
        return self._next

    def release(self, branch: int) -> None:
        """See Engine."""
        del self._branches[branch]
        self._row_of.pop(branch, None)

    def drop(self, branch: int, count: int) -> None:
        """See Engine."""
        holder = self._branches[branch]
        holder.length -= count
        while count:
            start, end = holder.spans.pop()
            kept = max(start, end - count)
            if kept > start:
                holder.spans.append((start, kept))
            holder.dropped.append((kept, end))
            count -= end - kept

    def usage(self, branch: int) -> Usage:
        """See Engine."""
        return self._usages[self._branches[branch].prompt]

    @torch.inference_mode()
    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine; always one forward pass."""
        self._arrange_rows()
        before, width = self._size, max(len(feed.tokens) for feed in feeds)
        tokens, positions, visible = ([[0] * width for _ in self._rows] for _ in range(3))
        wanted: list[Wanted] = []
        for feed in feeds:
            branch, row, size = self._branches[feed.branch], self._row_of[feed.branch], len(feed.tokens)
            tokens[row][:size] = feed.tokens
            positions[row][:size] = range(branch.length, branch.length + size)
            visible[row][:size] = [1] * size
            wanted += [Wanted(row, size - 1 - feed.ahead + i, among) for i, among in enumerate(feed.offers())]
        input_ids, position_ids, new = torch.tensor([tokens, positions, visible], device=self._device).unbind()
        self._show(new)
        arguments = {
            "input_ids": input_ids,
            "attention_mask": self._mask(positions, before),
            "past_key_values": self._cache,
            "use_cache": True,
        }
        if self._head.takes_positions:
            arguments["position_ids"] = position_ids
        flat, output = self._head.forward(arguments, wanted)
        self._cache = output.past_key_values
        for feed in feeds:
            self._record(feed, before)
            self._store(self._branches[feed.branch], self._row_of[feed.branch])
        self._count(feeds, width)
        scores = iter(flat)
        return [[next(scores) for _ in range(feed.ahead + 1)] for feed in feeds]

    def _arrange_rows(self) -> None:
        """Give every live branch its row, and drop the rows of finished ones."""
        wanted = list(self._branches)
        if self._cache is None:
            self._cache = DynamicCache()
            self._visible = torch.zeros((len(wanted), 0), dtype=torch.long, device=self._device)
            self._begin_with_prefixes(wanted)
        elif wanted != self._rows:
            source = torch.tensor([self._row_of[b] for b in wanted], device=self._device)
            if self._size:
                self._cache.reorder_cache(source)
            self._visible = self._visible[source]
            self._masks.forget()
        self._rows = wanted
        self._row_of = {b: row for row, b in enumerate(wanted)}
        for row, branch in enumerate(self._branches.values()):
            for low, high in branch.dropped:
                self._visible[row, low:high] = 0
            branch.dropped = []

    def _begin_with_prefixes(self, branches: Sequence[int]) -> None:
        """Fill the empty cache with the beginnings of prompts that are known."""
        if not self._prefixes or self._cache is None:
            return
        size = max(prefix.count for prefix in self._prefixes.values())
        layers = next(iter(self._prefixes.values())).states
        for number, like in enumerate(layers):
            filled = []
            for which, (heads, _, width) in enumerate(t.shape for t in like):
                states = like[which].new_zeros((len(branches), heads, size, width))
                for row, branch in enumerate(branches):
                    if prefix := self._prefixes.get(self._branches[branch].prompt):
                        states[row, :, : prefix.count] = prefix.states[number][which][:, : prefix.count]
                filled.append(states)
            self._cache.update(*filled, number)
        self._show(torch.tensor([[int(i < self._branches[b].length) for i in range(size)] for b in branches]))
        self._prefixes = {}

    def _show(self, new: torch.Tensor) -> None:
        """Take slots into use; ``new`` has a column for each, and 1 where a row has a token there."""
        start, self._size = self._size, self._size + new.shape[1]
        if self._size > self._visible.shape[1]:
            self._visible = pad(self._visible, (0, 2 * self._size - self._visible.shape[1]))
        self._visible[:, start : self._size] = new

    def _mask(self, positions: Sequence[Sequence[int]], before: int) -> Any:
        if before == 0 or self._masks.window is None:
            return self._visible[:, : self._size]
        rows = range(len(self._rows))
        sights = [self._sight(self._branches[self._rows[row]], positions[row], before) for row in rows]
        return self._masks(rows, len(rows), sights, self._size)

    def _sight(self, branch: _Branch, queries: Sequence[int], before: int) -> Sight:
        """What the queries of a row see: their branch, and those of the pass up to themselves."""
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
        return Sight(first, queries, behind, positions)

    def _record(self, feed: Feed, slot: int) -> None:
        branch = self._branches[feed.branch]
        branch.length += len(feed.tokens)
        start, end = slot, slot + len(feed.tokens)
        if branch.spans and branch.spans[-1][1] == start:
            start, _ = branch.spans.pop()
        branch.spans.append((start, end))

    def _store(self, branch: _Branch, row: int) -> None:
        """Keep a prompt for later requests once it is computed."""
        tokens = self._unstored.pop(branch.prompt, ())
        if not tokens or self._stored is None or self._cache is None or self._stored.knows(tokens):
            return
        slots = torch.tensor([s for low, high in branch.spans for s in range(low, high)], device=self._device)
        slots = slots[: len(tokens)]
        self._stored.store(tokens, [(m.keys[row][:, slots], m.values[row][:, slots]) for m in self._cache.layers])

    def _count(self, feeds: Sequence[Feed], width: int) -> None:
        bytes_per_row = _cache_bytes(self._cache) // len(self._rows)
        for prompt in {self._branches[f.branch].prompt for f in feeds}:
            usage = self._usages[prompt]
            computed = sum(len(f.tokens) for f in feeds if self._branches[f.branch].prompt == prompt)
            rows = sum(branch.prompt == prompt for branch in self._branches.values())
            usage.forward_passes += 1
            usage.positions += computed
            usage.padding += rows * width - computed
            usage.cache_bytes = max(usage.cache_bytes, bytes_per_row * rows)


def _cache_bytes(cache: DynamicCache | None) -> int:
    layers = cache.layers if cache is not None else []
    tensors = [t for layer in layers for t in (getattr(layer, "keys", None), getattr(layer, "values", None))]
    return sum(t.numel() * t.element_size() for t in tensors if t is not None)
