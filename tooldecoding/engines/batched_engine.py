"""Batched engine: one row of the batch for each branch. For attention models that cannot pack; forks copy the cache."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
import torch

from tooldecoding.engines.batched_cache import BatchedCache
from tooldecoding.engines.engine import BranchId, BranchTable, Feed, Need, Usage
from tooldecoding.engines.feed_pieces import in_pieces, masked_tokens
from tooldecoding.engines.language_model import LanguageModel, wanted_by
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.engines.pass_cost import padding_worth_a_pass
from tooldecoding.engines.prefix_cache import CachedPrompt, Prefix, PrefixCache
from tooldecoding.engines.tree_attention import AttentionMasks, VisibleSlots

_SPARSE = 2
"""Rows are compacted when more slots are in use than this many times the tokens of the longest row."""


@dataclass
class _BatchedBranch:
    prompt: CachedPrompt
    row: int | None = None
    """Its row of the batch, from its first pass on. A branch forked since has its parent's until the next pass."""
    prefix: Prefix | None = None
    """Its cached prefix, until it has a row."""
    as_announced: bool = True
    """Whether all its tokens so far are those of the announced prompt."""
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
    has_spare_positions = False
    """A branch copies the prompt's cache."""

    def __init__(self, model: LanguageModel, prefix_cache: PrefixCache | None = None) -> None:
        self._model = model
        self._prefix_cache = prefix_cache or PrefixCache(0)
        self._device = model.device
        self.chunk: int | None = padding_worth_a_pass(self._device)
        self._masks = AttentionMasks(model.model)
        self._branches: BranchTable[_BatchedBranch] = BranchTable()
        self._rows: list[_BatchedBranch] = []
        """The branch in each row of the last pass."""
        self._cache = BatchedCache(self._device)

    def bytes_for(self, needs: Sequence[Need]) -> float:
        """See Engine. Each branch has a row, with the shared positions and up to as many that are in use no more."""
        rows = sum(max(1, need.branches) for need in needs)
        slots = _SPARSE * max(need.shared + need.each for need in needs)
        return rows * slots * self._cache.slot_bytes if self._cache.slot_bytes else math.inf

    @property
    def allocated_bytes(self) -> int:
        """See Engine."""
        return self._cache.allocated_bytes

    def open(self, count: int) -> list[BranchId]:
        """See Engine."""
        return [self._branches.add(_BatchedBranch(CachedPrompt(self._prefix_cache))) for _ in range(count)]

    def close(self, root: BranchId) -> None:
        """See Engine."""
        for branch in self._branches.of(root):
            self.release(branch)

    def reuse(self, branch: BranchId, tokens: Sequence[int]) -> int:
        """See Engine."""
        root = self._branches[branch]
        prefix = root.prompt.announce(tokens)
        if prefix is None:
            return 0
        root.prefix = prefix
        root.length, root.spans = prefix.count, [(0, prefix.count)]
        return prefix.count

    def fork(self, branch: BranchId) -> BranchId:
        """See Engine."""
        parent = self._branches[branch]
        return self._branches.add(replace(parent, spans=list(parent.spans), dropped=list(parent.dropped)), branch)

    def release(self, branch: BranchId) -> None:
        """See Engine."""
        self._branches.remove(branch)
        if not self._branches:
            self._rows = []
            self._cache.clear()

    def drop(self, branch: BranchId, count: int) -> None:
        """See Engine."""
        self._branches[branch].drop(count)

    def usage(self, branch: BranchId) -> Usage:
        """See Engine."""
        return self._branches[branch].prompt.usage

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine. One forward pass, but long prompts whose attention needs a mask are fed in pieces."""
        logits: dict[BranchId, list[NextTokenLogits]] = {}
        for together in in_pieces(feeds, self._most_tokens(feeds)):
            logits = dict(zip([feed.branch for feed in together], self._extend(together), strict=True))
        return [logits[feed.branch] for feed in feeds]

    def _most_tokens(self, feeds: Sequence[Feed]) -> int:
        """Return how many tokens a pass may feed to each branch."""
        widths = {len(feed.tokens) for feed in feeds}
        cached = any(self._branches[feed.branch].length for feed in feeds)
        if len(widths) == 1 and not cached and not self._cache.size and self._masks.window is None:
            return sys.maxsize
        slots = max(self._branches[feed.branch].length + len(feed.tokens) for feed in feeds)
        return masked_tokens(len(self._branches) * max(slots, self._cache.size) * self._model.model.dtype.itemsize)

    @torch.inference_mode()
    def _extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        fed = [self._branches[feed.branch] for feed in feeds]
        rows = self._arrange_rows(fed)
        before, width = self._cache.size, max(len(feed.tokens) for feed in feeds)
        arguments = self._arguments(feeds, rows, width)
        wanted = [wanted_by(feed, row, len(feed.tokens)) for feed, row in zip(feeds, rows, strict=True)]
        logits, output = self._model.forward(arguments, wanted)
        self._cache.states = output.past_key_values
        self._cache.measure()
        for feed, branch, row in zip(feeds, fed, rows, strict=True):
            branch.append(before, len(feed.tokens))
            self._store(branch, row, feed.tokens)
        self._count(feeds, width)
        return logits

    def _arguments(self, feeds: Sequence[Feed], rows: Sequence[int], width: int) -> dict[str, Any]:
        """Return the model's arguments for a pass, and show each branch its new tokens."""
        before = self._cache.size
        tokens, positions, visible = ([[0] * width for _ in self._rows] for _ in range(3))
        for feed, row in zip(feeds, rows, strict=True):
            length, size = self._rows[row].length, len(feed.tokens)
            tokens[row][:size] = feed.tokens
            positions[row][:size] = range(length, length + size)
            visible[row][:size] = [1] * size
        input_ids, position_ids, new = torch.tensor([tokens, positions, visible], device=self._device).unbind()
        self._cache.show(new)
        arguments = {
            "input_ids": input_ids,
            "attention_mask": self._mask(positions, before),
            "past_key_values": self._cache.states,
            "use_cache": True,
        }
        return arguments | ({"position_ids": position_ids} if self._model.takes_positions else {})

    def _arrange_rows(self, fed: Sequence[_BatchedBranch]) -> list[int]:
        """Give each live branch that has tokens or gets some one row; return the rows of those that are fed.

        The rows of released branches are removed.
        """
        feeding = set(map(id, fed))
        branches = [b for b in self._branches.values() if b.row is not None or id(b) in feeding]
        sources = [branch.row for branch in branches]
        self._rows = branches
        if sources != list(range(len(self._cache.visible))):
            self._cache.arrange(sources)
        for row, branch in enumerate(branches):
            branch.row = row
            self._cache.hide(row, branch.dropped)
            branch.dropped = []
        self._compact()
        prefixes = {row: branch.prefix for row, branch in enumerate(branches) if branch.prefix}
        if prefixes:
            self._cache.fill(prefixes)
        for branch in branches:
            branch.prefix = None
        row_of = {id(branch): row for row, branch in enumerate(branches)}
        return [row_of[id(branch)] for branch in fed]

    def _compact(self) -> None:
        """Remove slots that no row sees, if they are too many."""
        longest = max(branch.length for branch in self._rows)
        if self._cache.size <= _SPARSE * longest:
            return
        self._cache.compact([[] if branch.prefix else branch.spans for branch in self._rows])
        for branch in self._rows:
            branch.spans = [(0, branch.length)] if branch.length else []

    def _mask(self, positions: Sequence[Sequence[int]], before: int) -> Any:
        if before == 0 or self._masks.window is None:
            return self._cache.visible[:, : self._cache.size]
        visible = [self._visible_slots(branch, positions[row], before) for row, branch in enumerate(self._rows)]
        return self._masks.argument(self._masks(visible, self._cache.size))

    def _visible_slots(self, branch: _BatchedBranch, queries: Sequence[int], before: int) -> VisibleSlots:
        """The queries of a row see their branch, and the tokens of the pass up to themselves."""
        spans = branch.spans or [(0, 0)]
        first = spans[0][1] if spans[0][0] == 0 else 0
        behind = np.zeros((len(queries), self._cache.size - first), bool)
        behind[:, before - first :] = np.tri(len(queries), dtype=bool)
        positions = np.zeros(self._cache.size - first, np.int64)
        positions[before - first :] = queries
        known = 0
        for low, high in spans:
            if low >= first:
                behind[:, low - first : high - first] = True
                positions[low - first : high - first] = range(known, known + high - low)
            known += high - low
        return VisibleSlots(first, queries, behind, positions)

    def _store(self, branch: _BatchedBranch, row: int, fed: Sequence[int]) -> None:
        """Copy a prompt to the prefix cache as soon as all its tokens are computed."""
        branch.as_announced &= branch.prompt.is_continued(branch.length, fed)
        if branch.as_announced:
            slots = (slot for low, high in branch.spans for slot in range(low, high))
            branch.prompt.store(branch.length, lambda count: self._cache.read(row, list(islice(slots, count))))

    def _count(self, feeds: Sequence[Feed], width: int) -> None:
        bytes_per_row = self._cache.allocated_bytes // len(self._rows)
        computed: dict[CachedPrompt, int] = {}
        for feed in feeds:
            prompt = self._branches[feed.branch].prompt
            computed[prompt] = computed.get(prompt, 0) + len(feed.tokens)
        for prompt, positions in computed.items():
            rows = sum(branch.prompt is prompt for branch in self._rows)
            usage = prompt.usage
            usage.forward_passes += 1
            usage.positions += positions
            usage.padding += rows * width - positions
            usage.cache_bytes = max(usage.cache_bytes, bytes_per_row * rows)
