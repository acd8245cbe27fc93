"""Every method writes the wanted call with random weights, and passes are those of the formula."""

import sys
from collections.abc import Sequence

import pytest
import torch
from formula import formula_passes
from tiny_bench import generate, subject, tool_decoding, workload

from eval.bench.lesson import BONUS, Lesson
from eval.bench.methods import EngineMethod, library
from eval.errors import EvalError
from eval.options import PEER_METHODS
from tooldecoding.options import DecodeOptions


@pytest.mark.parametrize(("batch", "limit"), [(1, 1), (3, 2), (1, 24)])
def test_tool_decoding_writes_the_call_in_the_passes_of_the_formula(batch: int, limit: int) -> None:
    work = workload(batch)
    options = DecodeOptions(order_limit=limit, max_calls=1, draft_tokens=0)
    run = tool_decoding(work, limit, draft_tokens=0).run()  # it checks what was written
    table = subject().decoder.table
    assert run.passes == max(formula_passes(task, options, table) for task in work.tasks)


@pytest.mark.parametrize("limit", [1, 4, 12])
def test_drafts_save_passes_and_change_nothing(limit: int) -> None:
    work = workload(2, copied=1)
    assert tool_decoding(work, limit).run().passes < tool_decoding(work, limit, draft_tokens=0).run().passes


@pytest.mark.parametrize(("batch", "beams"), [(1, 1), (1, 2), (3, 6)])
def test_generate_writes_the_call(batch: int, beams: int) -> None:
    work = workload(batch)
    run = generate(work, beams).run()
    calls = [len(t.call_ids) for t in work.tasks]
    prompts = [len(t.prompt_ids) for t in work.tasks]
    assert (run.passes, run.written) == (max(calls), sum(calls))
    assert run.positions == beams * (sum(prompts) + sum(calls) - batch)
    cached = beams * batch * (max(prompts) + max(calls) - 1)
    assert run.positions <= cached
    assert run.cache_bytes == cached * 2 * 2 * 2 * 16 * 4  # keys and values, 2 layers, 2 heads of 16, fp32


OPTIONS = DecodeOptions(format="api-bank", max_calls=1)


@pytest.mark.parametrize("name", PEER_METHODS)
@pytest.mark.parametrize("batch", [1, 3])
def test_an_installed_library_writes_the_call(name: str, batch: int) -> None:
    pytest.importorskip(name)
    work = workload(batch)
    ready = library(name, subject(), work, OPTIONS)
    assert isinstance(ready, EngineMethod), ready
    run = ready.run()  # it checks what was written
    assert run.passes >= generate(work).run().passes and 0 < run.constraint < run.decode
    assert ready.preparation["tools"] > 0 and ready.note.startswith("version ")


@pytest.mark.parametrize("name", PEER_METHODS)
def test_a_library_that_cannot_be_used_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    pytest.importorskip(name)
    for module in [m for m in sys.modules if m.split(".")[0] == name]:
        monkeypatch.setitem(sys.modules, module, None)
    reason = library(name, subject(), workload(), OPTIONS)
    assert isinstance(reason, str) and "ModuleNotFoundError" in reason


def test_a_token_that_a_library_refuses_has_others_that_begin_the_same_text() -> None:
    [task] = workload().tasks
    table = subject().decoder.table
    wanted = Lesson(task, table).wanted(table.join([*task.prompt_ids, task.call_ids[0]]))
    own, *others = sorted(wanted, key=wanted.__getitem__, reverse=True)
    assert (own, wanted[own]) == (task.call_ids[1], BONUS) and others
    behind = task.text()[len(table.text(task.call_ids[0])) :]
    assert all(behind.startswith(table.text(token).decode()) for token in others)
    lengths = [len(table.text(token)) for token in others]
    assert lengths == sorted(lengths, reverse=True) and max(wanted[token] for token in others) < BONUS


def test_times_add_up() -> None:
    for method in (tool_decoding(workload(), 4), generate(workload())):
        run = method.run()
        assert 0 <= run.constraint <= run.outside < run.decode < run.total
        assert run.teacher > 0


@pytest.mark.parametrize("limit", [1, 12])
def test_tokens_are_chosen_by_the_real_selection_among_real_logits(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    method = tool_decoding(workload(), limit, max_value_tokens=6)
    method.run()
    monkeypatch.setattr(Lesson, "wanted", lambda *_: {})
    with pytest.raises(EvalError, match=r"^\d+ orders? has not written the wanted call: expected .\[Make"):
        method.run()


def test_generate_without_the_teacher_writes_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def untaught(_: object, ids: Sequence[int], scores: torch.Tensor) -> torch.Tensor:
        return scores

    monkeypatch.setattr("eval.bench.teacher.TaughtProcessor.__call__", untaught)
    with pytest.raises(EvalError, match="greedy has not written the wanted call"):
        generate(workload()).run()
