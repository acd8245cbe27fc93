"""Scores: the official verdict and the error class of every prediction, as JSON lines."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from eval.benchmarks.samples import Benchmark, ErrorClass, Judgement, Sample, classify
from eval.errors import writing
from eval.runs.predictions import PredictionRow, Predictions
from eval.validation import Text
from tooldecoding.files.json_lines import json_line
from tooldecoding.files.manifest import write_whole

Judge = Callable[[Sample, str], Judgement]
"""The benchmark's own judge, or another with the same verdicts (the official tool manager)."""


class Score(BaseModel, frozen=True):
    """The verdict on one sample. A row may have other columns.

    ``structural`` says that the call is wrong by its structure: it names a tool that was not given, is malformed or has
    a key error. ``missing`` samples have no prediction, and count as wrong. ``sample_id`` is the number that API-Bank's
    evaluator gives the sample, odd for a call right after another one.
    """

    id: Text
    dialogue: Text = ""
    category: Text
    correct: bool
    error_class: ErrorClass | None = None
    structural: bool
    missing: bool
    sample_id: Annotated[int, Field(le=10**9)] | None = None


def score(predictions: Predictions, benchmark: Benchmark, judge: Judge) -> list[dict[str, Any]]:
    """Return rows of scores in the sequence of the predictions, and behind them those that are missing."""
    rows = [_row(given, benchmark, judge) for given in predictions.rows]
    return rows + [_undecoded(s, benchmark, "missing", "there is no prediction") for s in predictions.missing]


def _row(given: PredictionRow, benchmark: Benchmark, judge: Judge) -> dict[str, Any]:
    sample, prediction = given.sample, given.prediction
    if given.row.get("error") and not prediction:  # a run's own: an empty text would pass for "no call"
        return _undecoded(sample, benchmark, "not_decoded", str(given.row["error"]))
    judgement = judge(sample, prediction)
    satisfiable = judgement.correct or benchmark.satisfiable(sample)
    row = _named(benchmark, sample) | _verdict(judgement, satisfiable)
    if not judgement.correct:
        row["error_class"], row["structural"] = classify(sample, prediction, judgement, satisfiable)
    return row


def _undecoded(sample: Sample, benchmark: Benchmark, error_type: str, message: str) -> dict[str, Any]:
    """A sample without a prediction is wrong, whatever it asks for."""
    satisfiable = benchmark.satisfiable(sample)
    row = _verdict(Judgement(False, error_type, message, None), satisfiable)
    missing = {"missing": True, "error_class": "awareness" if satisfiable else "unsatisfiable"}
    return _named(benchmark, sample) | row | missing


def _named(benchmark: Benchmark, sample: Sample) -> dict[str, Any]:
    return benchmark.describe(sample) | {"dialogue": sample.dialogue}


def _verdict(judgement: Judgement, satisfiable: bool) -> dict[str, Any]:
    return {
        "correct": judgement.correct,
        "valid": judgement.correct,
        "error_type": judgement.error_type,
        "error_class": None,
        "structural": False,
        "satisfiable": satisfiable,
        "missing": False,
        "message": judgement.message,
    }


def write_rows(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write JSON lines, whole or not at all; EvalError where that is impossible."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, "".join(json_line(row) + "\n" for row in rows).encode())
