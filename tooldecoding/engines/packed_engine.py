"""Packed engine (tree attention): all branches of a prompt share one row and one copy of the prompt's KV cache.

A 4-D attention mask lets each branch see the prompt and its own tokens only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import torch

from tooldecoding.engines.engine import BranchId, BranchTable, Feed, Usage
from tooldecoding.engines.language_model import LanguageModel, wanted_by
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.engines.packed_row import PackedRow, RowBranch, RowFeed, RowLayout
from tooldecoding.engines.prefix_cache import PrefixCache
from tooldecoding.engines.slot_cache import Placement, SlotCache
from tooldecoding.engines.tree_attention import AttentionMasks

PADDING_WORTH_A_PASS = {"cpu": 32}
"""By device type: how many padding positions cost as much as a forward pass."""
_ON_OTHER_DEVICES = 512


@dataclass(eq=False)
class _Prompt:
    """A prompt's row, its cost, and its tokens until they are in the prefix cache."""

    row: PackedRow = field(default_factory=PackedRow)
    usage: Usage = field(default_factory=Usage)
    unstored: tuple[int, ...] = ()


class _PackedBranch(NamedTuple):
    """A branch, and the prompt whose row holds it."""

    prompt: _Prompt
    in_row: RowBranch


class PackedEngine:
    """See Engine.

    Parameters
    ----------
    model : LanguageModel
        A model that takes 4-D attention masks and position ids.
    prefix_cache : PrefixCache, optional
        Prefixes of prompts are looked up and stored here.
    """

    can_drop = True

    def __init__(self, model: LanguageModel, prefix_cache: PrefixCache | None = None) -> None:
        self._model = model
        self._prefix_cache = prefix_cache
        self._device = model.model.device
        self._masks = AttentionMasks(model.model)
        self._branches: BranchTable[_PackedBranch] = BranchTable()
        self._rows: list[_Prompt] = []
        """The prompt in each row of the cache."""
        self._cache = SlotCache(0, self._device)

    def open(self, count: int) -> list[BranchId]:
        """See Engine."""
        opened = [_Prompt() for _ in range(count)]
        self._rows += opened
        self._cache = SlotCache(len(self._rows), self._device)
        return [self._branches.add(_PackedBranch(prompt, prompt.row.root())) for prompt in opened]

    def reuse(self, branch: BranchId, tokens: Sequence[int]) -> int:
        """See Engine."""
        if self._prefix_cache is None:
            return 0
        prompt, root = self._branches[branch]
        prompt.unstored = tuple(tokens)
        prefix = self._prefix_cache.find(tokens, len(tokens) - 1)
        if prefix is None:
            return 0
        self._cache.reserve(prefix.count)
        self._cache.write(self._rows.index(prompt), prefix.count, prefix.states)
        prompt.row.begin(root, prefix.count)
        prompt.usage.reused_positions = prefix.count
        return prefix.count

    def fork(self, branch: BranchId) -> BranchId:
        """See Engine."""
        prompt, parent = self._branches[branch]
        return self._branches.add(_PackedBranch(prompt, prompt.row.fork(parent)))

    def release(self, branch: BranchId) -> None:
        """See Engine."""
        prompt, released = self._branches.pop(branch)
        prompt.row.release(released)

    def drop(self, branch: BranchId, count: int) -> None:
        """See Engine."""
        prompt, in_row = self._branches[branch]
        prompt.row.drop(in_row, count)

    def usage(self, branch: BranchId) -> Usage:
        """See Engine."""
        return self._branches[branch].prompt.usage

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine. Takes several passes if prompts feed very different numbers of tokens."""
        self._remove_finished_rows()
        by_prompt: dict[_Prompt, list[Feed]] = {}
        for feed in feeds:
            by_prompt.setdefault(self._branches[feed.branch].prompt, []).append(feed)
        most_padding = PADDING_WORTH_A_PASS.get(self._device.type, _ON_OTHER_DEVICES)
        logits: dict[BranchId, list[NextTokenLogits]] = {}
        for prompts in _share_passes({p: _tokens_of(fed) for p, fed in by_prompt.items()}, most_padding):
            logits |= self._pass({prompt: by_prompt[prompt] for prompt in prompts})
        return [logits[feed.branch] for feed in feeds]

    def _remove_finished_rows(self) -> None:
        live = [row for row, prompt in enumerate(self._rows) if prompt.row.branches]
        if len(live) < len(self._rows):
            self._cache.keep_rows(live)
            self._masks.forget()
            self._rows = [self._rows[row] for row in live]

    @torch.inference_mode()
    def _pass(self, feeds: Mapping[_Prompt, Sequence[Feed]]) -> dict[BranchId, list[NextTokenLogits]]:
        """Run one forward pass, with one row for each prompt."""
        rows = [row for row, prompt in enumerate(self._rows) if prompt in feeds]
        prompts = [self._rows[row] for row in rows]
        width = max(_tokens_of(fed) for fed in feeds.values())
        layouts = [self._lay_out(prompt, feeds[prompt], width) for prompt in prompts]
        wanted = {}
        for prompt, fed in feeds.items():
            for feed, end in zip(fed, accumulate(len(feed.tokens) for feed in fed), strict=True):
                wanted[feed.branch] = wanted_by(feed, prompts.index(prompt), end)
        logits, _ = self._model.forward(self._arguments(rows, layouts), list(wanted.values()))
        for prompt, fed in feeds.items():
            self._count(prompt, _tokens_of(fed), width)
            self._store(prompt, self._branches[fed[0].branch].in_row)
        return dict(zip(wanted, logits, strict=True))

    def _lay_out(self, prompt: _Prompt, feeds: Sequence[Feed], width: int) -> RowLayout:
        parts = [RowFeed(self._branches[feed.branch].in_row, feed.tokens, feed.ahead) for feed in feeds]
        return prompt.row.lay_out(parts, width)

    def _arguments(self, rows: Sequence[int], layouts: Sequence[RowLayout]) -> dict[str, Any]:
        """Return the model's arguments for a pass of these rows."""
        size = max(layout.visible.end for layout in layouts)
        fresh = all(layout.fresh for layout in layouts)
        self._cache.reserve(size)
        columns = [[lay.tokens for lay in layouts], [lay.positions for lay in layouts], [lay.slots for lay in layouts]]
        tokens, positions, slots = torch.from_numpy(np.array(columns)).to(self._device).unbind()
        row_of = torch.tensor(rows, device=self._device)[:, None]
        self._cache.placement = Placement(rows, row_of, slots, size, fresh)
        visible = [layout.visible for layout in layouts]
        return {
            "input_ids": tokens,
            "position_ids": positions,
            "attention_mask": None if fresh else self._masks(rows, len(self._rows), visible, size),
            "past_key_values": self._cache,
            "use_cache": True,
        }

    def _store(self, prompt: _Prompt, branch: RowBranch) -> None:
        """Copy a computed prompt to the prefix cache."""
        tokens, prompt.unstored = prompt.unstored, ()
        if self._prefix_cache is not None and tokens and not self._prefix_cache.knows(tokens):
            slots = prompt.row.slots(branch)[: len(tokens)]
            self._prefix_cache.store(tokens, self._cache.read(self._rows.index(prompt), slots))

    def _count(self, prompt: _Prompt, computed: int, width: int) -> None:
        usage = prompt.usage
        usage.forward_passes += 1
        usage.positions += computed
        usage.padding += width - computed
        usage.cache_bytes = max(usage.cache_bytes, self._cache.bytes_per_row)


def _tokens_of(feeds: Sequence[Feed]) -> int:
    return sum(len(feed.tokens) for feed in feeds)


def _share_passes(sizes: Mapping[_Prompt, int], most_padding: int) -> list[list[_Prompt]]:
    """Group prompts into passes: all in one, unless padding their rows costs more than another pass."""
    groups: list[list[_Prompt]] = []
    for prompt in sorted(sizes, key=lambda p: sizes[p]):
        if not groups or sum(sizes[prompt] - sizes[other] for other in groups[-1]) > most_padding:
            groups.append([])
        groups[-1].append(prompt)
    return groups
