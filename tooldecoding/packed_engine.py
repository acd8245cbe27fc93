"""Branches of a prompt packed into one row: one copy of the prompt's KV cache, whatever their number.

All branches of a prompt lie in one row of a slot cache; a 4-D mask lets each see the prompt and itself alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from tooldecoding.attention_masks import AttentionMasks
from tooldecoding.engine import Feed, Usage
from tooldecoding.head import Head, Wanted
from tooldecoding.prompt_cache import PromptCache
from tooldecoding.scores import Scores
from tooldecoding.slot_cache import Placement, SlotCache

PADDING_WORTH_A_PASS = {"cpu": 32}
"""By type of device: positions of padding that cost as much as a forward pass."""
_ON_OTHER_DEVICES = 512

Slots = np.ndarray[Any, np.dtype[np.int64]]


@dataclass
class _Branch:
    prompt: int
    slots: list[int] = field(default_factory=list)
    """Cache slots of its row that it sees, in the sequence of their positions."""


@dataclass
class _Prompt:
    usage: Usage = field(default_factory=Usage)
    branches: int = 0
    seen_by: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    """How many branches see each slot; a slot that none sees is free."""
    tokens: tuple[int, ...] = ()
    """The prompt, to be stored once it is computed."""
    positions: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    """Position of the token in each slot."""


class PackedEngine:
    """See Engine.

    Parameters
    ----------
    head : Head
        Of a model that takes 4-D attention masks and position ids.
    prompts : PromptCache, optional
        Where the beginnings of prompts are looked up and stored.
    """

    can_drop = True

    def __init__(self, head: Head, prompts: PromptCache | None = None) -> None:
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
        roots = []
        for _ in range(count):
            self._prompts.append(_Prompt())
            roots.append(self._add(_Branch(len(self._prompts) - 1)))
        self._rows = list(range(len(self._prompts)))
        self._cache = SlotCache(len(self._rows), self._device)
        return roots

    def _add(self, branch: _Branch) -> int:
        self._next += 1
        self._branches[self._next] = branch
        prompt = self._prompts[branch.prompt]
        prompt.branches += 1
        prompt.seen_by[branch.slots] += 1
        return self._next

    def reuse(self, branch: int, tokens: Sequence[int]) -> int:
        """See Engine."""
        if self._stored is None or self._cache is None:
            return 0
        root = self._branches[branch]
        prompt = self._prompts[root.prompt]
        prompt.tokens = tuple(tokens)
        prefix = self._stored.find(tokens, len(tokens) - 1)
        if prefix is None:
            return 0
        self._cache.reserve(prefix.count)
        self._cache.write(self._rows.index(root.prompt), prefix.count, prefix.states)
        self._record(root, np.arange(prefix.count))
        prompt.usage.reused_positions = prefix.count
        return prefix.count

    def fork(self, branch: int) -> int:
        """See Engine."""
        parent = self._branches[branch]
        return self._add(_Branch(parent.prompt, list(parent.slots)))

    def release(self, branch: int) -> None:
        """See Engine."""
        released = self._branches.pop(branch)
        prompt = self._prompts[released.prompt]
        prompt.branches -= 1
        prompt.seen_by[released.slots] -= 1

    def drop(self, branch: int, count: int) -> None:
        """See Engine."""
        holder = self._branches[branch]
        self._prompts[holder.prompt].seen_by[holder.slots[-count:]] -= 1
        del holder.slots[-count:]

    def usage(self, branch: int) -> Usage:
        """See Engine."""
        return self._prompts[self._branches[branch].prompt].usage

    def extend(self, feeds: Sequence[Feed]) -> list[list[Scores]]:
        """See Engine; one forward pass, or several where prompts feed very different numbers of tokens."""
        self._let_finished_rows_leave()
        answers: dict[int, list[Scores]] = {}
        for group in self._groups(feeds):
            found = self._pass([feeds[i] for i in group])
            answers.update(zip(group, found, strict=True))
        return [answers[i] for i in range(len(feeds))]

    def _groups(self, feeds: Sequence[Feed]) -> list[list[int]]:
        """Numbers of the feeds that share a pass: all, unless padding their rows costs more than another pass."""
        of_prompt = self._by_prompt(feeds)
        size = {p: sum(len(feeds[i].tokens) for i in numbers) for p, numbers in of_prompt.items()}
        most = PADDING_WORTH_A_PASS.get(self._device.type, _ON_OTHER_DEVICES)
        groups: list[list[int]] = []
        for prompt in sorted(of_prompt, key=lambda p: size[p]):
            if not groups or sum(size[prompt] - size[other] for other in groups[-1]) > most:
                groups.append([])
            groups[-1].append(prompt)
        return [[number for prompt in group for number in of_prompt[prompt]] for group in groups]

    def _let_finished_rows_leave(self) -> None:
        live = [p for p in self._rows if self._prompts[p].branches]
        if self._cache is not None and len(live) < len(self._rows):
            keep = torch.tensor([self._rows.index(p) for p in live], device=self._device)
            self._cache.keep_rows(keep)
            self._rows = live

    @torch.inference_mode()
    def _pass(self, feeds: Sequence[Feed]) -> list[list[Scores]]:
        """One forward pass of a row for each prompt."""
        assert self._cache is not None
        by_prompt = self._by_prompt(feeds)
        prompts = sorted(by_prompt, key=self._rows.index)
        sizes = [sum(len(feeds[i].tokens) for i in by_prompt[p]) for p in prompts]
        width = max(sizes)
        fresh = all(len(by_prompt[p]) == 1 and not self._prompts[p].seen_by.any() for p in prompts)
        slots = np.stack([self._free_slots(prompt, width) for prompt in prompts])
        self._cache.reserve(1 + int(slots.max()))
        seen_slots = max(1 + int(slots.max()), *(len(self._prompts[p].seen_by) for p in prompts))
        ids, positions = np.zeros_like(slots), np.zeros_like(slots)
        seen = np.zeros((0 if fresh else len(prompts), width, seen_slots), bool)
        wanted: dict[int, list[Wanted]] = {}
        for row, prompt in enumerate(prompts):
            start = 0
            for number in by_prompt[prompt]:
                feed, branch = feeds[number], self._branches[feeds[number].branch]
                end, length = start + len(feed.tokens), len(branch.slots)
                ids[row, start:end] = feed.tokens
                positions[row, start:end] = np.arange(length, length + end - start)
                if not fresh:
                    seen[row, start:end, branch.slots] = True
                    seen[row, start:end][:, slots[row, start:end]] = np.tri(end - start, dtype=bool)
                self._record(branch, slots[row, start:end])
                wanted[number] = [Wanted(row, end - 1 - feed.ahead + i, among) for i, among in enumerate(feed.offers())]
                start = end
            if not fresh:
                seen[row, start:, slots[row, start:]] = True  # padding sees itself, so that no query sees nothing
        arguments: dict[str, Any] = {
            "input_ids": self._tensor(ids),
            "position_ids": self._tensor(positions),
            "attention_mask": None if fresh else self._mask(seen, positions, prompts),
            "past_key_values": self._cache,
            "use_cache": True,
        }
        rows = torch.tensor([self._rows.index(p) for p in prompts], device=self._device)
        self._cache.placement = Placement(rows, self._tensor(slots), seen_slots, fresh)
        flat, _ = self._head.run(arguments, [w for number in range(len(feeds)) for w in wanted[number]])
        for prompt, computed in zip(prompts, sizes, strict=True):
            self._count(prompt, computed, width)
        for feed in feeds:
            self._store(self._branches[feed.branch])
        scores = iter(flat)
        return [[next(scores) for _ in wanted[number]] for number in range(len(feeds))]

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
            slots = torch.tensor(branch.slots[: len(tokens)], device=self._device)
            self._stored.store(tokens, self._cache.read(self._rows.index(branch.prompt), slots))

    def _free_slots(self, prompt: int, count: int) -> Slots:
        """The first slots of a row that no branch sees; beyond its end where they do not suffice."""
        seen_by = self._prompts[prompt].seen_by
        free = np.flatnonzero(seen_by == 0)[:count]
        return np.concatenate([free, np.arange(len(seen_by), len(seen_by) + count - len(free))])

    def _record(self, branch: _Branch, slots: Slots) -> None:
        """Note that a branch's next tokens stand in these slots."""
        prompt = self._prompts[branch.prompt]
        missing = int(slots.max()) + 1 - len(prompt.seen_by)
        if missing > 0:
            prompt.seen_by = np.pad(prompt.seen_by, (0, missing))
            prompt.positions = np.pad(prompt.positions, (0, missing))
        prompt.positions[slots] = np.arange(len(branch.slots), len(branch.slots) + len(slots))
        prompt.seen_by[slots] += 1
        branch.slots.extend(slots.tolist())

    def _count(self, prompt: int, computed: int, width: int) -> None:
        assert self._cache is not None
        usage = self._prompts[prompt].usage
        usage.forward_passes += 1
        usage.positions += computed
        usage.padding += width - computed
        usage.cache_bytes = max(usage.cache_bytes, self._cache.bytes_per_row)

    def _mask(self, seen: "np.ndarray[Any, Any]", positions: Slots, prompts: Sequence[int]) -> Any:
        """Masks of the pass; ``seen`` has shape (rows, queries, slots)."""

        def distance() -> torch.Tensor:
            slot_positions = np.zeros((len(prompts), seen.shape[2]), np.int64)
            for row, prompt in enumerate(prompts):
                known = self._prompts[prompt].positions
                slot_positions[row, : len(known)] = known
            return self._tensor(positions[:, :, None] - slot_positions[:, None, :])

        return self._masks(self._tensor(seen), distance)

    def _tensor(self, array: "np.ndarray[Any, Any]") -> torch.Tensor:
        return torch.from_numpy(array).to(self._device)
