"""``tooldecoding score``."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.commands.benchmark_command import BenchmarkCommand, show_scores
from eval.errors import EvalError
from tooldecoding.cli.command import Command
from tooldecoding.cli.extras import demand_extra
from tooldecoding.options.given import Given
from tooldecoding.options.option import option, options_of


@dataclass(frozen=True, kw_only=True)
class ScoreCommand(BenchmarkCommand):
    """Which predictions are scored, and how."""

    predictions: tuple[str, ...] = option(
        ..., "Predictions; may be repeated to compare several.", metavar="FILE.jsonl", expected="a file"
    )
    out: str = option(..., "Scores; a folder if there are several files.", metavar="FILE.jsonl")
    partial: bool = option(False, "Score the rows given, each by itself.")


def score(given: Given) -> None:
    """Score predictions, ours or any other, as the official scorers do. Missing predictions count as wrong."""
    demand_extra("eval", "scipy", "pandas")
    from eval.runs.predictions import read_predictions
    from eval.runs.score import Scorer, write_rows

    command = given.read(ScoreCommand)
    benchmark, samples = command.load()
    targets = _targets(command.predictions, Path(command.out))
    read = {p: read_predictions(p, benchmark, samples, repeats=command.partial) for p in command.predictions}
    scorer = Scorer(benchmark, benchmark.judge)
    scored = {}
    for path, target in targets.items():
        rows = scorer.score(read[path], command.partial)
        write_rows(rows, target)
        scored[_label(path)] = rows
        _say_missing(path, rows)
    show_scores(benchmark, scored)


def _targets(predictions: Sequence[str], out: Path) -> dict[str, Path]:
    """Return where the scores of each file of predictions go."""
    if len(set(predictions)) < len(predictions):
        raise EvalError("--predictions names one file twice")
    if out.resolve() in {Path(path).resolve() for path in predictions}:
        raise EvalError(f"--out {out} is a file of predictions, which would be lost; name another")
    if len(predictions) == 1:
        if out.is_dir():
            raise EvalError(f"{out}: expected a file for the scores, found a folder; add a name")
        return {predictions[0]: out}
    if out.is_file():
        raise EvalError(f"{out}: the scores of several files need a folder, found a file")
    targets = {path: out / f"{_label(path)}.scores.jsonl" for path in predictions}
    if len(set(targets.values())) < len(targets):
        raise EvalError("--predictions: two files of one name; rename one, so that their scores can be told apart")
    return targets


def _label(path: str) -> str:
    """Return the name of a run's folder, or a file's own name."""
    return Path(path).resolve().parent.name if Path(path).name == "predictions.jsonl" else Path(path).stem


def _say_missing(path: str, rows: Sequence[dict[str, Any]]) -> None:
    missing = [r for r in rows if r["missing"]]
    if missing:
        categories = sorted({r["category"] for r in missing})
        print(
            f"{path}: {len(missing)} of {len(rows)} samples have no prediction and count as wrong "
            f"({', '.join(categories)}); --partial scores the rows given, --category one category",
            file=sys.stderr,
        )


SCORE = Command("score", score, options_of(ScoreCommand))
