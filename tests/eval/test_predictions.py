"""Rows of predictions: everything that can be wrong with them is named, with its line."""

from pathlib import Path

import pytest

from eval.benchmarks.samples import Sample
from eval.benchmarks.sgd.benchmark import SGD
from eval.errors import EvalError
from eval.runs.predictions import read_predictions
from eval.runs.score import Scorer
from eval_data import REFERENCES, prediction_rows, write_sgd


@pytest.fixture
def samples(tmp_path: Path) -> list[Sample]:
    return SGD.load(str(write_sgd(tmp_path / "sgd")), SGD.categories)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected predictions, one JSON object a line, found an empty file"),
        ('{"id": "a/1"}\n', r":1: expected a text 'prediction', found None"),
        ('{"id": "a/1", "prediction": 3}\n', "expected a text 'prediction', found 3"),
        ('{"id": "a/1", "prediction": "x"}\n' * 2, ":2: a second prediction for 'a/1', the first stands in line 1"),
        ('{"id": "a/9", "prediction": "x"}\n', "sgd has no sample 'a/9' in this data"),
        ('{"id": "live_simple_0-0-0", "prediction": "x"}\n', "are these predictions of another benchmark"),
        ('{"file": "x", "sample_id": 0, "prediction": ""}\n', ":1: is this a row of sgd?"),
        ('{"id": "a/1", "prediction": "x"}\n{"id": "b/1", "predi', "the file ends within this line: finish the run"),
        ('{"id": "a/1", "prediction": "x"\n{"id": "b/1"}\n', ":1:"),
        ("[]\n", "expected a JSON object, found list"),
        ('{"id": "a/1", "category": "unseen", "prediction": ""}\n', "a/1 is of category seen, the row says 'unseen'"),
    ],
)
def test_bad_files(tmp_path: Path, samples: list[Sample], text: str, said: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(text)
    with pytest.raises(EvalError, match=said):
        read_predictions(path, SGD, samples, repeats=False)


def test_an_unknown_id_names_the_nearest(tmp_path: Path, samples: list[Sample]) -> None:
    long_ids = [Sample("1_00042/5", "seen", "1_00042", (), samples[0].documentation, samples[0].calls, None)]
    path = tmp_path / "p.jsonl"
    path.write_text('{"id": "1_00042/6", "prediction": "x"}\n')
    with pytest.raises(EvalError, match="the nearest is 1_00042/5"):
        read_predictions(path, SGD, long_ids, repeats=False)


def test_a_category_that_is_not_scored(tmp_path: Path, samples: list[Sample]) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"id": "c/1", "category": "unseen", "prediction": "x"}\n')
    with pytest.raises(EvalError, match="category unseen, of which no sample is being scored"):
        read_predictions(path, SGD, samples[:2], repeats=False)


def test_missing_ones_are_wrong_and_counted(tmp_path: Path, samples: list[Sample]) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(prediction_rows({"c/1": REFERENCES["c/1"], "a/1": "[SetLamp(room='x')]"}))
    predictions = read_predictions(path, SGD, samples, repeats=False)
    rows = Scorer(SGD, SGD.judge).score(predictions, partial=False)
    assert [(r["id"], r["correct"], r["missing"], r["error_class"]) for r in rows] == [
        ("c/1", True, False, None),
        ("a/1", False, False, "key"),
        ("b/1", False, True, "awareness"),
        ("d/1", False, True, "awareness"),
    ]
    assert len(Scorer(SGD, SGD.judge).score(predictions, partial=True)) == 2


def test_rows_are_scored_each_by_itself_when_partial(tmp_path: Path, samples: list[Sample]) -> None:
    path = tmp_path / "p.jsonl"
    texts = [REFERENCES["a/1"], "no", REFERENCES["a/1"]]
    path.write_text("".join(prediction_rows({"a/1": text}) for text in texts))
    predictions = read_predictions(path, SGD, samples, repeats=True)
    rows = Scorer(SGD, SGD.judge).score(predictions, partial=True)
    assert [r["correct"] for r in rows] == [True, False, True]


def test_what_could_not_be_decoded_is_wrong_even_where_no_call_is_right(samples: list[Sample], tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"id": "a/1", "prediction": "", "error": "the prompt is too long"}\n')
    [row] = Scorer(SGD, SGD.judge).score(read_predictions(path, SGD, samples, repeats=False), partial=True)
    assert (row["error_type"], row["message"]) == ("not_decoded", "the prompt is too long")
