"""UltraTool on made-up plans in its layout: what is read, and the official figures."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval.benchmarks.error_class import classify
from eval.benchmarks.registry import find_benchmark
from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from tooldecoding.formats.known_formats import CALL_FORMATS

ULTRATOOL = find_benchmark("ultratool")

FIND = {
    "name": "find_boat",
    "description": "Finds a boat.",
    "arguments": {"type": "object", "properties": {"harbour": {"type": "string"}, "class": {"type": "string"}}},
    "results": {"type": "object", "properties": {}},
}
HIRE = {"name": "hire", "description": "", "arguments": {"type": "object", "properties": {"boat": {"type": "string"}}}}
STEPS = ["1. Boat", "1.1 Read the harbour", "1.2 Find a boat", "1.3 Hire the boat"]
ROWS: dict[str, Any] = {
    "tool_usage_awareness": {
        "input": [{"step": STEPS[0]}, *({"step": s, "tool": ""} for s in STEPS[1:])],
        "reference": [{"step": s, "tool": t} for s, t in zip(STEPS[1:], "011", strict=True)],
    },
    "tool_creation_awareness": {
        "input": [{"step": s} for s in STEPS[:2]] + [{"step": s, "tool": ""} for s in STEPS[2:]],
        "toolset": [FIND],
        "reference": [{"step": STEPS[2], "tool": "0"}, {"step": STEPS[3], "tool": "1"}],
    },
    "tool_selection": {
        "input": [{"step": s} for s in STEPS[:2]] + [{"step": s, "tool": ""} for s in STEPS[2:]],
        "toolset": [FIND, HIRE],
        "reference": [{"step": STEPS[2], "tool": "find_boat"}, {"step": STEPS[3], "tool": "hire"}],
    },
    "tool_usage": {
        "question": "A boat in Kiel?\n",
        "input": [
            *({"step": s} for s in STEPS[:2]),
            {"step": STEPS[2], "tool": "find_boat", "param": ""},
            {"step": STEPS[3], "tool": "hire", "param": ""},
        ],
        "toolset": [FIND, HIRE],
        "reference": [
            {"step": STEPS[2], "tool": "find_boat", "param": {"harbour": "Kiel", "class": "A"}},
            {"step": STEPS[3], "tool": "hire", "param": {"boat": "<boat>"}},
        ],
    },
}


def write(root: Path, rows: dict[str, Any], language: str = "English") -> str:
    """A checkout with a plan a stage."""
    folder = root / "data" / f"{language}-dataset" / "test_set"
    folder.mkdir(parents=True)
    for stage, row in rows.items():
        (folder / f"{stage}.json").write_text(json.dumps(row) + "\n")
    return str(root)


def load(root: Path, stage: str) -> Sample:
    [sample] = ULTRATOOL.load(write(root, ROWS), [stage])
    return sample


@pytest.mark.parametrize("stage", ROWS)
def test_the_reference_is_right_and_nothing_is_not(tmp_path: Path, stage: str) -> None:
    sample = load(tmp_path, stage)
    judgement = ULTRATOOL.judge(sample, CALL_FORMATS["pythonic"].render(sample.calls))
    assert judgement.correct and ULTRATOOL.satisfiable(sample)
    assert all(got == most for got, most in judgement.figures.values())
    assert not ULTRATOOL.judge(sample, "").correct


@pytest.mark.parametrize(
    ("stage", "prediction", "got", "most"),
    [
        ("tool_usage_awareness", "", 1, 3),
        ("tool_usage_awareness", "[use_tool(step_number=1.2)]", 2, 3),
        ("tool_creation_awareness", "[create_tool(step_number='1.2')]", 0, 2),
        ("tool_selection", "[find_boat(step_number='1.2'), find_boat(step_number='1.3')]", 1, 2),
        ("tool_selection", "[find_boat(step_number='1.3'), hire(step_number='1.3')]", 0, 2),  # the first one counts
        ("tool_selection", "[find_boat()]", 0, 2),
        ("tool_usage", "[find_boat(step_number='1.2', harbour='Kiel', is_class='A')]", 1, 2),
        ("tool_usage", "[hire(step_number='1.2', harbour='Kiel', is_class='A')]", 1, 2),  # official: values alone
        ("tool_usage", "[find_boat(step_number='1.2', harbour='Keel', is_class='A', wind=3)]", 0.875, 2),
        ("tool_usage", "[find_boat(step_number='1.2'", 0, 2),
    ],
)
def test_points_of_the_steps(tmp_path: Path, stage: str, prediction: str, got: float, most: int) -> None:
    sample = load(tmp_path, stage)
    judgement = ULTRATOOL.judge(sample, prediction)
    assert [*judgement.figures.values()] == [(got, most)]
    if "awareness" in stage:  # it is no wrong selection
        assert classify(sample, prediction, judgement, satisfiable=True).error_class == "awareness"


def test_what_the_model_is_told(tmp_path: Path) -> None:
    sample = load(tmp_path, "tool_usage")
    [turn] = sample.turns
    assert "A boat in Kiel?" in str(turn) and "1.2 Find a boat [find_boat]" in str(turn) and "1.2, 1.3." in str(turn)
    keys = {p.name: p for p in sample.documentation.lookup["find_boat"].parameters}
    assert list(keys) == ["step_number", "harbour", "is_class"]
    assert keys["step_number"].enum == ("1.2", "1.3")
    assert [spec.required for spec in keys.values()] == [True, None, None]


def test_chinese_is_another_benchmark(tmp_path: Path) -> None:
    root = write(tmp_path, ROWS, "Chinese")
    assert len(find_benchmark("ultratool-zh").load(root, ULTRATOOL.categories)) == len(ROWS)
    with pytest.raises(EvalError, match="checkout of JoeYing1019/UltraTool; found no folder"):
        ULTRATOOL.load(root, ULTRATOOL.categories)


@pytest.mark.parametrize(
    ("stage", "change", "said"),
    [
        ("tool_usage", {"reference": [{"step": "1.2 x", "tool": "hire"}]}, r"reference\[0\]: expected 'param'"),
        ("tool_selection", {"reference": [{"step": "1 x", "tool": "a"}] * 2}, "two steps of the reference"),
        ("tool_usage", {"toolset": [FIND, FIND]}, "two tools of one name"),
        (
            "tool_usage",
            {"toolset": [FIND | {"arguments": {"properties": {"step_number": {"type": "string"}}}}]},
            "a key 'step_number' of its own",
        ),
    ],
)
def test_malformed_plans(tmp_path: Path, stage: str, change: dict[str, Any], said: str) -> None:
    root = write(tmp_path, {stage: ROWS[stage] | change})
    with pytest.raises(EvalError, match=said):
        ULTRATOOL.load(root, [stage])
