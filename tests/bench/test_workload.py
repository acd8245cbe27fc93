"""Prompts of exact lengths, values of exact tokens, and the call that is wanted."""

import pytest
from tiny_bench import subject, workload

from eval.bench.workload import RAGGED, inner_tokens
from eval.errors import EvalError
from tooldecoding.formats.known_formats import CALL_FORMATS


@pytest.mark.parametrize(
    ("length", "call_format"), [*((n, "api-bank") for n in (280, 281, 350)), *((301, name) for name in CALL_FORMATS)]
)
def test_prompt_and_values_have_exactly_so_many_tokens(length: int, call_format: str) -> None:
    made = workload(call_format=call_format, prompt_tokens=length)
    [task] = made.tasks
    prompt = subject().decoder.table.join(task.prompt_ids).decode()
    assert len(task.prompt_ids) == length
    assert subject().tokenizer.encode(prompt + task.call) == [*task.prompt_ids, *task.call_ids]
    written = CALL_FORMATS[call_format]
    [(_, pairs)] = written.reader(task.call.removeprefix(written.lead))
    assert dict(pairs) == task.values and [key for key, _ in pairs] == written.ordered(task.values)
    for pair in made.parts(task).pairs.values():
        before = task.call[: task.call.index(pair.before) + len(pair.before)]
        assert inner_tokens(subject().decoder.table, task.call_ids, before, pair.value) == 5


@pytest.mark.parametrize(("copied", "count"), [(0, 0), (0.5, 2), (0.7, 3), (1, 4)])
def test_a_share_of_the_values_stands_in_the_prompt_and_the_rest_nowhere(copied: float, count: int) -> None:
    made = workload(copied=copied, batch=3)
    for task in made.tasks:
        prompt = subject().decoder.table.join(task.prompt_ids).decode()
        assert sum(value in prompt for value in task.values.values()) == count == made.copied_values


def test_prompts_of_a_batch_are_ragged_and_seeded() -> None:
    lengths = [len(task.prompt_ids) for task in workload(batch=8).tasks]
    assert len(set(lengths)) > 1
    assert all(abs(length - 300) <= RAGGED * 300 for length in lengths)
    assert workload(batch=8) == workload(batch=8) != workload(batch=8, seed=1)


def test_a_prompt_that_cannot_hold_the_documentation_is_refused() -> None:
    with pytest.raises(EvalError, match=r"--prompt-tokens: .* take \d+ tokens, so that a prompt of 50 is too short"):
        workload(prompt_tokens=50)
