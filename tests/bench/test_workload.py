"""Prompts of exact lengths, values of exact tokens, and the call that is wanted."""

import pytest
from tiny_bench import subject, workload

from eval.bench.workload import RAGGED
from eval.errors import EvalError


@pytest.mark.parametrize("length", [280, 281, 350])
def test_prompt_and_values_have_exactly_so_many_tokens(length: int) -> None:
    [task] = workload(prompt_tokens=length).tasks
    table = subject().decoder.table
    assert len(task.prompt_ids) == length
    assert table.join(task.call_ids).decode() == task.text()
    for value in task.values.values():
        assert len(table.encode_after(b"='", value.encode())) == 5


@pytest.mark.parametrize(("copied", "count"), [(0, 0), (0.5, 2), (0.7, 3), (1, 4)])
def test_a_share_of_the_values_stands_in_the_prompt_and_the_rest_nowhere(copied: float, count: int) -> None:
    made = workload(copied=copied, batch=3)
    for task in made.tasks:
        prompt = subject().decoder.table.join(task.prompt_ids).decode()
        assert sum(value in prompt for value in task.values.values()) == count == made.copied_values


def test_prompts_of_a_batch_are_ragged_and_seeded() -> None:
    lengths = [len(task.prompt_ids) for task in workload(batch=8).tasks]
    assert len(set(lengths)) > 1
    assert all(abs(length - 400) <= RAGGED * 400 for length in lengths)
    assert workload(batch=8) == workload(batch=8) != workload(batch=8, seed=1)


def test_a_prompt_that_cannot_hold_the_documentation_is_refused() -> None:
    with pytest.raises(EvalError, match=r"--prompt-tokens: .* take \d+ tokens, so that a prompt of 50 is too short"):
        workload(prompt_tokens=50)
