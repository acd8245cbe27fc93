"""The prompts to tune on: samples of a benchmark, or the user's own prompts without answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedTokenizerBase

from eval.benchmarks.samples import Benchmark, Sample
from eval.errors import EvalError
from eval.methods.sample_prompts import Prompter
from lookup.errors import ToolDecodingError
from tooldecoding.batches.requests import make_request
from tooldecoding.batches.rows import BadRow, Row
from tooldecoding.decoder import Request
from tooldecoding.options.decode_command import DecodeCommand


@dataclass(frozen=True)
class TuningPrompt:
    """One prompt.

    Attributes
    ----------
    id : str
    request : Request or None
        None if no prompt can be made.
    error : str
        Why there is no request.
    sample : Sample or None
        None for the user's own data.
    names : mapping
        The columns that name it in rows of predictions.
    """

    id: str
    request: Request | None
    error: str
    sample: Sample | None
    names: Mapping[str, Any]


def benchmark_prompts(benchmark: Benchmark, samples: Sequence[Sample], prompter: Prompter) -> list[TuningPrompt]:
    """Return the prompts of a benchmark's samples. One that cannot be made counts as wrong, as in ``eval``."""
    prompts = []
    for sample in samples:
        request, error = _made(lambda sample=sample: prompter.request(sample))  # type: ignore[misc]
        prompts.append(TuningPrompt(sample.id, request, error, sample, benchmark.describe(sample)))
    return prompts


def own_prompts(
    rows: Sequence[Row | BadRow], settings: DecodeCommand, tokenizer: PreTrainedTokenizerBase
) -> list[TuningPrompt]:
    """Return the prompts of rows of ``decode --batch``. A row that cannot be decoded counts in no figure.

    Raises
    ------
    EvalError
        If two ids differ only by type (1 and "1").
    """
    if len({str(row.id) for row in rows}) < len(rows):
        raise EvalError("--data: two rows have ids that differ by type alone (1 and '1'); tell them apart")
    prompts = []
    for row in rows:
        if isinstance(row, BadRow):
            request, error = None, row.error
        else:
            request, error = _made(
                lambda row=row: make_request(row.content, row.documentation, settings, tokenizer)  # type: ignore[misc]
            )
        prompts.append(TuningPrompt(str(row.id), request, error, None, {"id": str(row.id)}))
    return prompts


def _made(make: Callable[[], Request]) -> tuple[Request | None, str]:
    """Return the request, or why there is none."""
    try:
        return make(), ""
    except ToolDecodingError as cause:
        return None, str(cause)
