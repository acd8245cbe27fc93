"""``tooldecoding export``."""

import sys
from dataclasses import dataclass
from pathlib import Path

from eval.commands.benchmark_command import BenchmarkCommand
from tooldecoding.cli.command import Command
from tooldecoding.options.given import Given
from tooldecoding.options.option import option, options_of


@dataclass(frozen=True, kw_only=True)
class ExportCommand(BenchmarkCommand):
    """Which predictions are exported, and where."""

    predictions: str = option(..., "Predictions, such as RUN/predictions.jsonl.", metavar="FILE.jsonl")
    out: str = option(..., "Folder for the official files.", metavar="DIR")
    model_name: str | None = option(
        None,
        "For BFCL: a model whose answers bfcl reads as Python calls, such as Qwen/Qwen3-8B. For ACEBench: any name.",
        metavar="NAME",
    )


def export(given: Given) -> None:
    """Write predictions as the official scorers read them: of BFCL, API-Bank and ACEBench."""
    from eval.runs.predictions import read_predictions

    command = given.read(ExportCommand)
    benchmark, samples = command.load()
    read = read_predictions(command.predictions, benchmark, samples, repeats=False)
    if read.missing:
        print(
            f"{command.predictions}: {len(read.missing)} of {len(samples)} samples have no prediction: "
            "empty in API-Bank's files, left out of BFCL's (bfcl evaluate --partial-eval)",
            file=sys.stderr,
        )
    rows = [r.row for r in read.rows]
    for path in benchmark.export(rows, samples, Path(command.out), command.model_name):
        print(path)


EXPORT = Command("export", export, options_of(ExportCommand))
