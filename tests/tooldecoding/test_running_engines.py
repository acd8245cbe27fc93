"""Prompts join and leave a running engine: nobody else's logits change, and memory is bounded by what runs."""

import math
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
import torch

from tiny_models import tiny_model
from tooldecoding.engines.batched_engine import BatchedEngine
from tooldecoding.engines.engine import BranchId, Engine, Feed, Need, Usage
from tooldecoding.engines.language_model import LanguageModel
from tooldecoding.engines.packed_engine import PackedEngine
from tooldecoding.engines.prefix_cache import PrefixCache
from tooldecoding.engines.recurrent_engine import RecurrentEngine
from tooldecoding.engines.slot_cache import CHUNK

VOCABULARY = 200
MODEL = tiny_model("llama", VOCABULARY)
LANGUAGE_MODEL = LanguageModel(MODEL)
KINDS = [PackedEngine, BatchedEngine]
ENGINES = [
    (kind, shape)
    for kind in KINDS
    for shape in ("llama", "gpt_neox", "mistral_windowed", "gemma2", "gpt2", "bloom")
    if (kind, shape) != (PackedEngine, "bloom")
]


SHARED = [5 + i * 11 % 190 for i in range(40)]
"""Some prompts begin with this."""


@dataclass
class Guest:
    """A prompt that runs.

    Attributes
    ----------
    unfed : list of int
        Tokens of the prompt that are still to be fed.
    branches : dict
        For each live branch its tokens, and how many of the last it may drop.
    positions, passes : int
        What it must have cost.
    """

    root: BranchId
    usage: Usage
    unfed: list[int]
    branches: dict[BranchId, tuple[list[int], int]] = field(default_factory=dict)
    positions: int = 0
    passes: int = 0


class Traffic:
    """Drives an engine at random and compares its logits with those of each branch alone.

    Parameters
    ----------
    longest : int
        Longest prompt.
    most : int
        So many prompts run at most.
    checked : bool
        Whether logits are compared.
    """

    def __init__(
        self, engine: Engine, model: Any, seed: int, longest: int = 90, most: int = 6, checked: bool = True
    ) -> None:
        self.engine = engine
        self.random = Random(seed)
        self.guests: list[Guest] = []
        self.left: list[BranchId] = []
        self.joined = self.reused = 0
        self._model = model
        self._longest = longest
        self._most = most
        self._checked = checked

    def run(self, steps: int) -> None:
        """Let prompts join and leave between so many passes."""
        for _ in range(steps):
            if len(self.guests) < self._most and self.random.random() < 0.6:
                self.join(self.random.randint(1, 3))
            self.step()
            for guest in list(self.guests):
                self._change(guest)

    def join(self, count: int) -> None:
        """Open prompts. Some share a prefix."""
        for root in self.engine.open(count):
            start = SHARED[: self.random.choice([0, 25, 40])]
            size = self.random.choice([1, 2, 5, 20, self._longest])
            prompt = [*start, *(self.random.randint(5, 199) for _ in range(self.random.randint(1, size)))]
            usage = self.engine.usage(root)
            known = self.engine.reuse(root, prompt)
            assert known < len(prompt)
            self.guests.append(Guest(root, usage, prompt[known:], {root: (prompt[:known], 0)}))
            self.joined += 1
            self.reused += known

    def step(self) -> None:
        """Feed some of the prompts in one pass."""
        feeds = [feed for guest in self.guests if self.random.random() < 0.8 for feed in self._feeds(guest)]
        if feeds:
            self._pass(feeds)

    def _feeds(self, guest: Guest) -> list[Feed]:
        if guest.unfed:
            size = self.random.choice([1, 3, 7, 200]) if self.engine.chunk else len(guest.unfed)
            piece, guest.unfed = guest.unfed[:size], guest.unfed[size:]
            return [Feed(guest.root, piece)]
        some = self.random.sample(list(guest.branches), self.random.randint(1, len(guest.branches)))
        feeds = []
        for branch in some:
            tokens = [self.random.randint(5, 199) for _ in range(self.random.randint(1, 4))]
            feeds.append(Feed(branch, tokens, self.random.randint(0, len(tokens)) if self.engine.can_drop else 0))
        return [feed._replace(ahead=min(feed.ahead, len(feed.tokens) - 1)) for feed in feeds]

    def _pass(self, feeds: list[Feed]) -> None:
        answers = self.engine.extend(feeds)
        passing = []
        for feed, found in zip(feeds, answers, strict=True):
            [guest] = [g for g in self.guests if feed.branch in g.branches]
            tokens = [*guest.branches[feed.branch][0], *feed.tokens]
            guest.branches[feed.branch] = tokens, feed.ahead
            if self.engine.can_drop:
                guest.passes += guest not in passing
            else:
                guest.passes += len(feed.tokens) if guest.positions else 1
            guest.positions += len(feed.tokens)
            passing.append(guest)
            assert len(found) == feed.ahead + 1
            if self._checked:
                self._compare(tokens, torch.stack([logits.logits for logits in found]))
        for guest in passing:
            assert (guest.usage.positions, guest.usage.forward_passes) == (guest.positions, guest.passes)

    def _compare(self, tokens: list[int], found: torch.Tensor) -> None:
        with torch.inference_mode():
            alone = self._model(torch.tensor([tokens])).logits[0, -len(found) :].float()
        torch.testing.assert_close(found.cpu(), alone, atol=1e-4, rtol=1e-4)

    def _change(self, guest: Guest) -> None:
        """Fork, drop, release or close at random; close again what was closed."""
        if guest.unfed:
            kinds = ["close"] + ["stay"] * 9
        else:
            kinds = ["fork", "fork", "drop", "drop", "release", "release", "close", "stay", "stay"]
        branch = self.random.choice(list(guest.branches))
        tokens, ahead = guest.branches[branch]
        match self.random.choice(kinds):
            case "fork" if len(guest.branches) < 5:
                guest.branches[self.engine.fork(branch)] = list(tokens), ahead
            case "drop" if ahead:
                count = self.random.randint(1, ahead)
                self.engine.drop(branch, count)
                guest.branches[branch] = tokens[:-count], ahead - count
            case "release":
                self.engine.release(branch)
                del guest.branches[branch]
                if not guest.branches:
                    self._leave(guest)
            case "close":
                self.engine.close(guest.root)
                self._leave(guest)
        if self.left:
            self.engine.close(self.random.choice(self.left[-20:]))

    def _leave(self, guest: Guest) -> None:
        self.guests.remove(guest)
        self.left.append(guest.root)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("kind", [PackedEngine, BatchedEngine])
def test_who_joins_and_leaves_changes_nothing_on_a_gpu(kind: Any) -> None:
    model = tiny_model("llama", 200).to("cuda")
    Traffic(kind(LanguageModel(model)), tiny_model("llama", 200), 0).run(40)


@pytest.mark.parametrize(("seed", "caching"), [(0, False), (1, True)], ids=["plain", "caching"])
@pytest.mark.parametrize(("kind", "shape"), ENGINES)
def test_who_joins_and_leaves_changes_nothing(kind: Any, shape: str, caching: bool, seed: int) -> None:
    model = tiny_model(shape, VOCABULARY)
    traffic = Traffic(kind(LanguageModel(model), PrefixCache(1 << 20) if caching else None), model, seed)
    traffic.run(40)
    assert traffic.joined > 10
    assert (traffic.reused > 0) == caching


@pytest.mark.parametrize("seed", range(2))
def test_recurrent_prompts_join_and_leave(seed: int) -> None:
    model = tiny_model("lfm2", VOCABULARY)
    engine = RecurrentEngine(model)
    assert engine.chunk is None
    traffic = Traffic(engine, model, seed)
    traffic.run(25)
    for guest in traffic.guests:
        engine.close(guest.root)
    assert engine.allocated_bytes == 0


def logits(engine: Engine, branch: int, tokens: list[int]) -> torch.Tensor:
    [[found]] = engine.extend([Feed(branch, tokens)])
    return found.logits


def alone(tokens: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        found: torch.Tensor = MODEL(torch.tensor([tokens])).logits[0, -1]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_other_tokens_than_the_announced_are_not_stored(kind: Any) -> None:
    prefixes = PrefixCache(1 << 20)
    engine = kind(LANGUAGE_MODEL, prefixes)
    [root] = engine.open(1)
    engine.reuse(root, SHARED)
    engine.extend([Feed(root, SHARED[:10])])
    fork = engine.fork(root)
    engine.extend([Feed(fork, [7] * 40)])
    assert prefixes.statistics.prompts == 0
    engine.extend([Feed(root, SHARED[10:]), Feed(fork, [8])])
    assert prefixes.knows(SHARED)
    [joining] = engine.open(1)
    assert engine.reuse(joining, [*SHARED, 9]) == len(SHARED)
    torch.testing.assert_close(logits(engine, joining, [9]), alone([*SHARED, 9]), atol=1e-4, rtol=1e-4)


def tensors(engine: Any) -> list[torch.Tensor]:
    cache = engine._cache if isinstance(engine, PackedEngine) else engine._cache.states
    return [t for layer in cache.layers for t in (layer.keys, layer.values)]


@pytest.mark.parametrize("poisoned", range(3))
@pytest.mark.parametrize("leaving", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_not_a_number_stays_with_its_prompt(kind: Any, leaving: int, poisoned: int) -> None:
    engine = kind(LANGUAGE_MODEL)
    roots = engine.open(3)
    texts = [[5 + i for i in range(30)], [8, 9] * 20, [5, 6] * 10]
    engine.extend([Feed(root, text) for root, text in zip(roots, texts, strict=True)])
    with torch.inference_mode():
        for tensor in tensors(engine):
            tensor[poisoned, :, : len(texts[poisoned])] = torch.nan
    engine.close(roots[leaving])
    running = {root: text for root, text in zip(roots, texts, strict=True) if root != roots[leaving]}
    for turn in range(4):
        running |= {root: [] for root in engine.open(turn)}
        answers = engine.extend([Feed(root, [7, 9]) for root in running])
        for (root, text), [found] in zip(running.items(), answers, strict=True):
            text += [7, 9]
            if root != roots[poisoned]:
                torch.testing.assert_close(found.logits, alone(text), atol=1e-4, rtol=1e-4)


def needed_slots(row: Any) -> int:
    """How many slots a packed prompt has written, or a batched branch has tokens."""
    written: int = row.row.written if hasattr(row, "row") and hasattr(row.row, "written") else row.length
    return written


@pytest.mark.parametrize("kind", KINDS)
def test_hundreds_come_and_go_in_the_same_memory(kind: Any) -> None:
    model = tiny_model("llama", VOCABULARY)
    engine = kind(LanguageModel(model))
    assert engine.bytes_for([Need(1)]) == math.inf  # before the first pass
    traffic = Traffic(engine, model, 0, longest=60, most=8, checked=False)
    while traffic.joined < 300:
        traffic.run(1)
        if traffic.guests and engine._rows:
            slots = max(needed_slots(row) for row in engine._rows)
            assert engine.allocated_bytes <= 16 * len(engine._rows) * max(slots, CHUNK) * engine._cache.slot_bytes
    assert len(engine._branches) == sum(len(guest.branches) for guest in traffic.guests)
    traffic.run(1)
    for guest in traffic.guests:
        engine.close(guest.root)
    assert engine.allocated_bytes == 0 and sum(t.nbytes for t in tensors(engine)) == 0
    assert not engine._branches and not engine._branches._roots and not engine._rows
