"""Scores: the official verdict and the error class of every prediction, as JSON lines."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from eval.benchmarks.samples import Benchmark, ErrorClass, Judgement, Sample, classify
from eval.errors import writing
from eval.runs.predictions import Predictions
from eval.validation import Text
from tooldecoding.files.json_lines import json_line
from tooldecoding.files.manifest import write_whole


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


def score(predictions: Predictions, benchmark: Benchmark) -> list[dict[str, Any]]:
    """Return rows of scores in the sequence of the predictions, and behind them those that are missing."""
    rows = []
    for sample, prediction, row in predictions.rows:
        if row.get("error") and not prediction:  # a run's own: an empty text would pass for "no call"
            failed = Judgement(False, "not_decoded", str(row["error"]), None)
            rows.append(_row(benchmark, sample, prediction, failed, missing=True))
        else:
            rows.append(_row(benchmark, sample, prediction, benchmark.judge(sample, prediction)))
    absent = Judgement(False, "missing", "there is no prediction", None)
    return rows + [_row(benchmark, sample, "", absent, missing=True) for sample in predictions.missing]


def _row(
    benchmark: Benchmark, sample: Sample, prediction: str, judgement: Judgement, missing: bool = False
) -> dict[str, Any]:
    """A sample without a prediction is wrong, whatever it asks for."""
    right = judgement.correct
    satisfiable = right or benchmark.satisfiable(sample)
    error_class, structural = (None, False) if right else classify(sample, prediction, judgement, satisfiable)
    return benchmark.describe(sample) | {
        "dialogue": sample.dialogue,
        "correct": right,
        "valid": right,
        "error_type": judgement.error_type,
        "error_class": error_class,
        "structural": structural,
        "satisfiable": satisfiable,
        "missing": missing,
        "message": judgement.message,
    }


def write_rows(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write JSON lines, whole or not at all; EvalError where that is impossible."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, "".join(json_line(row) + "\n" for row in rows).encode())
