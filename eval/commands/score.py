"""``tooldecoding score``."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.commands.eval import BenchmarkCommand, show_scores
from eval.errors import EvalError
from tooldecoding.cli.command import Command
from tooldecoding.cli.extras import demand_extra
from tooldecoding.options.option import option, options_of
from tooldecoding.options.parsed_arguments import ParsedArguments


@dataclass(frozen=True, kw_only=True)
class ScoreCommand(BenchmarkCommand):
    """Which predictions are scored, and how."""

    predictions: tuple[str, ...] = option(
        ..., "Predictions; may be repeated to compare several.", metavar="FILE.jsonl", expected="a file"
    )
    out: str = option(..., "Scores; a folder if there are several files.", metavar="FILE.jsonl")


def score(given: ParsedArguments) -> None:
    """Score predictions, ours or any other, as the official scorers do. Missing predictions count as wrong."""
    demand_extra("eval", "scipy", "pandas")
    from eval.runs.predictions import read_predictions
    from eval.runs.score import score as scores_of
    from eval.runs.score import write_rows

    command = given.read(ScoreCommand)
    benchmark, categories = command.find()
    samples = benchmark.load(command.data, categories)
    targets = _targets(command.predictions, Path(command.out))
    read = {p: read_predictions(p, benchmark, samples) for p in command.predictions}
    scored = {}
    for path, target in targets.items():
        scored[_label(path)] = rows = scores_of(read[path], benchmark)
        write_rows(rows, target)
        missing = [row["category"] for row in rows if row["missing"]]
        if missing:
            print(
                f"{path}: {len(missing)} of {len(rows)} samples have no prediction and count as wrong "
                f"({', '.join(sorted(set(missing)))}); --category scores one category",
                file=sys.stderr,
            )
    show_scores(benchmark, scored)


def _targets(predictions: Sequence[str], out: Path) -> dict[str, Path]:
    """Return where the scores of each file of predictions go: ``out``, or a file in it if it is a folder."""
    several = len(predictions) > 1 or out.is_dir()
    targets = {path: out / f"{_label(path)}.scores.jsonl" if several else out for path in predictions}
    if len(set(targets.values())) < len(predictions):
        raise EvalError("--predictions: two files of one name; rename one, so that their scores can be told apart")
    if {target.resolve() for target in targets.values()} & {Path(path).resolve() for path in predictions}:
        raise EvalError(f"--out {out} is a file of predictions, which would be lost; name another")
    return targets


def _label(path: str) -> str:
    """Return the name of a run's folder, or a file's own name."""
    return Path(path).resolve().parent.name if Path(path).name == "predictions.jsonl" else Path(path).stem


SCORE = Command("score", score, options_of(ScoreCommand))
