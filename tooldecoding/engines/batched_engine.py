"""Batched engine: a row of the batch and a cache of its own for each branch. For attention models that cannot pack.

The caches are stacked layer by layer for a pass.
"""
# ruff: noqa: D102 - overriding methods are documented in the base class

import math
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from transformers import Cache
from transformers.cache_utils import DynamicLayer

from tooldecoding.engines.attention import AttentionMasks
from tooldecoding.engines.engine import BranchId, BranchTable, Engine, Feed, Need
from tooldecoding.engines.language_model import LanguageModel, wanted_by
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.engines.passes import in_pieces, masked_tokens, padding_worth_a_pass
from tooldecoding.engines.prefix_cache import CachedBranch, CachedPrompt, PrefixCache, States


class StackedCache(Cache):
    """The argument of the model in one pass. Rows end where the new tokens begin, so that distances are right.

    Each layer's states of the branches are replaced by views of the stack, so that two whole caches never coexist.

    Parameters
    ----------
    states : sequence of list
        For each row the keys and values of its branch, which are replaced.
    lengths, sizes : sequence of int
        For each row how many tokens it has, and how many it gets.
    """

    def __init__(self, states: Sequence[States], lengths: Sequence[int], sizes: Sequence[int]) -> None:
        super().__init__(layer_class_to_replicate=DynamicLayer)
        self._states = states
        self.before = max(lengths)
        """Slots in front of the new tokens."""
        self._spans = [(self.before - n, self.before + size) for n, size in zip(lengths, sizes, strict=True)]

    def visible(self, width: int) -> torch.Tensor:
        """Return which slots hold a token of the row, shape (rows, slots), int64, if rows get up to ``width``."""
        slots = torch.arange(self.before + width)
        start, end = torch.tensor(self._spans)[..., None].unbind(1)
        return (slots >= start).logical_and(slots < end).long()

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Stack the states of the branches in front of the new ones."""
        keys, values = (self._stacked(layer_idx, which, new) for which, new in enumerate((key_states, value_states)))
        for row, (states, (start, end)) in enumerate(zip(self._states, self._spans, strict=True)):
            states[layer_idx : layer_idx + 1] = [(keys[row, :, start:end], values[row, :, start:end])]
        return keys, values

    def _stacked(self, number: int, which: int, new: torch.Tensor) -> torch.Tensor:
        if not self.before:
            return new
        rows, heads, width, features = new.shape
        stack = new.new_zeros((rows, heads, self.before + width, features))  # a mask cannot hide NaN
        stack[:, :, self.before :] = new
        for row, (states, (start, _)) in enumerate(zip(self._states, self._spans, strict=True)):
            if start < self.before:
                stack[row, :, start : self.before] = states[number][which]
        return stack

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Return the slots in front of the new tokens."""
        return self.before

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:
        """See Cache."""
        return self.before + query_length, 0


@dataclass(eq=False)
class _BatchedBranch(CachedBranch):
    length: int = 0
    states: States = field(default_factory=list)
    """Keys and values of its tokens. None of them is written to, so that forks share them."""
    in_pass: bool = False
    """Whether they are views of what the latest pass has stacked."""

    def first(self, count: int) -> States:
        """Return the keys and values of its first tokens."""
        return [(keys[:, :count], values[:, :count]) for keys, values in self.states]

    def copied(self, count: int) -> States:
        """Return a copy of the first tokens, which does not keep the whole pass in memory."""
        return [(keys.clone(), values.clone()) for keys, values in self.first(count)]

    def copy_out(self) -> None:
        """Let go of the pass, which is as large as all its rows."""
        if self.in_pass:
            self.states, self.in_pass = self.copied(self.length), False


class BatchedEngine(Engine):
    """See Engine. A 2-D mask hides what is padded; the cache of a branch is copied in each of its passes.

    Parameters
    ----------
    model : LanguageModel
    prefix_cache : PrefixCache, optional
        Prefixes of prompts are looked up and stored here.
    """

    can_roll_back = True
    has_spare_positions = False
    """A branch copies the prompt's cache."""

    def __init__(self, model: LanguageModel, prefix_cache: PrefixCache[States] | None = None) -> None:
        self._model = model
        self._prefix_cache = prefix_cache or PrefixCache(0)
        self.chunk: int | None = padding_worth_a_pass(model.device)
        self._window = AttentionMasks(model.model).window
        self._branches: BranchTable[_BatchedBranch] = BranchTable()
        self._slot_bytes = 0
        self._stacked = 0
        """Slots of all rows of the latest pass."""

    def bytes_for(self, needs: Sequence[Need]) -> float:
        """See Engine. Each branch has a row, as long as the longest one."""
        rows = sum(max(1, need.branches) for need in needs)
        slots = max(need.shared + need.each for need in needs)
        return rows * slots * self._slot_bytes if self._slot_bytes else math.inf

    @property
    def allocated_bytes(self) -> int:
        branches = self._branches.values()
        slots = self._stacked * any(branch.in_pass for branch in branches)
        return self._slot_bytes * (slots + sum(branch.length for branch in branches if not branch.in_pass))

    def open(self, count: int) -> list[BranchId]:
        return [self._branches.add(_BatchedBranch(CachedPrompt(self._prefix_cache))) for _ in range(count)]

    def reuse(self, branch: BranchId, tokens: Sequence[int]) -> int:
        root = self._branches[branch]
        prefix = root.prompt.announce(tokens)
        if prefix is None:
            return 0
        root.length, root.states = prefix
        root.states = root.first(root.length)
        return root.length

    def fork(self, branch: BranchId) -> BranchId:
        parent = self._branches[branch]
        return self._branches.add(replace(parent, states=list(parent.states)), branch)

    def drop(self, branch: BranchId, count: int) -> None:
        dropping = self._branches[branch]
        dropping.length -= count
        dropping.states = dropping.first(dropping.length)

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine. One forward pass, but long prompts whose attention needs a mask are fed in pieces."""
        logits: dict[BranchId, list[NextTokenLogits]] = {}
        for together in in_pieces(feeds, self._most_tokens(feeds)):
            logits = dict(zip([feed.branch for feed in together], self._extend(together), strict=True))
        return [logits[feed.branch] for feed in feeds]

    def _most_tokens(self, feeds: Sequence[Feed]) -> int:
        """Return how many tokens a pass may feed to each branch."""
        lengths = [self._branches[feed.branch].length for feed in feeds]
        widths = {len(feed.tokens) for feed in feeds}
        if len(widths) == 1 and not any(lengths) and self._window is None:
            return sys.maxsize
        slots = max(lengths) + max(widths)
        return masked_tokens(len(feeds) * slots * self._model.model.dtype.itemsize)

    @torch.inference_mode()
    def _extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        fed = [self._branches[feed.branch] for feed in feeds]
        for branch in set(self._branches.values()).difference(fed):
            branch.copy_out()
        lengths, sizes = [branch.length for branch in fed], [len(feed.tokens) for feed in feeds]
        cache, width = StackedCache([branch.states for branch in fed], lengths, sizes), max(sizes)
        tokens = [[*feed.tokens, *[0] * (width - len(feed.tokens))] for feed in feeds]
        positions = [[*range(n, n + size), *[0] * (width - size)] for n, size in zip(lengths, sizes, strict=True)]
        input_ids, position_ids = torch.tensor([tokens, positions], device=self._model.device).unbind()
        arguments = {
            "input_ids": input_ids,
            "attention_mask": cache.visible(width).to(self._model.device),
            "past_key_values": cache,
            "use_cache": True,
        }
        arguments |= {"position_ids": position_ids} if self._model.takes_positions else {}
        wanted = [wanted_by(feed, row, len(feed.tokens)) for row, feed in enumerate(feeds)]
        logits = self._model.forward(arguments, wanted)
        self._slot_bytes = sum(t[:, 0].nbytes for pair in fed[0].states for t in pair)
        self._stacked = len(fed) * (cache.before + width)
        for feed, branch in zip(feeds, fed, strict=True):
            branch.in_pass = True
            branch.length += len(feed.tokens)
            branch.note(branch.length, feed.tokens, branch.copied)
        self._count(feeds, width, cache.before + width)
        return logits

    def _count(self, feeds: Sequence[Feed], width: int, slots: int) -> None:
        live = Counter(branch.prompt for branch in self._branches.values() if branch.length)
        for feed in feeds:
            usage = self._branches[feed.branch].prompt.usage
            usage.positions += len(feed.tokens)
            usage.padding += width - len(feed.tokens)
        for prompt in {self._branches[feed.branch].prompt for feed in feeds}:
            prompt.usage.forward_passes += 1
            prompt.usage.cache_bytes = max(prompt.usage.cache_bytes, live[prompt] * slots * self._slot_bytes)
