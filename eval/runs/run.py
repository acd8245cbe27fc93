"""Makes a run: decodes the samples of a benchmark with one method, row by row, resumes, and scores."""

import sys
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import closing
from functools import partial
from random import Random
from typing import Any, NamedTuple, TypeVar

from eval.benchmarks.samples import Benchmark, Sample
from eval.errors import EvalError
from eval.methods.choose import Draft, predicting
from eval.methods.prediction import Prediction
from eval.methods.sample_prompts import Prompter, settled
from eval.options import EvalOptions
from eval.runs.predictions import Predictions, leniently, read_predictions
from eval.runs.run_folder import LENIENT, PREDICTIONS, SCORES, VALUES, RunFolder, describe_run
from eval.runs.score import score, write_rows
from eval.votes.judge_values import run_values
from lookup.errors import ToolDecodingError
from tooldecoding.cli.console import progress_bar
from tooldecoding.cluster.workers import MapGroups, OnModelLoaded, Workers
from tooldecoding.files.result_file import ResultFile

T = TypeVar("T")


def draw(samples: Sequence[T], limit: int | None, seed: int) -> list[T]:
    """Draw ``limit`` samples with ``seed``, and keep their order; all without a limit.

    The samples of a smaller limit are among those of a larger one.
    """
    if limit is None or limit >= len(samples):
        return list(samples)
    numbers = list(range(len(samples)))
    Random(seed).shuffle(numbers)
    return [samples[number] for number in sorted(numbers[:limit])]


class Made(NamedTuple):
    """What a run has made: how its prompts were asked, and a row of scores for each prediction."""

    prompter: Prompter
    predictions: Predictions
    scores: list[dict[str, Any]]


def make_run(
    benchmark: Benchmark,
    categories: Sequence[str],
    every: Sequence[Sample],
    options: EvalOptions,
    folder: RunFolder,
    workers: Workers,
) -> Made:
    """Decode what the folder lacks, with a progress bar, and score it.

    EvalError if there are no samples, or the folder is of another run.

    Parameters
    ----------
    every : sequence of Sample
        All samples of the categories; they are drawn from, and are examples for each other.
    workers : Workers
        Where the model runs.
    """
    samples = draw(every, options.limit, options.seed)
    if not samples:
        raise EvalError(f"{benchmark.name}: there are no samples of {', '.join(categories)}")
    dialects = options.takes_dialects
    options = settled(options, benchmark, workers.tokenizer)
    prompter = Prompter(options, every, workers.tokenizer, dialects)
    prompts = [prompter.text(sample) for sample in samples]
    _say_fewer_examples(prompter, samples, options.shots)
    map_groups = workers.start(partial(predicting, options, benchmark.call_format))
    manifest = describe_run(benchmark, options, categories, samples, len(every), workers.device, prompts)
    if dialects:
        manifest["settings"]["dialects"] = True
    with folder.locked():
        folder.begin(manifest)
        with (
            closing(ResultFile(folder.path / PREDICTIONS, frozenset({"prediction"}))) as results,
            progress_bar("decoding", len(samples)) as advance,
        ):
            run(samples, benchmark, map_groups, prompter, results, options.batch_size, advance, folder.take_model)
        return _scored(benchmark, samples, folder, prompter, options.method)


def _say_fewer_examples(prompter: Prompter, samples: Sequence[Sample], shots: int) -> None:
    """Say how many prompts have no room for all examples that were asked for."""
    fewer = [given for sample in samples if (given := len(prompter.examples(sample))) < shots] if shots else []
    if fewer:
        print(
            f"{len(fewer)} of {len(samples)} prompts have fewer than {shots} examples, down to {min(fewer)}: there are "
            "no more, or no room for more",
            file=sys.stderr,
        )


def _scored(
    benchmark: Benchmark, samples: Sequence[Sample], folder: RunFolder, prompter: Prompter, method: str
) -> Made:
    """Write the scores and the value slots of all predictions."""
    path = folder.path / PREDICTIONS
    predictions = read_predictions(path, benchmark, samples)
    rows = score(predictions, benchmark)
    slots = run_values(predictions.rows, benchmark, prompter, str(path))
    write_rows([slot.model_dump() for slot in slots], folder.path / VALUES)
    if method == "greedy" and (reading := leniently(predictions, benchmark)) != predictions:
        write_rows(score(reading, benchmark), folder.path / LENIENT)
    write_rows(rows, folder.path / SCORES)  # last: a run with scores is finished
    failed = [row for row in rows if row["error_type"] == "not_decoded"]
    if failed:
        print(
            f"{len(failed)} of {len(rows)} samples could not be decoded and count as wrong; "
            f"the first: {failed[0]['id']}: {failed[0]['message']}",
            file=sys.stderr,
        )
    return Made(prompter, predictions, rows)


def run(
    samples: Sequence[Sample],
    benchmark: Benchmark,
    map_groups: MapGroups[Draft, Prediction],
    prompter: Prompter,
    results: ResultFile,
    batch_size: int,
    advance: Callable[[int], None],
    on_model_loaded: OnModelLoaded | None = None,
) -> None:
    """Decode the samples that ``results`` lacks, ``batch_size`` at a time.

    Groups do not depend on interruptions, so neither do the predictions.
    """
    by_id = {sample.id: sample for sample in samples}
    groups = _groups(samples, prompter, results.done, batch_size, advance)
    for drafts, predictions in map_groups(groups, on_model_loaded):
        results.write(
            [
                benchmark.describe(by_id[draft.id]) | {"prompt_tokens": draft.prompt_tokens} | prediction.to_json()
                for draft, prediction in zip(drafts, predictions, strict=True)
                if draft.id not in results.done
            ]
        )
        advance(len(drafts))


def _groups(
    samples: Sequence[Sample], prompter: Prompter, done: Set[str | int], size: int, advance: Callable[[int], None]
) -> Iterator[list[Draft]]:
    """Yield the groups that are not done; a begun one is decoded again as a whole."""
    for start in range(0, len(samples), size):
        group = samples[start : start + size]
        if all(sample.id in done for sample in group):
            advance(len(group))
        else:
            yield [_draft(sample, prompter) for sample in group]


def _draft(sample: Sample, prompter: Prompter) -> Draft:
    try:
        request = prompter.request(sample)
        return Draft(sample.id, request, prompt_tokens=prompter.tokens(request))
    except ToolDecodingError as error:
        return Draft(sample.id, None, str(error))
