"""Engines: what they keep of prompts, which join and leave a running one; long feeds in pieces; logits.

Nobody else's logits change when a prompt joins or leaves, and memory is bounded by what runs.
"""

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import tooldecoding.engines.passes as feed_pieces
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.batched_engine import BatchedEngine
from tooldecoding.engines.engine import BranchId, Engine, Feed, Need, Usage
from tooldecoding.engines.language_model import LanguageModel
from tooldecoding.engines.logits import LogitRows, NextTokenLogits
from tooldecoding.engines.packed_engine import PackedEngine
from tooldecoding.engines.prefix_cache import PrefixCache, States
from tooldecoding.engines.recurrent_engine import RecurrentEngine
from tooldecoding.engines.slot_cache import CHUNK, SlotCache
from tools import WEATHER, lookup

TOKENIZER = byte_level_tokenizer()
SLOT = 2 * 2 * 2 * 16 * 4
"""Bytes of a token's keys and values: layers, two of them, heads, width, bytes of a number."""
VOCABULARY = 200
MODEL = tiny_model("llama", VOCABULARY)
LANGUAGE_MODEL = LanguageModel(MODEL)
KINDS = [PackedEngine, BatchedEngine]
SHAPES = ("llama", "gpt_neox", "mistral_windowed", "gemma2", "gpt2", "bloom")
ON_A_GPU = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]
CASES: list[Any] = [(kind, shape, True, "cpu") for kind in KINDS for shape in SHAPES]
CASES.remove((PackedEngine, "bloom", True, "cpu"))
CASES += [(kind, "gemma2", False, "cpu") for kind in KINDS] + [(RecurrentEngine, "lfm2", False, "cpu")]
CASES += [pytest.param(kind, "llama", False, "cuda", marks=ON_A_GPU) for kind in KINDS]
"""Engine, shape, whether prompts are cached, and the device."""
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


@dataclass
class Traffic:
    """Drives an engine at random and compares its logits with those ``alone``, behind each branch's tokens."""

    engine: Engine
    alone: Callable[[list[int], int], torch.Tensor] | None = None
    random: Random = field(default_factory=lambda: Random(0))
    longest: int = 90
    most: int = 6
    difference: float = 1e-4
    guests: list[Guest] = field(default_factory=list)
    left: list[BranchId] = field(default_factory=list)
    joined: int = 0
    reused: int = 0

    def run(self, steps: int) -> None:
        """Let prompts join and leave between so many passes."""
        for _ in range(steps):
            if len(self.guests) < self.most and self.random.random() < 0.6:
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
            size = self.random.choice([1, 2, 5, 20, self.longest])
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
            ahead = self.random.randint(0, len(tokens)) if self.engine.can_roll_back else 0
            feeds.append(Feed(branch, tokens, min(ahead, len(tokens) - 1)))
        return feeds

    def _pass(self, feeds: list[Feed]) -> None:
        answers = self.engine.extend(feeds)
        passing = []
        for feed, found in zip(feeds, answers, strict=True):
            [guest] = [g for g in self.guests if feed.branch in g.branches]
            tokens = [*guest.branches[feed.branch][0], *feed.tokens]
            guest.branches[feed.branch] = tokens, feed.speculative
            if self.engine.can_roll_back:
                guest.passes += guest not in passing
            else:
                guest.passes += len(feed.tokens) if guest.positions else 1
            guest.positions += len(feed.tokens)
            passing.append(guest)
            assert len(found) == feed.speculative + 1
            if self.alone is not None:
                own, expected = torch.stack([logits.logits for logits in found]), self.alone(tokens, len(found))
                torch.testing.assert_close(own.cpu(), expected, atol=self.difference, rtol=self.difference)
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


def alone(tokens: list[int], count: int = 1, model: Any = MODEL) -> torch.Tensor:
    """The model's own logits behind each of the last tokens."""
    with torch.inference_mode():
        found: torch.Tensor = model(torch.tensor([tokens])).logits[0, -count:].float()
    return found


@pytest.mark.parametrize(("kind", "shape", "caching", "device"), CASES)
def test_who_joins_and_leaves_changes_nothing(kind: Any, shape: str, caching: bool, device: str) -> None:
    model, own = tiny_model(shape, VOCABULARY), tiny_model(shape, VOCABULARY).to(device)
    if kind is RecurrentEngine:
        engine = RecurrentEngine(own)
    else:
        engine = kind(LanguageModel(own), PrefixCache(1 << 20) if caching else None)
    traffic = Traffic(engine, partial(alone, model=model), Random(int(caching)))
    traffic.run(40)
    assert traffic.joined > 10
    assert (traffic.reused > 0) == caching
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
    assert not prefixes._entries
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


DOCUMENTED = "Tools: " + "GetWeather tells the weather of a city on some days. " * 10
SAID = ("hello", "how is Rome?", "how is Rome, for 3 days?")
REQUESTS = [f"{DOCUMENTED}\nUser: {said}\nAPI-Request: " for said in SAID]


def decode(decoder: ToolDecoder, prompt: str, order_limit: int) -> Any:
    return decoder.decode(prompt, tools=lookup(WEATHER), order_limit=order_limit)


def test_longer_rows_are_seldom_copied_on_a_gpu() -> None:
    """A chunk at a time, a prompt of 1000 tokens would be copied ten times until it has 600 slots more."""
    cache = SlotCache(torch.device("cuda"))
    cache.reserve(1, 1000)
    state = torch.rand(1, 1000, 2)
    cache.write(0, 1000, [(state, state)])
    places = []
    for slots in range(1000, 1600):
        cache.reserve(1, slots)
        places.append(cache.layers[0].keys)
        assert torch.equal(places[-1][0, :, :1000], state) and not places[-1][0, :, 1000:].any()
    assert len({id(place) for place in places}) == 1 + 4 and cache.slots < 1600 * 9 / 8 + CHUNK


def test_packed_keeps_one_copy_of_the_prompt() -> None:
    model, prompt = tiny_model("llama", len(TOKENIZER)), "User: what is the weather like? " * 40
    length = len(TOKENIZER.encode(prompt)) - 1
    fields: dict[str, Any] = {"max_value_tokens": 4, "draft_tokens": 0}
    for order_limit in (1, 12):
        packed, batched = (
            decode(ToolDecoder(model, TOKENIZER, strategy, **fields), prompt, order_limit).counters  # type: ignore[arg-type]
            for strategy in ("packed", "batched")
        )
        assert packed.positions == batched.positions
        assert length * SLOT <= packed.cache_bytes <= -(-packed.positions // CHUNK) * CHUNK * SLOT
        assert batched.cache_bytes > order_limit * length * SLOT


@pytest.mark.parametrize(
    ("shape", "strategy"), [("llama", "packed"), ("gemma2", "batched"), ("gpt2", "packed"), ("bloom", "batched")]
)
def test_what_is_shared_is_not_computed_again(shape: str, strategy: Any) -> None:
    model = tiny_model(shape, len(TOKENIZER))
    plain, caching = (
        ToolDecoder(model, TOKENIZER, strategy, prompt_cache_mb=size, max_value_tokens=5) for size in (0, 64)
    )
    for number, prompt in enumerate(REQUESTS):
        one, other = decode(plain, prompt, 1), decode(caching, prompt, 1)
        assert [call.candidates[0].token_ids for call in one.calls] == [c.candidates[0].token_ids for c in other.calls]
        pairs = [zip(TOKENIZER.encode(prompt), TOKENIZER.encode(f), strict=False) for f in REQUESTS[:number]]
        shared = max((next(n for n, (a, b) in enumerate(both) if a != b) for both in pairs), default=0)
        assert other.counters.reused_positions == shared
        assert other.counters.positions == one.counters.positions - shared
        assert one.counters.reused_positions == 0
    again = decode(caching, REQUESTS[0], 12).counters
    size = len(TOKENIZER.encode(REQUESTS[0]))
    assert again.reused_positions == size - 2  # the last token is held back, and one must be fed to get logits
    assert 0 < caching.prompt_cache._bytes <= 64 << 20


def test_keys_that_depend_on_the_length_of_the_prompt_are_not_kept() -> None:
    model = tiny_model("llama", len(TOKENIZER))
    assert ToolDecoder(model, TOKENIZER).prompt_cache.max_bytes > 0
    model.config.rope_parameters = {"rope_type": "longrope", "rope_theta": 10000.0}
    assert ToolDecoder(model, TOKENIZER).prompt_cache.max_bytes == 0


def states(tokens: int) -> States:
    return [(torch.zeros(1, tokens, 8), torch.zeros(1, tokens, 8))]


def test_the_oldest_prompts_are_forgotten() -> None:
    size = 2 * 100 * 8 * 4
    cache = PrefixCache(3 * size)
    prompts = [[number] * 100 for number in range(5)]
    for prompt in prompts[:3]:
        cache.store(prompt, states(100))
    assert cache.find(prompts[0], 99) is not None  # used again: now the second is the oldest
    cache.store(prompts[3], states(100))
    assert [cache.knows(p) for p in prompts] == [True, False, True, True, False]
    assert cache._bytes == 3 * size
    cache.store([7] * 1000, states(1000))  # larger than all of it
    assert len(cache._entries) == 3
    cache.store([*prompts[3], 5], states(101))
    assert len(cache._entries) == 2, "the beginning of a prompt is not kept beside it, and another was the oldest"
    cache.clear()
    assert cache._bytes == 0 and cache.find(prompts[0], 99) is None


class Watched(TorchDispatchMode):
    """Notes the bytes of the largest tensor that an operation returns, and counts the scalars that are read."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = self.scalars = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation."""
        self.scalars += func is torch.ops.aten._local_scalar_dense.default
        out = func(*args, **(kwargs or {}))
        tensors = [t for t in tree_leaves(out) if isinstance(t, torch.Tensor)]
        self.largest = max([self.largest, *(t.numel() * t.element_size() for t in tensors)])
        return out


MASKED = [
    (PackedEngine, "llama", 40, 1),
    (PackedEngine, "mistral_windowed", 0, 1),
    (BatchedEngine, "llama", 40, 1),
    (BatchedEngine, "llama", 0, 2),
    (BatchedEngine, "mistral_windowed", 0, 1),
]
"""Engine, shape, cached tokens of the prompt, and prompts of different length: whatever needs a mask."""


def last_logits(kind: Any, shape: str, cached: int, prompts: int) -> tuple[list[torch.Tensor], int]:
    """Feed prompts; return the logits behind them, and the bytes of the largest tensor that was made."""
    random, engine = Random(0), kind(LanguageModel(tiny_model(shape, VOCABULARY)), PrefixCache(1 << 28))
    tokens = [[random.randint(5, 199) for _ in range(1200 >> number)] for number in range(prompts)]
    if cached:
        [root] = engine.open(1)
        engine.reuse(root, tokens[0][:cached])
        engine.extend([Feed(root, tokens[0][:cached])])
    feeds = []
    for root, own in zip(engine.open(prompts), tokens, strict=True):
        assert engine.reuse(root, own) == cached
        feeds.append(Feed(root, own[cached:], 1))
    with Watched() as watched:
        found = engine.extend(feeds)
    return [one.logits.clone() for behind in found for one in behind], watched.largest


@pytest.mark.parametrize("case", MASKED)
def test_pieces_change_no_logits_and_bound_the_mask(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, unbounded = last_logits(*case)
    monkeypatch.setattr(feed_pieces, "_FEWEST", 16)
    monkeypatch.setattr(feed_pieces, "MASK_BYTES", 1 << 16)
    pieces, bounded = last_logits(*case)
    for one, other in zip(whole, pieces, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
    assert unbounded >= 1100 * 1100  # the mask: a byte each, if not four
    assert 2 * bounded <= unbounded


@pytest.mark.parametrize("size", [300, 4096, 10_000])
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 1e4])
def test_logprobs_are_those_of_softmax(size: int, spread: float) -> None:
    logits = torch.randn(3, size, generator=torch.Generator().manual_seed(size)) * spread
    logits[:, [7, 200]] = logits.amax(-1, keepdim=True) + 1.0
    rows, among = LogitRows(logits), np.array([8, 9, 200])
    for number in (1, 2, 0):
        found, expected = NextTokenLogits(rows, number), torch.log_softmax(logits[number].double(), -1)
        assert found.best == 7  # the lower id among equals
        for token in (7, 200, 9, size - 1):
            assert found.logprob(token) == pytest.approx(float(expected[token]), abs=1e-4, rel=1e-6)
        expected = torch.log_softmax(logits[number, among].double(), -1)
        assert found.best_among(among) == (200, pytest.approx(float(expected[2]), abs=1e-5))


def test_a_pass_is_read_in_one_transfer_and_a_refused_row_in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The logits of a device that is none: copies of tensors, and scalars, are counted."""
    model, among = tiny_model("llama", 4096 + 300), np.arange(40, 50)
    feeds = [(range(5, 12), None), (range(7, 14), (among,)), (range(3, 10), None)]
    copied, copy = [0], torch.Tensor.cpu

    def counted(tensor: torch.Tensor) -> torch.Tensor:
        copied[0] += 1
        return copy(tensor).clone()

    def read(watched: Any) -> tuple[list[Any], list[Any]]:
        engine = PackedEngine(LanguageModel(model))
        roots = engine.open(len(feeds))
        answers = engine.extend([Feed(root, list(t), 0, few) for root, (t, few) in zip(roots, feeds, strict=True)])
        first, few, last = (logits for [logits] in answers)
        with watched:
            every = [first.best, first.logprob(first.best), *few.best_among(among), last.best, last.logprob(last.best)]
        copies.append(copied[0])
        return every, [last.share(among), *last.best_among(among), last.logprob(7), *last.values.tolist()]

    copies: list[int] = []
    expected, watched = read(nullcontext()), Watched()
    monkeypatch.setattr(torch.Tensor, "cpu", counted)
    monkeypatch.setattr(LogitRows, "on_cpu", False)
    for one, other in zip(read(watched), expected, strict=True):
        assert one == pytest.approx(other, abs=1e-4)
    assert copies == [0, 1] and copied == [2]
    assert watched.scalars == 2  # of the few logits, which are on the CPU by then
