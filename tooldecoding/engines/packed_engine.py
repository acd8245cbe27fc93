"""Branches of a prompt packed into one row: one copy of the prompt's KV cache, whatever their number.

All branches of a prompt lie in one row of a slot cache; a 4-D mask lets each see the prompt and itself alone.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tooldecoding.engines.engine import Feed, Usage
from tooldecoding.engines.language_model import LanguageModel, Wanted
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.engines.packed_row import PackedBranch, PackedRow, RowFeed, RowLayout
from tooldecoding.engines.prefix_cache import PrefixCache
from tooldecoding.engines.slot_cache import Placement, SlotCache
from tooldecoding.engines.tree_attention import AttentionMasks

PADDING_WORTH_A_PASS = {"cpu": 32}
"""By type of device: positions of padding that cost as much as a forward pass."""
_ON_OTHER_DEVICES = 512


class _Prompt:
    """A prompt's row, what it cost, and its tokens while they are to be stored."""

    def __init__(self) -> None:
        self.row = PackedRow()
        self.usage = Usage()
        self.tokens: tuple[int, ...] = ()


class _Branch(NamedTuple):
    prompt: int
    state: PackedBranch


class PackedEngine:
    """See Engine.

    Parameters
    ----------
    head : LanguageModel
        Of a model that takes 4-D attention masks and position ids.
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
        self._prompts: list[_Prompt] = []
        self._rows: list[int] = []
        self._cache: SlotCache | None = None
        self._next = 0

    def open(self, count: int) -> list[int]:
        """See Engine; all prompts are opened before the first pass."""
        first = len(self._prompts)
        self._prompts += [_Prompt() for _ in range(count)]
        self._rows = list(range(len(self._prompts)))
        self._cache = SlotCache(len(self._rows), self._device)
        return [self._add(_Branch(number, self._prompts[number].row.root())) for number in self._rows[first:]]

    def _add(self, branch: _Branch) -> int:
        self._next += 1
        self._branches[self._next] = branch
        return self._next

    def reuse(self, branch: int, tokens: Sequence[int]) -> int:
        """See Engine."""
        if self._stored is None or self._cache is None:
            return 0
        number, root = self._branches[branch]
        prompt = self._prompts[number]
        prompt.tokens = tuple(tokens)
        prefix = self._stored.find(tokens, len(tokens) - 1)
        if prefix is None:
            return 0
        self._cache.reserve(prefix.count)
        self._cache.write(self._rows.index(number), prefix.count, prefix.states)
        prompt.row.begin(root, prefix.count)
        prompt.usage.reused_positions = prefix.count
        return prefix.count

    def fork(self, branch: int) -> int:
        """See Engine."""
        number, parent = self._branches[branch]
        return self._add(_Branch(number, self._prompts[number].row.fork(parent)))

    def release(self, branch: int) -> None:
        """See Engine."""
        number, released = self._branches.pop(branch)
        self._prompts[number].row.release(released)

    def drop(self, branch: int, count: int) -> None:
        """See Engine."""
        number, holder = self._branches[branch]
        self._prompts[number].row.drop(holder, count)

    def usage(self, branch: int) -> Usage:
        """See Engine."""
        return self._prompts[self._branches[branch].prompt].usage

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """See Engine; one forward pass, or several where prompts feed very different numbers of tokens."""
        self._let_finished_rows_leave()
        answers: dict[int, list[NextTokenLogits]] = {}
        for group in self._groups(feeds):
            found = self._pass([feeds[i] for i in group])
            answers.update(zip(group, found, strict=True))
        return [answers[i] for i in range(len(feeds))]

    def _groups(self, feeds: Sequence[Feed]) -> list[list[int]]:
        """Numbers of the feeds that share a pass: all, unless padding their rows costs more than another pass."""
        of_prompt = self._by_prompt(feeds)
        if len(of_prompt) == 1:
            return [list(range(len(feeds)))]
        size = {p: sum(len(feeds[i].tokens) for i in numbers) for p, numbers in of_prompt.items()}
        most = PADDING_WORTH_A_PASS.get(self._device.type, _ON_OTHER_DEVICES)
        groups: list[list[int]] = []
        for prompt in sorted(of_prompt, key=lambda p: size[p]):
            if not groups or sum(size[prompt] - size[other] for other in groups[-1]) > most:
                groups.append([])
            groups[-1].append(prompt)
        return [[number for prompt in group for number in of_prompt[prompt]] for group in groups]

    def _let_finished_rows_leave(self) -> None:
        stay = [row for row, number in enumerate(self._rows) if self._prompts[number].row.branches]
        if self._cache is not None and len(stay) < len(self._rows):
            self._cache.keep_rows(stay)
            self._masks.forget()
            self._rows = [self._rows[row] for row in stay]

    @torch.inference_mode()
    def _pass(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """One forward pass of a row for each prompt."""
        assert self._cache is not None
        by_prompt = self._by_prompt(feeds)
        rows = [row for row, prompt in enumerate(self._rows) if prompt in by_prompt]
        prompts = [self._rows[row] for row in rows]
        sizes = [sum(len(feeds[i].tokens) for i in by_prompt[p]) for p in prompts]
        width = max(sizes)
        layouts = [self._lay_out(p, [feeds[i] for i in by_prompt[p]], width) for p in prompts]
        wanted: dict[int, list[Wanted]] = {}
        for row, prompt in enumerate(prompts):
            end = 0
            for number in by_prompt[prompt]:
                feed = feeds[number]
                end += len(feed.tokens)
                wanted[number] = [Wanted(row, end - 1 - feed.ahead + i, among) for i, among in enumerate(feed.offers())]
        arguments = self._arguments(rows, layouts)
        flat, _ = self._head.forward(arguments, [w for number in range(len(feeds)) for w in wanted[number]])
        for prompt, computed in zip(prompts, sizes, strict=True):
            self._count(prompt, computed, width)
        for feed in feeds:
            self._store(self._branches[feed.branch])
        scores = iter(flat)
        return [[next(scores) for _ in wanted[number]] for number in range(len(feeds))]

    def _lay_out(self, prompt: int, feeds: Sequence[Feed], width: int) -> RowLayout:
        parts = [RowFeed(self._branches[feed.branch].state, feed.tokens, feed.ahead) for feed in feeds]
        return self._prompts[prompt].row.lay_out(parts, width)

    def _arguments(self, rows: Sequence[int], layouts: Sequence[RowLayout]) -> dict[str, Any]:
        """What the model is given in a pass of these rows."""
        assert self._cache is not None
        size = max(layout.sight.end for layout in layouts)
        fresh = all(layout.fresh for layout in layouts)
        self._cache.reserve(size)
        columns = [[lay.tokens for lay in layouts], [lay.positions for lay in layouts], [lay.slots for lay in layouts]]
        tokens, positions, slots = torch.from_numpy(np.array(columns)).to(self._device).unbind()
        row_of = torch.tensor(rows, device=self._device)[:, None]
        self._cache.placement = Placement(rows, row_of, slots, size, fresh)
        sights = [layout.sight for layout in layouts]
        return {
            "input_ids": tokens,
            "position_ids": positions,
            "attention_mask": None if fresh else self._masks(rows, len(self._rows), sights, size),
            "past_key_values": self._cache,
            "use_cache": True,
        }

    def _by_prompt(self, feeds: Sequence[Feed]) -> dict[int, list[int]]:
        """Prompt -> numbers of its feeds."""
        numbers: dict[int, list[int]] = {}
        for number, feed in enumerate(feeds):
            numbers.setdefault(self._branches[feed.branch].prompt, []).append(number)
        return numbers

    def _store(self, branch: _Branch) -> None:
        """Keep a prompt for later requests once it is computed."""
        prompt = self._prompts[branch.prompt]
        tokens, prompt.tokens = prompt.tokens, ()
        if self._stored is not None and self._cache is not None and tokens and not self._stored.knows(tokens):
            slots = prompt.row.slots(branch.state)[: len(tokens)]
            self._stored.store(tokens, self._cache.read(self._rows.index(branch.prompt), slots))

    def _count(self, prompt: int, computed: int, width: int) -> None:
        assert self._cache is not None
        usage = self._prompts[prompt].usage
        usage.forward_passes += 1
        usage.positions += computed
        usage.padding += width - computed
        usage.cache_bytes = max(usage.cache_bytes, self._cache.bytes_per_row)
