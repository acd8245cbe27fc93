"""Prompts join and leave a running engine: nobody else's logits change, and memory is bounded by what runs."""

import math
from typing import Any

import pytest
import torch

from engine_traffic import SHARED, Traffic
from tiny_models import tiny_model
from tooldecoding.engines.batched_engine import BatchedEngine
from tooldecoding.engines.engine import Engine, Feed, Need
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


@pytest.mark.parametrize("kind", [*KINDS, RecurrentEngine])
def test_closing_in_any_state(kind: Any) -> None:
    engine: Engine = kind(LANGUAGE_MODEL) if kind in KINDS else kind(MODEL)
    stays, unfed, rootless, forked = engine.open(4)
    engine.close(unfed)
    engine.extend([Feed(root, [5, 6, 7]) for root in (stays, rootless, forked)])
    rest = engine.fork(rootless)
    engine.release(rootless)
    forks = [engine.fork(forked) for _ in range(3)]
    engine.close(forks[0])  # no root: nothing ends
    engine.extend([Feed(stays, [8]), Feed(rest, [9]), *(Feed(fork, [10]) for fork in forks)])
    for root in (unfed, rootless, forked, rootless, 999):
        engine.close(root)
        for branch in (rest, *forks):
            if root == forked:
                with pytest.raises(KeyError):
                    engine.usage(branch)
    torch.testing.assert_close(logits(engine, stays, [11]), alone([5, 6, 7, 8, 11]), atol=1e-4, rtol=1e-4)
    engine.close(stays)
    engine.close(stays)
    assert engine.allocated_bytes == 0


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


@pytest.mark.parametrize("kind", KINDS)
def test_memory_follows_what_runs(kind: Any) -> None:
    engine = kind(LANGUAGE_MODEL)
    assert engine.bytes_for([Need(1)]) == math.inf
    [stays, long] = engine.open(2)
    engine.extend([Feed(stays, [5, 6, 7]), Feed(long, [8] * 1500)])
    slot = 2 * 2 * 2 * 16 * 4  # layers, keys and values, heads, width, bytes
    assert engine._cache.slot_bytes == slot
    assert engine.allocated_bytes >= 2 * 1500 * slot
    engine.close(long)
    more = engine.open(30)
    answers = engine.extend([Feed(root, [9, 10]) for root in [stays, *more]])
    torch.testing.assert_close(answers[0][0].logits, alone([5, 6, 7, 9, 10]), atol=1e-4, rtol=1e-4)
    most = engine.allocated_bytes
    assert most <= 2 * 31 * 64 * slot
    for root in more:
        engine.close(root)
    torch.testing.assert_close(logits(engine, stays, [11]), alone([5, 6, 7, 9, 10, 11]), atol=1e-4, rtol=1e-4)
    assert engine.allocated_bytes <= most / 4
    assert sum(t.nbytes for t in tensors(engine)) <= 2 * engine.allocated_bytes  # on the CPU as much is reserved
    engine.close(stays)
    assert engine.allocated_bytes == 0
    assert engine._cache.slot_bytes == slot
