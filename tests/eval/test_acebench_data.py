"""ACEBench's entries, inputs that are wrong, and official result files."""

import json
from pathlib import Path
from typing import Any

import pytest

from data import DATA, needs_data
from eval.benchmarks.registry import find_benchmark
from eval.errors import EvalError

ACEBENCH = find_benchmark("acebench")
F = {"name": "f", "description": "", "parameters": {"type": "object", "properties": {}}}
QUESTION = {"id": "q", "question": "user: Hi\nsystem: Yes?\nuser: Now.", "time": "Monday", "function": [F]}
TRUTH = {"id": "q", "ground_truth": {"f_1": {}, "f_2": {}}}


@needs_data
def test_what_the_model_is_told() -> None:
    for sample in ACEBENCH.load(str(DATA / "acebench"), ACEBENCH.categories):
        speakers = [turn.role for turn in sample.turns]
        assert speakers[-1] == "user" or "assistant" in speakers, sample.id
        assert speakers.count("system") <= 1
        said = " ".join(turn.content for turn in sample.turns)
        assert ("Missing necessary parameters" in said) == sample.category.startswith("special")


def entry(tmp_path: Path, question: Any, answer: Any) -> str:
    (tmp_path / "possible_answer").mkdir()
    (tmp_path / "data_normal_atom_bool.json").write_text(json.dumps(question) + "\n")
    (tmp_path / "possible_answer" / "data_normal_atom_bool.json").write_text(json.dumps(answer) + "\n")
    return str(tmp_path)


def test_an_entry(tmp_path: Path) -> None:
    [sample] = ACEBENCH.load(entry(tmp_path, QUESTION, TRUTH), ["normal_atom_bool"])
    turns = [("system", "Monday"), ("user", "Hi"), ("assistant", "Yes?"), ("user", "Now.")]
    assert [(turn.role, turn.content) for turn in sample.turns] == turns
    assert [call.name for call in sample.calls] == ["f", "f"]


@pytest.mark.parametrize(
    ("question", "answer", "message"),
    [
        (QUESTION, {"id": "q", "ground_truth": {}}, "an object {tool"),
        (QUESTION, {"id": "p", "ground_truth": {"f": {}}}, "do not belong together: p, q in one alone"),
    ],
)
def test_wrong_entries(tmp_path: Path, question: Any, answer: Any, message: str) -> None:
    with pytest.raises(EvalError, match=message):
        ACEBENCH.load(entry(tmp_path, question, answer), ["normal_atom_bool"])


def test_wrong_folders(tmp_path: Path) -> None:
    with pytest.raises(EvalError, match="no such folder"):
        ACEBENCH.load(str(tmp_path / "none"), ["normal_atom_bool"])
    with pytest.raises(EvalError, match="no questions of normal_atom_bool: expected data_normal"):
        ACEBENCH.load(str(tmp_path), ["normal_atom_bool"])
