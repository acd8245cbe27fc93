"""ACEBench: agreement with recorded official verdicts, its ceilings, and inputs that are wrong."""

import json
from collections import Counter
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data import DATA, needs_data
from eval.benchmarks.acebench.decoder import decode_calls
from eval.benchmarks.python_calls import CallDecodeError
from eval.benchmarks.registry import find_benchmark
from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from tooldecoding.formats.known_formats import CALL_FORMATS

ACEBENCH = find_benchmark("acebench")
VERDICTS = DATA.parent / "fixtures" / "acebench_official_verdicts.jsonl"
CEILINGS = {
    "normal_single_turn_single_function": (59, 64),
    "normal_single_turn_parallel_function": (60, 68),
    "normal_similar_api": (33, 34),
    "normal_preference": (35, 35),
    "normal_atom_bool": (37, 37),
    "normal_atom_enum": (37, 37),
    "normal_atom_number": (37, 37),
    "normal_atom_list": (28, 28),
    "normal_atom_object_short": (35, 35),
    "normal_atom_object_deep": (23, 35),
}
"""Ground truth that passes, of the entries given, by shared/docs/ACEBENCH.md."""


@cache
def samples() -> dict[str, Sample]:
    return {s.id: s for s in ACEBENCH.load(str(DATA / "acebench"), ACEBENCH.categories)}


@needs_data
@pytest.mark.skipif(not VERDICTS.is_file(), reason=f"no recorded verdicts at {VERDICTS}")
def test_recorded_verdicts() -> None:
    rows = [json.loads(line) for line in VERDICTS.read_text(encoding="utf-8").splitlines()]
    agreed: Counter[str] = Counter()
    for row in rows:
        found = ACEBENCH.judge(samples()[row["id"]], row["prediction"])
        agreed["valid"] += found.correct is row["valid"]
        agreed["type"] += (found.error_type or "") == row["error_type"]
        if found.correct is not row["valid"]:
            print(row, "ours:", found)
        assert bool(found.message) is not found.correct
    print(f"{len(rows)} predictions: verdict equal {agreed['valid']}, error type equal {agreed['type']}")
    assert agreed["valid"] == agreed["type"] == len(rows) > 4000


@needs_data
def test_ceilings() -> None:
    passing: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for sample in samples().values():
        if sample.calls:
            every[sample.category] += 1
            passing[sample.category] += ACEBENCH.satisfiable(sample)
            assert all(call.name in sample.documentation.lookup for call in sample.calls)
    assert {category: (passing[category], every[category]) for category in every} == CEILINGS


@needs_data
def test_what_the_model_is_told() -> None:
    for sample in samples().values():
        speakers = [getattr(turn, "speaker", None) for turn in sample.turns]
        assert speakers[-1] == "user" or "assistant" in speakers, sample.id
        assert speakers.count("system") <= 1
        said = " ".join(getattr(turn, "text", "") for turn in sample.turns)
        assert ("Missing necessary parameters" in said) == sample.category.startswith("special")


@needs_data
def test_open_keys_may_be_left_out() -> None:
    left_out = right = 0
    for sample in samples().values():
        if len(sample.calls) != 1 or not ACEBENCH.satisfiable(sample):
            continue
        [call] = sample.calls
        free = ACEBENCH.open_keys(sample)
        kept = {key: value for key, value in call.arguments.items() if key not in free}
        if not free or not kept:
            continue
        left_out += 1
        text = CALL_FORMATS["pythonic"].render([type(call)(call.name, kept)])
        right += ACEBENCH.judge(sample, text).correct
    assert left_out == right > 50


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(CallDecodeError):
        decode_calls(text)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[f(a='x y', b=[1, 2])]", [("f", {"a": "xy", "b": [1, 2]})]),
        ("f(a=1), g(b=true)", [("f", {"a": 1}), ("g", {"b": "true"})]),
        ("{f(a=1)}", [("f", {"a": 1})]),
        ("[a.b(c={'d': None})]", [("a.b", {"c": {"d": None}})]),
        ("[]", []),
    ],
)
def test_reading(text: str, calls: Any) -> None:
    assert decode_calls(text) == calls


@pytest.mark.parametrize(
    "text", ["f(a=1)", "", "[[f()]]", "['f(a=1)']", "Sure: [f(a=1)]", "```[f(a=1)]```", "[f(a=x.y)]"]
)
def test_what_is_no_list_of_calls(text: str) -> None:
    with pytest.raises(CallDecodeError):
        decode_calls(text)


def entry(tmp_path: Path, question: Any, answer: Any, category: str = "normal_atom_bool") -> str:
    (tmp_path / "possible_answer").mkdir()
    (tmp_path / f"data_{category}.json").write_text(json.dumps(question) + "\n")
    (tmp_path / "possible_answer" / f"data_{category}.json").write_text(json.dumps(answer) + "\n")
    return str(tmp_path)


F = {"name": "f", "description": "", "parameters": {"type": "object", "properties": {}}}
QUESTION = {"id": "q", "question": "user: Hi\nsystem: Yes?\nuser: Now.", "time": "Monday", "function": [F]}
TRUTH = {"id": "q", "ground_truth": {"f_1": {}, "f_2": {}}}


def test_an_entry(tmp_path: Path) -> None:
    [sample] = ACEBENCH.load(entry(tmp_path, QUESTION, TRUTH), ["normal_atom_bool"])
    assert [(turn.speaker, turn.text) for turn in sample.turns] == [  # type: ignore[union-attr]
        ("system", "Monday"),
        ("user", "Hi"),
        ("assistant", "Yes?"),
        ("user", "Now."),
    ]
    assert [call.name for call in sample.calls] == ["f", "f"]


@pytest.mark.parametrize(
    ("question", "answer", "message"),
    [
        (QUESTION | {"question": 1}, TRUTH, "'question' to be a valid string"),
        (QUESTION | {"function": []}, TRUTH, "'function'"),
        (QUESTION, {"id": "q", "ground_truth": {}}, "an object {tool"),
        (QUESTION, {"id": "p", "ground_truth": {"f": {}}}, "do not belong together: 'p' is in one"),
        (QUESTION | {"id": 1}, TRUTH, "a text 'id'"),
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


def test_export(cli: Any, tmp_path: Path) -> None:
    data = entry(tmp_path, QUESTION, TRUTH)
    predictions = tmp_path / "p.jsonl"
    predictions.write_text(json.dumps({"id": "q", "prediction": "[f()]"}) + "\n")
    command = ["export", "acebench", "--data", data, "--category", "normal_atom_bool", "--predictions", predictions]
    assert "folder name" in cli(*command, "--out", tmp_path / "o").err
    assert cli(*command, "--out", tmp_path / "o", "--model-name", "m").code == 0
    written = (tmp_path / "o" / "m" / "data_normal_atom_bool_result.json").read_text()
    assert json.loads(written) == {"id": "q", "result": "[f()]"}
