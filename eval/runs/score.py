"""Scores: the official verdict and the error class of every prediction, as JSON lines."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.benchmarks.error_class import classify
from eval.benchmarks.samples import Benchmark, Judgement, Sample
from eval.errors import writing
from eval.runs.predictions import PredictionRow, Predictions
from tooldecoding.files.json_lines import json_line
from tooldecoding.files.manifest import write_whole

Judge = Callable[[Sample, str], Judgement]
"""The benchmark's own judge, or another with the same verdicts (the official tool manager)."""


@dataclass(frozen=True)
class Scorer:
    """Judges the predictions of one benchmark, each sample's satisfiability once."""

    benchmark: Benchmark
    judge: Judge

    def score(self, predictions: Predictions) -> list[dict[str, Any]]:
        """Rows of scores in the sequence of the predictions, and behind them those that are missing."""
        rows = [self._row(r) for r in predictions.rows]
        return rows + [self._undecoded(sample, "missing", "there is no prediction") for sample in predictions.missing]

    def _row(self, given: PredictionRow) -> dict[str, Any]:
        sample, prediction = given.sample, given.prediction
        if given.row.get("error") and not prediction:  # a run's own: an empty text would pass for "no call"
            return self._undecoded(sample, "not_decoded", str(given.row["error"]))
        judgement = self.judge(sample, prediction)
        satisfiable = judgement.correct or self.benchmark.satisfiable(sample)
        row = self.benchmark.describe(sample) | _verdict(sample, judgement, satisfiable)
        if not judgement.correct:
            row["error_class"], row["structural"] = classify(sample, prediction, judgement, satisfiable)
        return row

    def _undecoded(self, sample: Sample, error_type: str, message: str) -> dict[str, Any]:
        """A sample without a prediction is wrong, whatever it asks for."""
        satisfiable = self.benchmark.satisfiable(sample)
        figures = self.benchmark.judge(sample, "").figures if self.benchmark.has_figures else {}
        judgement = Judgement(False, error_type, message, None, figures=figures)
        row = self.benchmark.describe(sample) | _verdict(sample, judgement, satisfiable)
        return row | {"missing": True, "error_class": "awareness" if satisfiable else "unsatisfiable"}


def _verdict(sample: Sample, judgement: Judgement, satisfiable: bool) -> dict[str, Any]:
    further = {"figures": {name: list(points) for name, points in judgement.figures.items()}}
    return {
        "correct": judgement.correct,
        "valid": judgement.correct,
        "error_type": judgement.error_type,
        "error_class": None,
        "structural": False,
        "satisfiable": satisfiable,
        "missing": False,
        "message": judgement.message,
    } | (further if judgement.figures else {})


def write_rows(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write JSON lines, whole or not at all; EvalError where that is impossible."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, "".join(json_line(row) + "\n" for row in rows).encode())
