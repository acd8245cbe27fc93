"""Rows of different widths share one forward pass without padding, and no branch's logits change."""

from contextlib import nullcontext
from threading import Thread
from typing import Any

import pytest
import torch

from engine_traffic import Traffic
from tiny_models import tiny_model
from tooldecoding.engines.choose_engine import EngineFactory, allow_ragged
from tooldecoding.engines.engine import Feed
from tooldecoding.engines.language_model import LanguageModel
from tooldecoding.engines.packed_engine import PackedEngine
from tooldecoding.engines.prefix_cache import PrefixCache
from tooldecoding.engines.ragged_attention import RAGGED, is_on, switch_off, switch_on
from tooldecoding.engines.row_runs import RowLoad, share_runs
from tooldecoding.engines.slot_cache import Run

VOCABULARY = 200
SHAPES = ["llama", "gpt_neox", "gpt2", "mistral_windowed", "gemma3_text"]
FULL = ["llama", "gpt_neox", "gpt2"]


def ragged_model(shape: str) -> Any:
    model = tiny_model(shape, VOCABULARY)
    assert allow_ragged(LanguageModel(model)) and is_on(model)
    return model


def watch_passes(model: Any) -> list[tuple[int, ...]]:
    """Return a list that grows by the shape of the tokens of each forward pass."""
    passes: list[tuple[int, ...]] = []

    def note(_: Any, given: Any, named: Any) -> None:
        passes.append(tuple((named.get("input_ids") if named else given[0]).shape))

    model.base_model.register_forward_pre_hook(note, with_kwargs=True)
    return passes


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("caching", [False, True], ids=["plain", "caching"])
@pytest.mark.parametrize("shape", SHAPES)
def test_who_shares_a_pass_changes_nothing(shape: str, caching: bool, seed: int) -> None:
    model = ragged_model(shape)
    engine = PackedEngine(LanguageModel(model), PrefixCache(1 << 20) if caching else None)
    traffic = Traffic(engine, model, seed)
    traffic.run(40)
    assert traffic.joined > 10 and (traffic.reused > 0) == caching


@pytest.mark.parametrize("shape", FULL)
def test_a_pass_takes_all_rows_without_padding(shape: str) -> None:
    model = ragged_model(shape)
    engine = PackedEngine(LanguageModel(model))
    roots = engine.open(6)
    lengths = [3, 900, 70, 8, 890, 75]
    passes = watch_passes(model)
    for _ in range(3):
        engine.extend([Feed(root, [5] * length) for root, length in zip(roots, lengths, strict=True)])
    assert passes == [(1, sum(lengths))] * 3
    assert all(engine.usage(root).padding == 0 and engine.usage(root).forward_passes == 3 for root in roots)


def test_branches_and_a_piece_of_a_prompt_share_a_pass() -> None:
    model = ragged_model("llama")
    engine = PackedEngine(LanguageModel(model))
    [stream, prompt, other] = engine.open(3)
    engine.extend([Feed(stream, [5, 6, 7]), Feed(other, [8])])
    forks = [engine.fork(other) for _ in range(3)]
    passes = watch_passes(model)
    answers = engine.extend(
        [
            Feed(stream, [9]),
            Feed(prompt, [10 + i for i in range(100)]),
            *(Feed(fork, [20, 21, 22], 2) for fork in forks),
        ]
    )
    assert passes == [(1, 1 + 100 + 9)]
    assert [len(found) for found in answers] == [1, 1, 3, 3, 3]
    with torch.inference_mode():
        for [found, *_], tokens in zip(answers[2:], [[8, 20]] * 3, strict=True):
            expected = model(torch.tensor([tokens])).logits[0, -1]
            torch.testing.assert_close(found.logits, expected, atol=1e-4, rtol=1e-4)


def test_empty_rows_behind_a_window_are_not_ragged() -> None:
    model = ragged_model("mistral_windowed")
    engine = PackedEngine(LanguageModel(model))
    roots = engine.open(2)
    passes = watch_passes(model)
    engine.extend([Feed(roots[0], [5] * 3), Feed(roots[1], [6] * 80)])
    assert passes == [(1, 3), (1, 80)]
    engine.extend([Feed(roots[0], [5] * 3), Feed(roots[1], [6] * 80)])
    assert passes[2:] == [(1, 83)]


def test_who_asks_for_another_attention_gets_it() -> None:
    """Also while the engine runs: its passes are not ragged any more."""
    model = ragged_model("llama")
    engine = PackedEngine(LanguageModel(model))
    roots = engine.open(2)
    passes = watch_passes(model)
    model.set_attn_implementation("eager")
    answers = engine.extend([Feed(roots[0], [5] * 3), Feed(roots[1], [6] * 80)])
    assert passes == [(1, 3), (1, 80)]
    for [found], tokens in zip(answers, [[5] * 3, [6] * 80], strict=True):
        with torch.inference_mode():
            expected = model(torch.tensor([tokens])).logits[0, -1]
        torch.testing.assert_close(found.logits, expected, atol=1e-4, rtol=1e-4)


def test_a_model_whose_attention_is_its_own_is_left_alone() -> None:
    for shape in ("bloom", "gemma2"):
        model = tiny_model(shape, VOCABULARY)
        before = model.config.get_text_config()._attn_implementation
        EngineFactory(model, "auto")
        assert model.config.get_text_config()._attn_implementation == before != RAGGED


def test_other_logits_switch_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model("llama", VOCABULARY)
    of = Run.of
    monkeypatch.setattr(Run, "of", lambda run, line: of(run, line.flip(2)))
    assert not allow_ragged(LanguageModel(model))
    assert not is_on(model)


def test_switching() -> None:
    model = tiny_model("llama", VOCABULARY)
    assert switch_on(model) and switch_on(model)
    switch_off(model)
    assert not is_on(model)
    model.set_attn_implementation("eager")
    assert not switch_on(model) and model.config._attn_implementation == "eager"


@pytest.mark.parametrize("fails", [False, True])
def test_between_passes_the_model_is_as_it_was(fails: bool) -> None:
    """Also if a pass fails, and if two passes of one model overlap."""
    model = ragged_model("llama")
    outer, inner = PackedEngine(LanguageModel(model)), PackedEngine(LanguageModel(model))
    seen: list[str] = []

    def run(engine: PackedEngine, lengths: tuple[int, int]) -> None:
        engine.extend([Feed(root, [5] * n) for root, n in zip(engine.open(2), lengths, strict=True)])

    def note(*_: Any) -> None:
        seen.append(model.config._attn_implementation)
        if len(seen) == 1:
            thread = Thread(target=run, args=(inner, (2, 90)))
            thread.start()
            thread.join()
            seen.append(model.config._attn_implementation)
            if fails:
                raise RuntimeError("no memory")

    model.base_model.register_forward_pre_hook(note)
    with nullcontext() if not fails else pytest.raises(RuntimeError, match="no memory"):
        run(outer, (3, 80))
    assert seen == [RAGGED] * 3 and model.config._attn_implementation == "sdpa"


def test_runs() -> None:
    def runs(*loads: tuple[int, int, int], worth: int = 4) -> list[list[int]]:
        return [[load.row for load in run] for run in share_runs([RowLoad(*load) for load in loads], worth)]

    assert runs((0, 1, 50), (1, 1, 60), (2, 1, 55)) == [[0, 1, 2]]
    assert runs((0, 1, 50), (2, 1, 60), (3, 1, 55)) == [[0], [2, 3]]  # only neighbours
    assert runs((0, 2, 50), (1, 5, 60), (2, 6, 55), (3, 60, 70)) == [[0, 1, 2], [3]]
    assert runs((0, 1, 50), (1, 1, 60_000), (2, 1, 50)) == [[0], [1], [2]]  # one would attend to the slots of another
    assert runs((0, 9, 0), (1, 9, 10), (2, 9, 10)) == [[0], [1, 2]]  # empty rows need no mask


def test_another_decoder_does_not_disturb_a_pass() -> None:
    """Also if it is made while the pass runs: the trial of a model is made once."""
    model = ragged_model("llama")
    engine = PackedEngine(LanguageModel(model))
    roots = engine.open(2)
    made: list[str] = []

    def note(*_: Any) -> None:
        if not made:
            thread = Thread(target=lambda: made.append(EngineFactory(model, "packed").strategy))
            made.append("begun")
            thread.start()
            thread.join()

    model.base_model.register_forward_pre_hook(note)
    engine.extend([Feed(root, [5] * n) for root, n in zip(roots, (3, 80), strict=True)])
    assert made == ["begun", "packed"] and is_on(model) and model.config._attn_implementation == "sdpa"
