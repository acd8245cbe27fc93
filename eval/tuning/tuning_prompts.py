"""The prompts to tune on: samples of a benchmark, or the user's own prompts without answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedTokenizerBase

from eval.benchmarks.samples import Benchmark, Sample
from eval.errors import EvalError
from eval.methods.sample_prompts import Prompter
from eval.runs.run import draw
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
    dialogue : str
        Prompts of one dialogue are resampled together and stay in one fold.
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
    dialogue: str
    request: Request | None
    error: str
    sample: Sample | None
    names: Mapping[str, Any]


def benchmark_prompts(benchmark: Benchmark, samples: Sequence[Sample], prompter: Prompter) -> list[TuningPrompt]:
    """Return the prompts of a benchmark's samples. One that cannot be made counts as wrong, as in ``eval``."""
    prompts = []
    for sample in samples:
        request, error = None, ""
        try:
            request = prompter.request(sample)
        except ToolDecodingError as cause:
            error = str(cause)
        prompts.append(TuningPrompt(sample.id, sample.dialogue, request, error, sample, benchmark.describe(sample)))
    return prompts


def draw_rows(rows: Sequence[Row | BadRow], limit: int | None, seed: int) -> list[Row | BadRow]:
    """Draw ``limit`` rows of a batch with ``seed``.

    Raises
    ------
    EvalError
        If two ids differ only by type (1 and "1").
    """
    if len({str(row.id) for row in rows}) < len(rows):
        raise EvalError("--data: two rows have ids that differ by type alone (1 and '1'); tell them apart")
    return draw(rows, limit, seed)


def own_prompts(
    rows: Sequence[Row | BadRow], settings: DecodeCommand, tokenizer: PreTrainedTokenizerBase
) -> list[TuningPrompt]:
    """Return the prompts of rows of ``decode --batch``. A row that cannot be decoded counts in no figure."""
    return [_own_prompt(row, settings, tokenizer) for row in rows]


def _own_prompt(row: Row | BadRow, settings: DecodeCommand, tokenizer: PreTrainedTokenizerBase) -> TuningPrompt:
    request, error = None, ""
    if isinstance(row, BadRow):
        error = row.error
    else:
        try:
            request = make_request(row.content, row.documentation, settings, tokenizer)
        except ToolDecodingError as cause:
            error = str(cause)
    return TuningPrompt(str(row.id), str(row.id), request, error, None, {"id": str(row.id)})
