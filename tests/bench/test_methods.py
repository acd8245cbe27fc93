"""Every method writes the wanted call with random weights, and passes are those of the formula."""

from collections.abc import Sequence

import pytest
import torch
from tiny_bench import generate, tool_decoding, workload

from eval.bench.lesson import Lesson
from eval.errors import EvalError
from tooldecoding.formats.known_formats import CALL_FORMATS

FORMATS = ["api-bank", "hermes", "qwen-xml", "gemma4"]
QUOTED = [name for name, call_format in CALL_FORMATS.items() if isinstance(call_format.notation, str)]
MARKED = [name for name in CALL_FORMATS if name not in QUOTED]
GRID = [(name, batch, limit) for name in FORMATS for batch, limit in ((1, 1), (3, 2), (1, 24))]
EVERY = [(name, 2, 4) for name in CALL_FORMATS]


@pytest.mark.parametrize(("call_format", "batch", "limit"), GRID + EVERY)
def test_tool_decoding_writes_the_call_in_the_passes_of_the_formula(call_format: str, batch: int, limit: int) -> None:
    method = tool_decoding(workload(batch, call_format), limit, draft_tokens=0)
    run = method.run()  # it checks what was written
    # 4 values of 5 tokens and the one that ends each; one more where the prompt is computed before orders part
    fewest = 24 + (limit > 1)
    assert run.passes == method.formula and (method.formula == fewest if call_format in QUOTED else run.passes > fewest)
    assert run.model_calls >= run.passes and (batch > 1 or run.padding == 0)


@pytest.mark.parametrize("limit", [1, 4, 12])
def test_drafts_save_passes_and_change_nothing(limit: int) -> None:
    method = tool_decoding(workload(2, copied=1), limit)
    assert method.run().passes < (method.formula or 0)


@pytest.mark.parametrize("call_format", MARKED)
@pytest.mark.parametrize("limit", [1, 4])
def test_with_drafts_a_mark_costs_hardly_more_than_a_quote(call_format: str, limit: int) -> None:
    quoted, marked = (
        tool_decoding(workload(1, name, copied=1), limit).run().passes for name in ("hermes", call_format)
    )
    assert marked <= quoted + 4  # one pass more for each value at most


@pytest.mark.parametrize("call_format", FORMATS)
@pytest.mark.parametrize(("batch", "beams"), [(1, 1), (1, 2), (3, 6)])
def test_generate_writes_the_call(call_format: str, batch: int, beams: int) -> None:
    work = workload(batch, call_format)
    run = generate(work, beams).run()
    calls = [len(t.call_ids) for t in work.tasks]
    prompts = [len(t.prompt_ids) for t in work.tasks]
    assert (run.passes, run.written) == (max(calls), sum(calls))
    assert run.positions == beams * (sum(prompts) + sum(calls) - batch)
    cached = beams * batch * (max(prompts) + max(calls) - 1)
    assert run.positions + run.padding == cached
    assert run.cache_bytes == cached * 2 * 2 * 2 * 16 * 4  # keys and values, 2 layers, 2 heads of 16, fp32


def test_times_add_up() -> None:
    for method in (tool_decoding(workload(), 4), generate(workload())):
        run = method.run()
        assert 0 <= run.constraint <= run.outside < run.decode < run.total
        assert run.teacher > 0


@pytest.mark.parametrize("limit", [1, 12])
def test_tokens_are_chosen_by_the_real_selection_among_real_logits(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    method = tool_decoding(workload(), limit, max_value_tokens=6)
    method.run()
    monkeypatch.setattr(Lesson, "wanted", lambda *_: None)
    with pytest.raises(EvalError, match=r"^\d+ orders? has not written the wanted call: expected .\[Make"):
        method.run()


def test_generate_without_the_teacher_writes_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def untaught(_: object, ids: Sequence[int], scores: torch.Tensor) -> torch.Tensor:
        return scores

    monkeypatch.setattr("eval.bench.teacher.TaughtProcessor.__call__", untaught)
    with pytest.raises(EvalError, match="greedy has not written the wanted call"):
        generate(workload()).run()
