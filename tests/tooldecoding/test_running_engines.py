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
SLOT = 2 * 2 * 2 * 16 * 4
"""Bytes of a token's keys and values: layers, two of them, heads, width, bytes of a number."""
KINDS = [PackedEngine, BatchedEngine]
SHAPES = ("llama", "gpt_neox", "mistral_windowed", "gemma2", "gpt2", "bloom")
CASES = [(kind, shape, True) for kind in KINDS for shape in SHAPES if (kind, shape) != (PackedEngine, "bloom")]
CASES += [(PackedEngine, "gemma2", False), (BatchedEngine, "gemma2", False)]
"""Engine, shape, and whether prompts are cached."""
SHARED = [5 + i * 11 % 190 for i in range(40)]
"""Some prompts begin with this."""


@dataclass
class Guest:
    """A prompt that runs."""

    root: BranchId
    usage: Usage
    unfed: list[int]
    branches: dict[BranchId, tuple[list[int], int]] = field(default_factory=dict)
    """For each live branch its tokens, and how many of the last it may drop."""
    positions: int = 0
    passes: int = 0


class Traffic:
    """Drives an engine at random and compares its logits with the model's own behind each branch's tokens."""

    def __init__(self, engine: Engine, model: Any = None, seed: int = 0, longest: int = 90, most: int = 6) -> None:
        self.engine = engine
        self.random = Random(seed)
        self.guests: list[Guest] = []
        self.left: list[BranchId] = []
        self.joined = self.reused = 0
        self._model = model
        self._longest = longest
        self._most = most

    def run(self, steps: int) -> None:
        """Let prompts join and leave between so many passes."""
        for _ in range(steps):
            if len(self.guests) < self._most and self.random.random() < 0.6:
                self.join(self.random.randint(1, 3))
            feeds = [feed for guest in self.guests if self.random.random() < 0.8 for feed in self._feeds(guest)]
            if feeds:
                self._pass(feeds)
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

    def close(self) -> None:
        """Close all prompts that run."""
        for guest in self.guests:
            self.engine.close(guest.root)
        assert self.engine.allocated_bytes == 0

    def _feeds(self, guest: Guest) -> list[Feed]:
        if guest.unfed:
            size = self.random.choice([1, 3, 7, 200]) if self.engine.chunk else len(guest.unfed)
            piece, guest.unfed = guest.unfed[:size], guest.unfed[size:]
            return [Feed(guest.root, piece)]
        some = self.random.sample(list(guest.branches), self.random.randint(1, len(guest.branches)))
        feeds = []
        for branch in some:
            tokens = [self.random.randint(5, 199) for _ in range(self.random.randint(1, 4))]
            ahead = self.random.randint(0, len(tokens)) if self.engine.can_drop else 0
            feeds.append(Feed(branch, tokens, min(ahead, len(tokens) - 1)))
        return feeds

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
            if self._model is not None:
                own = torch.stack([logits.logits for logits in found])
                torch.testing.assert_close(own.cpu(), alone(tokens, self._model, len(own)), atol=1e-4, rtol=1e-4)
        for guest in passing:
            assert (guest.usage.positions, guest.usage.forward_passes) == (guest.positions, guest.passes)

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


def alone(tokens: list[int], model: Any = MODEL, count: int = 1) -> torch.Tensor:
    """The model's own logits behind each of the last tokens."""
    with torch.inference_mode():
        found: torch.Tensor = model(torch.tensor([tokens])).logits[0, -count:].float()
    return found


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("kind", KINDS)
def test_who_joins_and_leaves_changes_nothing_on_a_gpu(kind: Any) -> None:
    Traffic(kind(LanguageModel(tiny_model("llama", VOCABULARY).to("cuda"))), MODEL).run(40)


@pytest.mark.parametrize(("kind", "shape", "caching"), CASES)
def test_who_joins_and_leaves_changes_nothing(kind: Any, shape: str, caching: bool) -> None:
    model = tiny_model(shape, VOCABULARY)
    engine = kind(LanguageModel(model), PrefixCache(1 << 20) if caching else None)
    traffic = Traffic(engine, model, seed=int(caching))
    traffic.run(40)
    assert traffic.joined > 10
    assert (traffic.reused > 0) == caching


def test_recurrent_prompts_join_and_leave() -> None:
    model = tiny_model("lfm2", VOCABULARY)
    traffic = Traffic(RecurrentEngine(model), model)
    traffic.run(25)
    traffic.close()


@pytest.mark.parametrize("kind", KINDS)
def test_hundreds_come_and_go_in_the_same_memory(kind: Any) -> None:
    engine = kind(LANGUAGE_MODEL)
    assert engine.bytes_for([Need(1)]) == math.inf  # before the first pass
    traffic = Traffic(engine, longest=60, most=8)
    while traffic.joined < 300:
        traffic.run(1)
        branches = [tokens for guest in traffic.guests for tokens, _ in guest.branches.values()]
        slots = max([CHUNK, *map(len, branches)])
        assert engine.allocated_bytes <= 16 * max(1, len(branches)) * slots * SLOT
    traffic.run(1)
    traffic.close()
    for root in traffic.left:
        with pytest.raises(KeyError):
            engine.usage(root)


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
    [[found]] = engine.extend([Feed(joining, [9])])
    torch.testing.assert_close(found.logits, alone([*SHARED, 9])[0], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("poisoned", range(3))
@pytest.mark.parametrize("leaving", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_not_a_number_stays_with_its_prompt(kind: Any, leaving: int, poisoned: int) -> None:
    texts, prefixes = [[5 + i for i in range(30)], [8, 9] * 20, [5, 6] * 10], PrefixCache(1 << 20)
    nothing = torch.full((2, len(texts[poisoned]) - 1, 16), torch.nan)
    prefixes.store(texts[poisoned][:-1], [(nothing, nothing)] * 2)
    engine = kind(LANGUAGE_MODEL, prefixes)
    roots = engine.open(3)
    known = [0, 0, 0]
    known[poisoned] = engine.reuse(roots[poisoned], texts[poisoned])
    assert known[poisoned]
    engine.extend([Feed(root, text[size:]) for root, text, size in zip(roots, texts, known, strict=True)])
    engine.close(roots[leaving])
    running = {root: text for root, text in zip(roots, texts, strict=True) if root != roots[leaving]}
    for turn in range(4):
        running |= {root: [] for root in engine.open(turn)}
        answers = engine.extend([Feed(root, [7, 9]) for root in running])
        for (root, text), [found] in zip(running.items(), answers, strict=True):
            text += [7, 9]
            if root != roots[poisoned]:
                torch.testing.assert_close(found.logits, alone(text)[0], atol=1e-4, rtol=1e-4)
