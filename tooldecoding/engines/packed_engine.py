"""Packed engine (tree attention): all branches of a prompt share one row and one copy of the prompt's KV cache.

A 4-D attention mask lets each branch see the prompt and its own tokens only.
"""
# ruff: noqa: D102 - overriding methods are documented in the base class

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np
import torch

from tooldecoding.engines.attention import AttentionMasks, RaggedPass, is_ragged, ragged_pass
from tooldecoding.engines.engine import BranchId, BranchTable, Engine, Feed, Need
from tooldecoding.engines.language_model import LanguageModel, Wanted, wanted_by
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.engines.packed_row import PackedRow, RowBranch, RowLayout
from tooldecoding.engines.passes import (
    DRAFTED_POSITIONS,
    RowLoad,
    in_pieces,
    masked_tokens,
    padding_worth_a_pass,
    padding_worth_a_run,
    share_passes,
    share_runs,
)
from tooldecoding.engines.prefix_cache import CachedBranch, CachedPrompt, PrefixCache, States
from tooldecoding.engines.slot_cache import Placement, RowRun, SlotCache


@dataclass(eq=False)
class _Prompt(CachedPrompt):
    """A prompt in a row."""

    row: PackedRow = field(default_factory=PackedRow)


@dataclass(eq=False)
class _PackedBranch(CachedBranch):
    """A branch, and the prompt whose row holds it."""

    prompt: _Prompt
    in_row: RowBranch


class PackedEngine(Engine):
    """See Engine.

    Parameters
    ----------
    model : LanguageModel
        A model that takes 4-D attention masks and position ids.
    prefix_cache : PrefixCache, optional
        Prefixes of prompts are looked up and stored here.
    """

    can_roll_back = True

    def __init__(self, model: LanguageModel, prefix_cache: PrefixCache[States] | None = None) -> None:
        self._model = model
        self._prefix_cache = prefix_cache or PrefixCache(0)
        self._device = model.device
        self.chunk: int | None = padding_worth_a_pass(self._device)
        self._masks = AttentionMasks(model.model)
        self._branches: BranchTable[_PackedBranch] = BranchTable()
        self._rows: list[_Prompt] = []
        """The prompt in each row of the cache; further rows are spare."""
        self._cache = SlotCache(self._device)

    @property
    def has_spare_positions(self) -> bool:
        return DRAFTED_POSITIONS * len(self._rows) <= padding_worth_a_pass(self._device)

    def bytes_for(self, needs: Sequence[Need]) -> float:
        """See Engine. All rows are as long as the longest one."""
        slots = max(need.shared + (need.branches + need.drafts) * need.each for need in needs)
        return self._cache.bytes_with(len(needs), slots)

    @property
    def allocated_bytes(self) -> int:
        return self._cache.allocated_bytes

    def open(self, count: int) -> list[BranchId]:
        self._remove_ended_prompts()
        opened = [_Prompt(self._prefix_cache) for _ in range(count)]
        self._rows += opened
        self._cache.reserve(len(self._rows), 0)
        return [self._branches.add(_PackedBranch(prompt, prompt.row.root())) for prompt in opened]

    def reuse(self, branch: BranchId, tokens: Sequence[int]) -> int:
        root = self._branches[branch]
        prompt = root.prompt
        prefix = prompt.announce(tokens)
        if prefix is None:
            return 0
        count, states = prefix
        self._cache.reserve(len(self._rows), count)
        self._cache.write(self._rows.index(prompt), count, states)
        prompt.row.begin(root.in_row, count)
        return count

    def fork(self, branch: BranchId) -> BranchId:
        parent = self._branches[branch]
        return self._branches.add(replace(parent, in_row=parent.prompt.row.fork(parent.in_row)), branch)

    def release(self, branch: BranchId) -> None:
        released = self._branches.remove(branch)
        released.prompt.row.release(released.in_row)
        if not self._branches:
            self._remove_ended_prompts()

    def drop(self, branch: BranchId, count: int) -> None:
        dropping = self._branches[branch]
        dropping.prompt.row.drop(dropping.in_row, count)

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine. One ragged pass; without these several, if prompts feed very different numbers of tokens.

        Long prompts whose attention needs a mask are fed in pieces.
        """
        self._remove_ended_prompts()
        logits: dict[BranchId, list[NextTokenLogits]] = {}
        for together in in_pieces(feeds, self._most_tokens(feeds)):
            logits = self._extend(together)
        return [logits[feed.branch] for feed in feeds]

    def _most_tokens(self, feeds: Sequence[Feed]) -> int:
        """Return how many tokens a pass may feed to each branch."""
        slots = 0
        for feed in feeds:
            written = self._branches[feed.branch].prompt.row.written
            if written or self._masks.window is not None:
                slots += written + len(feed.tokens)
        return masked_tokens(slots * self._model.model.dtype.itemsize) if slots else sys.maxsize

    def _extend(self, feeds: Sequence[Feed]) -> dict[BranchId, list[NextTokenLogits]]:
        by_prompt: dict[_Prompt, list[Feed]] = {}
        for feed in feeds:
            by_prompt.setdefault(self._branches[feed.branch].prompt, []).append(feed)
        loads = [
            RowLoad(row, _tokens_of(by_prompt[prompt]), prompt.row.written)
            for row, prompt in enumerate(self._rows)
            if prompt in by_prompt
        ]
        logits: dict[BranchId, list[NextTokenLogits]] = {}
        for runs in self._passes(loads):
            logits |= self._pass([[load.row for load in run] for run in runs], by_prompt)
        return logits

    def _passes(self, loads: Sequence[RowLoad]) -> list[list[list[RowLoad]]]:
        """Return the runs of each pass. A window hides tokens of empty rows, too: they would need a mask."""
        empty = any(load.written == 0 for load in loads) and self._masks.window is not None
        if is_ragged(self._model.model) and not empty:
            return [share_runs(loads, padding_worth_a_run(self._device))]
        return [[run] for run in share_passes(loads, padding_worth_a_pass(self._device))]

    def _remove_ended_prompts(self) -> None:
        """Free the rows of ended prompts; the last rows move into their places."""
        live = [prompt for prompt in self._rows if prompt.row.branches]
        left = len(live)
        if left == len(self._rows):
            return
        for row, prompt in enumerate(self._rows if live else []):
            if not prompt.row.branches:
                self._cache.clear(row, prompt.row.written)
        free = [row for row, prompt in enumerate(self._rows[:left]) if not prompt.row.branches]
        moving = [row for row, prompt in enumerate(self._rows[left:], left) if prompt.row.branches]
        for source, target in zip(moving, free, strict=True):
            self._rows[target] = self._rows[source]
            self._cache.move(source, target, self._rows[target].row.written)
        del self._rows[left:]
        self._cache.fit(left, max((prompt.row.written for prompt in live), default=0))

    @torch.inference_mode()
    def _pass(
        self, rows_of_runs: Sequence[Sequence[int]], by_prompt: Mapping[_Prompt, Sequence[Feed]]
    ) -> dict[BranchId, list[NextTokenLogits]]:
        """Run one forward pass."""
        runs: list[RowRun] = []
        layouts: list[RowLayout] = []
        wanted: dict[BranchId, list[Wanted]] = {}
        start = 0
        for rows in rows_of_runs:
            feeds = [by_prompt[self._rows[row]] for row in rows]
            width = max(map(_tokens_of, feeds))
            for number, (row, fed) in enumerate(zip(rows, feeds, strict=True)):
                prompt = self._rows[row]
                parts = [(self._branches[feed.branch].in_row, feed.tokens) for feed in fed]
                layouts.append(prompt.row.lay_out(parts, width))
                line, column = (0, start + number * width) if len(rows_of_runs) > 1 else (number, 0)
                for feed, end in zip(fed, accumulate(len(feed.tokens) for feed in fed), strict=True):
                    wanted[feed.branch] = wanted_by(feed, line, column + end)
            own = layouts[-len(rows) :]
            size = max(layout.visible.end for layout in own)
            runs.append(RowRun(rows, start, width, size, all(layout.visible.seen is None for layout in own)))
            start += runs[-1].tokens
        logits = self._forward(runs, layouts, list(wanted.values()))
        for run in runs:
            for row in run.rows:
                prompt = self._rows[row]
                self._count(prompt, _tokens_of(by_prompt[prompt]), run.width)
                for feed in by_prompt[prompt]:
                    self._store(feed)
        return dict(zip(wanted, logits, strict=True))

    def _forward(
        self, runs: Sequence[RowRun], layouts: Sequence[RowLayout], wanted: Sequence[Sequence[Wanted]]
    ) -> list[list[NextTokenLogits]]:
        """Run the model; ``layouts`` are those of the rows of all runs."""
        rows = [row for run in runs for row in run.rows]
        ragged = len(runs) > 1
        shape = (1, -1) if ragged else (len(rows), -1)
        lines = [
            [token for layout in layouts for token in layout.tokens],
            [position for layout in layouts for position in layout.visible.queries],
            [slot for layout in layouts for slot in layout.slots],
            [row for run in runs for row in run.rows for _ in range(run.width)],
        ]
        columns = torch.from_numpy(np.array(lines)).to(self._device)
        tokens, positions, slots, row_of = (column.view(shape) for column in columns)
        self._cache.reserve(len(self._rows), max(run.size for run in runs))
        self._cache.placement = Placement(row_of, slots, runs)
        left = iter(layouts)
        visible = [[next(left).visible for _ in run.rows] for run in runs]
        masks = [None if run.fresh else self._masks(seen, run.size) for run, seen in zip(runs, visible, strict=True)]
        arguments = {"input_ids": tokens, "position_ids": positions, "past_key_values": self._cache, "use_cache": True}
        if not ragged:
            mask = None if masks[0] is None else self._masks.argument(masks[0])
            return self._model.forward(arguments | {"attention_mask": mask}, wanted)
        with ragged_pass(self._model.model, RaggedPass(self._cache, runs, masks, self._masks.kinds)) as stand_ins:
            mask = self._masks.argument(stand_ins)
            return self._model.forward(arguments | {"attention_mask": mask}, wanted)

    def _store(self, feed: Feed) -> None:
        """Copy a prompt to the prefix cache as soon as all its tokens are computed."""
        branch = self._branches[feed.branch]
        row, in_row = branch.prompt.row, branch.in_row

        def read(count: int) -> States:
            return self._cache.read(self._rows.index(branch.prompt), row.slots(in_row)[:count])

        branch.note(in_row.length, feed.tokens, read)

    def _count(self, prompt: _Prompt, computed: int, width: int) -> None:
        usage = prompt.usage
        usage.forward_passes += 1
        usage.positions += computed
        usage.padding += width - computed
        usage.cache_bytes = max(usage.cache_bytes, self._cache.bytes_per_row)


def _tokens_of(feeds: Sequence[Feed]) -> int:
    return sum(len(feed.tokens) for feed in feeds)
