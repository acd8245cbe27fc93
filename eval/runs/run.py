"""Runs one method on the samples of a benchmark: appends predictions row by row, and resumes."""

from collections.abc import Callable, Iterator, Sequence, Set
from random import Random
from typing import TypeVar

from eval.benchmarks.samples import Benchmark, Sample
from eval.methods.drafts import Draft
from eval.methods.prediction import Prediction
from eval.methods.sample_prompts import Prompter
from lookup.errors import ToolDecodingError
from tooldecoding.cluster.task import Workers
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


def run(
    samples: Sequence[Sample],
    benchmark: Benchmark,
    workers: Workers[Draft, Prediction],
    prompter: Prompter,
    results: ResultFile,
    batch_size: int,
    advance: Callable[[int], None],
) -> int:
    """Decode the samples that ``results`` lacks, ``batch_size`` at a time. Return the number that could not be decoded.

    Groups do not depend on interruptions, so neither do the predictions.
    """
    by_id = {sample.id: sample for sample in samples}
    failed = 0
    for drafts, predictions in workers.spread(_groups(samples, prompter, results.done, batch_size, advance)):
        rows = [
            benchmark.describe(by_id[draft.id]) | {"prompt_tokens": draft.prompt_tokens} | prediction.to_json()
            for draft, prediction in zip(drafts, predictions, strict=True)
            if draft.id not in results.done
        ]
        failed += sum("error" in row for row in rows)
        results.write(rows)
        advance(len(drafts))
    return failed


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
