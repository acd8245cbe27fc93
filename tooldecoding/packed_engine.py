"""Branches of a prompt packed into one row: one copy of the prompt's KV cache, whatever their number.

All branches of a prompt lie in one row of a slot cache; a 4-D mask lets each see the prompt and itself alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from tooldecoding.engine import Feed, Usage
from tooldecoding.head import Head, Wanted
from tooldecoding.prompt_cache import PromptCache
from tooldecoding.scores import Scores
from tooldecoding.slot_cache import Placement, SlotCache

PADDING_WORTH_A_PASS = {"cpu": 32}
"""By type of device: positions of padding that cost as much as a forward pass."""
_ON_OTHER_DEVICES = 512


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
        config = head.model.config.get_text_config()
        self._layer_types = set(getattr(config, "layer_types", None) or ())
        self._window: int | None = getattr(config, "sliding_window", None)
        if self._layer_types and "sliding_attention" not in self._layer_types:
            self._window = None
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
        self._reserve(prefix.count)
        self._cache.write(self._rows.index(root.prompt), prefix.count, prefix.states)
        self._record(root, range(prefix.count))
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
        of_prompt: dict[int, list[int]] = {}
        for number, feed in enumerate(feeds):
            of_prompt.setdefault(self._branches[feed.branch].prompt, []).append(number)
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
        assert self._cache is not None
        by_prompt: dict[int, list[int]] = {}
        for number, feed in enumerate(feeds):
            by_prompt.setdefault(self._branches[feed.branch].prompt, []).append(number)
        prompts = sorted(by_prompt, key=self._rows.index)
        sizes = [sum(len(feeds[i].tokens) for i in by_prompt[p]) for p in prompts]
        width = max(sizes)
        fresh = all(len(by_prompt[p]) == 1 and not self._prompts[p].seen_by.any() for p in prompts)
        ids, positions, slots = (np.zeros((len(prompts), width), np.int64) for _ in range(3))
        for row, prompt in enumerate(prompts):
            slots[row] = self._free_slots(prompt, width)
        size = 1 + int(slots.max())
        self._reserve(size)
        size = max(size, *(len(self._prompts[p].seen_by) for p in prompts))
        seen = None if fresh else np.zeros((len(prompts), width, size), bool)
        wanted: dict[int, list[Wanted]] = {}
        for row, prompt in enumerate(prompts):
            start = 0
            for number in by_prompt[prompt]:
                feed, branch = feeds[number], self._branches[feeds[number].branch]
                end = start + len(feed.tokens)
                ids[row, start:end] = feed.tokens
                positions[row, start:end] = np.arange(len(branch.slots), len(branch.slots) + end - start)
                taken = slots[row, start:end]
                if seen is not None:
                    seen[row, start:end, branch.slots] = True
                    seen[row, start:end][:, taken] = np.tri(end - start, dtype=bool)
                self._record(branch, taken.tolist())
                wanted[number] = [Wanted(row, i, feed.among) for i in range(end - 1 - feed.ahead, end)]
                start = end
            if seen is not None:
                seen[row, start:, slots[row, start:]] = True  # padding sees itself, so that no query sees nothing
        arguments: dict[str, Any] = {
            "input_ids": self._tensor(ids),
            "position_ids": self._tensor(positions),
            "attention_mask": None if seen is None else self._mask(seen, positions, prompts),
            "past_key_values": self._cache,
            "use_cache": True,
        }
        rows = torch.tensor([self._rows.index(p) for p in prompts], device=self._device)
        self._cache.placement = Placement(rows, self._tensor(slots), size, fresh)
        flat, _ = self._head.run(arguments, [w for number in range(len(feeds)) for w in wanted[number]])
        for prompt, computed in zip(prompts, sizes, strict=True):
            self._count(prompt, computed, width)
        for feed in feeds:
            self._store(self._branches[feed.branch])
        scores = iter(flat)
        return [[next(scores) for _ in wanted[number]] for number in range(len(feeds))]

    def _store(self, branch: _Branch) -> None:
        """Keep a prompt for later requests once it is computed."""
        prompt = self._prompts[branch.prompt]
        tokens, prompt.tokens = prompt.tokens, ()
        if self._stored is not None and self._cache is not None and tokens and not self._stored.knows(tokens):
            slots = torch.tensor(branch.slots[: len(tokens)], device=self._device)
            self._stored.store(tokens, self._cache.read(self._rows.index(branch.prompt), slots))

    def _free_slots(self, prompt: int, count: int) -> "np.ndarray[Any, Any]":
        """The first slots of a row that no branch sees; beyond its end where they do not suffice."""
        seen_by = self._prompts[prompt].seen_by
        free = np.flatnonzero(seen_by == 0)[:count]
        return np.concatenate([free, np.arange(len(seen_by), len(seen_by) + count - len(free))])

    def _reserve(self, size: int) -> None:
        assert self._cache is not None
        self._cache.reserve(size)

    def _record(self, branch: _Branch, slots: Sequence[int] | range) -> None:
        """Note that a branch's next tokens stand in these slots."""
        prompt = self._prompts[branch.prompt]
        missing = max(slots) + 1 - len(prompt.seen_by)
        if missing > 0:
            prompt.seen_by = np.pad(prompt.seen_by, (0, missing))
            prompt.positions = np.pad(prompt.positions, (0, missing))
        prompt.positions[list(slots)] = np.arange(len(branch.slots), len(branch.slots) + len(slots))
        prompt.seen_by[list(slots)] += 1
        branch.slots.extend(slots)

    def _count(self, prompt: int, computed: int, width: int) -> None:
        assert self._cache is not None
        usage = self._prompts[prompt].usage
        usage.forward_passes += 1
        usage.positions += computed
        usage.padding += width - computed
        usage.cache_bytes = max(usage.cache_bytes, self._cache.bytes_per_row)

    def _mask(self, seen: "np.ndarray[Any, Any]", positions: "np.ndarray[Any, Any]", prompts: Sequence[int]) -> Any:
        """Additive masks of shape (rows, 1, queries, slots), by type of layer where the model has several."""
        full = self._additive(seen)
        if self._window is None:
            return full
        slot_positions = np.zeros((len(prompts), seen.shape[2]), np.int64)
        for row, prompt in enumerate(prompts):
            known = self._prompts[prompt].positions
            slot_positions[row, : len(known)] = known
        distance = positions[:, :, None] - slot_positions[:, None, :]
        near = seen & (distance < self._window)
        near[:, :, 0] |= ~near.any(-1)  # only padding sees nothing
        windowed = self._additive(near)
        return {"full_attention": full, "sliding_attention": windowed} if self._layer_types else windowed

    def _additive(self, seen: "np.ndarray[Any, Any]") -> torch.Tensor:
        dtype = self._head.model.dtype
        mask = torch.zeros(seen.shape, dtype=dtype, device=self._device)
        return mask.masked_fill_(~self._tensor(seen), torch.finfo(dtype).min)[:, None]

    def _tensor(self, array: "np.ndarray[Any, Any]") -> torch.Tensor:
        return torch.from_numpy(array).to(self._device)
