"""The decoding methods that are compared, on the same prompts."""

from collections.abc import Callable, Sequence

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from eval.methods.plain_decoding import PlainDecoder
from eval.methods.prediction import Prediction
from eval.options import EvalOptions
from lookup.errors import ToolDecodingError
from tooldecoding.batches.requests import out_of_memory_named
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.tooldec.decoder import ToolDecResult, run_tooldec

Method = Callable[[Sequence[Request]], list[Prediction]]
"""Decodes several prompts together; ToolDecodingError if one of them cannot be decoded."""


def make_method(settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Method:
    """The method that the settings name."""
    match settings.method:
        case "greedy":
            return PlainDecoder(model, tokenizer).run
        case "beam":
            return PlainDecoder(model, tokenizer, settings.beams).run
        case "tooldec":
            return _tooldec(settings, model, tokenizer)
        case "tool-decoding":
            return _tool_decoding(settings, model, tokenizer)


def predict(method: Method, requests: Sequence[Request]) -> list[Prediction]:
    """Decode together; where that fails, each alone, so that the error is found to be one prompt's."""
    try:
        with out_of_memory_named(len(requests)):
            return method(requests)
    except ToolDecodingError as error:
        if len(requests) == 1:
            return [Prediction("", error=str(error))]
        return [predict(method, [request])[0] for request in requests]


def _tool_decoding(settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Method:
    decoder = ToolDecoder(model, tokenizer, settings.strategy, settings, prompt_cache_mb=0)

    def run(requests: Sequence[Request]) -> list[Prediction]:
        return [
            Prediction(
                result.text,
                result.to_json("")["candidates"],
                result.counters.to_json(),
                result.counters.seconds / len(requests),
            )
            for result in decoder.run(requests)
        ]

    return run


def _tooldec(settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Method:
    decoder = ToolDecoder(model, tokenizer, settings.strategy, settings, prompt_cache_mb=0)

    def prediction(result: ToolDecResult) -> str:
        """What is scored: an action as the benchmark writes a call; nothing without one, unless it was cut off."""
        if settings.tooldec_form == "call" or result.truncated:
            return result.text
        return CALL_FORMATS[settings.format].render(result.calls) if result.calls else ""

    def run(requests: Sequence[Request]) -> list[Prediction]:
        return [
            Prediction(
                prediction(result),
                written=result.text,
                counters=result.counters.to_json(),
                seconds=result.counters.seconds / len(requests),
            )
            for result in run_tooldec(decoder, requests, settings.tooldec_form)
        ]

    return run
