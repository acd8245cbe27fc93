"""Runs one method on the samples of a benchmark: appends predictions row by row, and resumes."""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from eval.benchmarks.samples import Benchmark, Sample
from eval.methods.choose import Method, predict
from eval.methods.prediction import Prediction
from eval.methods.sample_prompts import Prompter
from lookup.errors import ToolDecodingError
from tooldecoding.decoder import Request
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
    method: Method,
    prompter: Prompter,
    results: ResultFile,
    batch_size: int,
    advance: Callable[[int], None],
) -> int:
    """Decode the samples that ``results`` lacks, ``batch_size`` at a time. Return the number that could not be decoded.

    Groups do not depend on interruptions, so neither do the predictions.
    """
    failed = 0
    for start in range(0, len(samples), batch_size):
        group = samples[start : start + batch_size]
        open_samples = [s for s in group if s.id not in results.done]
        if open_samples:
            predictions = _predict(group, method, prompter)
            rows = [benchmark.describe(s) | predictions[s.id].to_json() for s in open_samples]
            failed += sum("error" in row for row in rows)
            results.write(rows)
        advance(len(group))
    return failed


def _predict(group: Sequence[Sample], method: Method, prompter: Prompter) -> dict[str, Prediction]:
    predictions: dict[str, Prediction] = {}
    requests: dict[str, Request] = {}
    for sample in group:
        try:
            requests[sample.id] = prompter.request(sample)
        except ToolDecodingError as error:
            predictions[sample.id] = Prediction("", error=str(error))
    decoded = predict(method, list(requests.values())) if requests else []
    return predictions | dict(zip(requests, decoded, strict=True))
