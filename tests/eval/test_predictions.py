"""Rows of predictions: everything that can be wrong with them is named, with its line; each is scored."""

from collections.abc import Callable
from pathlib import Path

import pytest

from eval.benchmarks.samples import Sample
from eval.benchmarks.sgd.benchmark import SGD
from eval.errors import EvalError
from eval.runs.predictions import Predictions, read_predictions
from eval.runs.score import score
from eval_data import REFERENCES, prediction_rows


@pytest.fixture
def read(tmp_path: Path, samples: list[Sample]) -> Callable[[str], Predictions]:
    def read(text: str) -> Predictions:
        (tmp_path / "p.jsonl").write_text(text)
        return read_predictions(tmp_path / "p.jsonl", SGD, samples)

    return read


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected predictions, one JSON object a line, found an empty file"),
        ('{"id": "a/1"}\n', r":1: expected a text 'prediction', found None"),
        ('{"id": "a/1", "prediction": "x"}\n' * 2, ":2: a second prediction for 'a/1', the first stands in .*:1"),
        ('{"id": "a/9", "prediction": "x"}\n', "sgd has no sample 'a/9' in this data; are these predictions of"),
        ('{"file": "x", "sample_id": 0, "prediction": ""}\n', ":1: is this a row of sgd?"),
        ('{"id": "a/1", "prediction": "x"}\n{"id": "b/1", "predi', "the file ends within this line: finish the run"),
        ('{"id": "a/1", "category": "unseen", "prediction": ""}\n', "a/1 is of category seen, the row says 'unseen'"),
    ],
)
def test_bad_files(read: Callable[[str], Predictions], text: str, said: str) -> None:
    with pytest.raises(EvalError, match=said):
        read(text)


def test_missing_ones_are_wrong_and_counted(read: Callable[[str], Predictions]) -> None:
    rows = [{"c/1": REFERENCES["c/1"]}, {"a/1": "[SetLamp(room='x')]"}]
    predictions = read(
        "".join(map(prediction_rows, rows)) + '{"id": "b/1", "prediction": "", "error": "the prompt is too long"}\n'
    )
    scores = score(predictions, SGD, SGD.judge)
    assert [(r["id"], r["correct"], r["missing"], r["error_class"], r["error_type"]) for r in scores[::2]] == [
        ("c/1", True, False, None, None),
        ("b/1", False, True, "awareness", "not_decoded"),
    ]
    assert (scores[1]["error_class"], scores[1]["structural"]) == ("key", True)
    assert (scores[3]["id"], scores[3]["missing"], scores[3]["error_type"]) == ("d/1", True, "missing")
