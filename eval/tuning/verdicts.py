"""Verdicts on derived predictions. A prediction that several vote options share is judged once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval.benchmarks.samples import Benchmark, Judgement, Sample
from eval.methods.scored_text import ScoredText
from eval.metrics.accuracy import Accuracy
from eval.runs.predictions import PredictionRow, Predictions
from eval.runs.score import Scorer
from eval.tuning.derive import Outcome
from eval.tuning.tuning_prompts import TuningPrompt


@dataclass
class Verdicts:
    """Judges outcomes for the samples of a benchmark.

    Parameters
    ----------
    scored : ScoredText, optional
        What is scored of a prediction; by default its text.
    """

    benchmark: Benchmark
    prompts: Sequence[TuningPrompt]
    scored: ScoredText | None = None
    _rows: dict[tuple[str, str, str], Mapping[str, Any]] = field(default_factory=dict)
    _judgements: dict[tuple[str, str], Judgement] = field(default_factory=dict)

    def scores(self, outcomes: Mapping[str, Outcome]) -> dict[str, Mapping[str, Any]]:
        """Return prompt id -> its row of scores."""
        return {p.id: self._row(p.sample, outcomes[p.id]) for p in self.prompts if p.sample is not None}

    def judge(self, sample: Sample, prediction: str) -> Judgement:
        """Return the benchmark's verdict."""
        key = sample.id, prediction
        if key not in self._judgements:
            self._judgements[key] = self.benchmark.judge(sample, prediction)
        return self._judgements[key]

    def _row(self, sample: Sample, outcome: Outcome) -> Mapping[str, Any]:
        key = sample.id, outcome.text, outcome.error
        if key not in self._rows:
            given = PredictionRow(sample, outcome.text, {"error": outcome.error})
            [self._rows[key]] = Scorer(self.benchmark, self.judge).score(Predictions((given,), ()), partial=True)
        return self._rows[key]


def right(scores: Mapping[str, Mapping[str, Any]]) -> dict[str, bool]:
    """Return prompt id -> whether it is right."""
    return {identifier: bool(row["correct"]) for identifier, row in scores.items()}


def accuracy(of: Mapping[str, bool]) -> Accuracy:
    """Count the right ones."""
    return Accuracy(sum(of.values()), len(of))


def value_errors(scores: Mapping[str, Mapping[str, Any]]) -> int:
    """Count the wrong predictions of the class ``value``."""
    return sum(row["error_class"] == "value" for row in scores.values())
