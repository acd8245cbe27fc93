"""The decoders that the methods share, and what a decode is as a prediction."""

from collections.abc import Callable, Sequence

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from eval.methods.candidate_rows import candidate_rows
from eval.methods.plain_decoding import PlainDecoder
from eval.methods.prediction import Prediction
from eval.methods.scored_text import ScoredText
from eval.options import EvalOptions
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.result import DecodeResult

Method = Callable[[Sequence[Request]], list[Prediction]]
"""Decodes several prompts together; ToolDecodingError if one of them cannot be decoded."""


def plain_decoder(
    settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, beams: int = 1
) -> PlainDecoder:
    """Return a decoder without constraint that knows how chats with the model write calls."""
    own = CALL_FORMATS[settings.format] if settings.template == "chat" else None
    return PlainDecoder(model, tokenizer, beams, own)


def constrained_decoder(
    settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> ToolDecoder:
    """Return a decoder that keeps no prompt for the next: samples are compared as if each came alone."""
    return ToolDecoder(model, tokenizer, settings.strategy, settings, prompt_cache_mb=0)


def prediction_of(result: DecodeResult, together: int, scored: ScoredText) -> Prediction:
    """Return the prediction of one of ``together`` prompts; each gets its share of the seconds."""
    return Prediction(
        scored.of_calls(result.text, [Call(c.name, c.arguments) for c in result.calls]),
        candidate_rows([call.candidates for call in result.calls]),
        result.counters.to_json(),
        result.counters.seconds / together,
        written=result.text,
    )
