"""``tooldecoding eval``."""

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from eval.commands.benchmark_command import BenchmarkCommand, show_scores
from eval.errors import EvalError
from eval.options import PEER_METHODS, EvalOptions, benchmark_defaults
from eval.runs.run_folder import RunFolder, describe_run
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import progress_bar
from tooldecoding.cli.extras import demand_extra, demand_ray
from tooldecoding.files.result_file import ResultFile
from tooldecoding.options.given import Given
from tooldecoding.options.option import option, options_of

if TYPE_CHECKING:
    from eval.benchmarks.samples import Benchmark, Sample
    from eval.methods.drafts import Draft
    from eval.methods.prediction import Prediction
    from eval.methods.sample_prompts import Prompter
    from tooldecoding.cluster.task import Workers


@dataclass(frozen=True, kw_only=True)
class EvalCommand(BenchmarkCommand):
    """Which benchmark is decoded into which folder."""

    out: str = option(..., "Folder of the run; the same command goes on in it.", metavar="RUN/")


def evaluate(given: Given) -> None:
    """Decode a benchmark with one method, and score it. An interrupted run goes on with the same command."""
    demand_extra("eval", "scipy")
    command = given.read(EvalCommand)
    benchmark, categories = command.find()
    options = given.merge(EvalOptions, benchmark_defaults(benchmark))
    demand_ray(options)
    benchmark = benchmark.of_template(options.template)
    if options.method in PEER_METHODS:
        demand_extra("bench", options.method)
    every = benchmark.load(command.data, categories)
    _decode(benchmark, categories, every, options, RunFolder(Path(command.out)))


def _decode(
    benchmark: "Benchmark",
    categories: Sequence[str],
    every: "Sequence[Sample]",
    options: EvalOptions,
    folder: RunFolder,
) -> None:
    from eval.methods.method_task import MethodTask
    from eval.methods.prompt_format import settled
    from eval.methods.sample_prompts import Prompter
    from eval.runs.run import draw
    from tooldecoding.cluster.place import place_of
    from tooldecoding.prompts.templates import unshortened

    samples = draw(every, options.limit, options.seed)
    if not samples:
        raise EvalError(f"{benchmark.name}: there are no samples of {', '.join(categories)}")
    for warning in unshortened((sample.turns for sample in samples), options):
        print(f"warning: {warning}", file=sys.stderr)
    with place_of(options) as place:
        options = settled(options, benchmark, place.tokenizer)
        prompter = Prompter(options, every, place.tokenizer)
        if options.chat:
            prompter.request(samples[0])  # a missing chat template shows before anything is written
        prompts = [prompter.text(sample) for sample in samples]
        _say_fewer_examples(prompter, samples, options.shots)
        with place.workers(MethodTask(options, benchmark.call_format)) as workers:
            device = str(workers.about["device"])
            folder.begin(describe_run(benchmark, options, categories, samples, len(every), device, prompts))
            with folder.locked():
                _fill(folder, samples, benchmark, workers, prompter)
                _score_run(benchmark, samples, folder, prompter)


def _say_fewer_examples(prompter: "Prompter", samples: "Sequence[Sample]", shots: int) -> None:
    """Say how many prompts have no room for all examples that were asked for."""
    fewer = [given for sample in samples if (given := len(prompter.examples(sample))) < shots] if shots else []
    if fewer:
        print(
            f"{len(fewer)} of {len(samples)} prompts have fewer than {shots} examples, down to {min(fewer)}: there are "
            "no more, or no room for more",
            file=sys.stderr,
        )


def _fill(
    folder: RunFolder,
    samples: "Sequence[Sample]",
    benchmark: "Benchmark",
    workers: "Workers[Draft, Prediction]",
    prompter: "Prompter",
) -> None:
    """Decode the samples that have no prediction yet, with a progress bar."""
    from eval.runs.run import run

    with closing(ResultFile(folder.predictions, frozenset({"prediction"}))) as results:
        try:
            with progress_bar("decoding", len(samples)) as advance:
                run(samples, benchmark, workers, prompter, results, prompter.settings.batch_size, advance)
        except KeyboardInterrupt:
            print(f"interrupted: the same command goes on behind what stands in {folder.path}", file=sys.stderr)
            raise typer.Exit(130) from None


def _score_run(benchmark: "Benchmark", samples: "Sequence[Sample]", folder: RunFolder, prompter: "Prompter") -> None:
    from eval.runs.predictions import read_predictions
    from eval.runs.score import Scorer, write_rows
    from eval.votes.run_values import run_values
    from eval.votes.value_file import write_values

    predictions = read_predictions(folder.predictions, benchmark, samples, repeats=False)
    rows = Scorer(benchmark, benchmark.judge).score(predictions, partial=False)
    write_rows(rows, folder.scores)
    write_values(run_values(predictions.rows, benchmark, prompter, str(folder.predictions)), folder.path)
    failed = [r for r in rows if r["error_type"] == "not_decoded"]
    if failed:
        print(
            f"{len(failed)} of {len(rows)} samples could not be decoded and count as wrong; "
            f"the first: {failed[0]['id']}: {failed[0]['message']}",
            file=sys.stderr,
        )
    show_scores(benchmark, {folder.path.name: rows})


# no figure depends on the mark that min_confidence sets
_FILE_OPTIONS = tuple(option for option in options_of(EvalOptions) if option.name != "min_confidence")

EVAL = Command("eval", evaluate, options_of(EvalCommand), _FILE_OPTIONS)
