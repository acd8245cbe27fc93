"""The decoding methods that are compared, on the same prompts, and the prompts on their way to one."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from transformers import PreTrainedTokenizerBase

from eval.methods.llama_cpp_python import LlamaCppPython
from eval.methods.peers import load_peer, run_peer
from eval.methods.plain_decoding import PlainDecoder
from eval.methods.prediction import Prediction, ScoredText, candidate_rows
from eval.methods.self_consistency import SelfConsistency
from eval.methods.tooldec import ToolDecResult, run_tooldec
from eval.options import EvalOptions
from tooldecoding.batches.requests import each_decoded
from tooldecoding.decoder import ToolDecoder
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.formats.dialects import opening_of
from tooldecoding.models.llama_cpp import LlamaCppModel
from tooldecoding.models.sources import Model
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult

Method = Callable[[Sequence[Request]], list[Prediction]]
"""Decodes several prompts together; ToolDecodingError if one of them cannot be decoded."""


def make_method(settings: EvalOptions, model: Model, tokenizer: PreTrainedTokenizerBase, call_format: str) -> Method:
    """The method that the settings name.

    ``call_format``: the benchmark's, in which predictions are scored.
    """
    scored = ScoredText.of(settings, call_format)
    own = settings.call_format if settings.template == "chat" else None
    if settings.method in ("greedy", "beam"):
        beams = settings.beams if settings.method == "beam" else 1
        return _read(PlainDecoder(model, tokenizer, beams, own).run, scored)
    if settings.method == "llama-cpp" and isinstance(model, LlamaCppModel):
        return LlamaCppPython(model, tokenizer, scored).run
    # no prompt is kept for the next: samples are compared as if each came alone
    decoder = ToolDecoder(model, tokenizer, settings.strategy, settings, prompt_cache_mb=0)
    match settings.method:
        case "tooldec":
            return lambda requests: [
                _tooldec_prediction(result, len(requests), scored) for result in run_tooldec(decoder, requests)
            ]
        case "xgrammar" | "llguidance":
            peer = load_peer(settings.method, decoder.table)
            return _read(lambda requests: run_peer(decoder, peer, requests), scored)
        case "self-consistency":
            samples, temperature = settings.samples, settings.sample_temperature
            return SelfConsistency(decoder, scored, samples, temperature, settings.seed).run
        case _:
            return lambda requests: [
                _prediction(result, settings.call_format, len(requests), scored) for result in decoder.run(requests)
            ]


def _read(method: Method, scored: ScoredText) -> Method:
    """The method with its calls read from its text."""
    return lambda requests: [
        replace(p, text=scored.of_text(p.text, request.tools), written=p.text)
        for request, p in zip(requests, method(requests), strict=True)
    ]


def _prediction(result: DecodeResult, own: CallFormat, together: int, scored: ScoredText) -> Prediction:
    """Return the prediction of one of ``together`` prompts; each gets its share of the seconds."""
    return Prediction(
        scored.of_calls(result.text, [Call(c.name, c.arguments) for c in result.calls]),
        candidate_rows([call.candidates for call in result.calls]),
        result.counters.to_json() | _grounding_counts(result),
        result.counters.seconds / together,
        written=result.text,
        opening="" if result.call_format is own else opening_of(result.call_format),
        next_call_log_odds=result.next_call_log_odds,
        name_confidences=[call.name_confidence for call in result.calls],
        score=math.prod(call.score for call in result.calls) if result.calls else None,
    )


def _grounding_counts(result: DecodeResult) -> dict[str, int]:
    """Return how many arguments the dialogue does not say: optional ones left out, and required ones."""
    calls = [*result.calls, *([result.asked] if result.asked else [])]
    left_out, ungrounded = (sum(len(getattr(call, name)) for call in calls) for name in ("left_out", "ungrounded"))
    return {"left_out": left_out, "ungrounded": ungrounded, "asked": int(result.asked is not None)}


def _tooldec_prediction(result: ToolDecResult, together: int, scored: ScoredText) -> Prediction:
    counters, text = result.counters, scored.of_calls(result.text, result.calls)
    return Prediction(text, written=result.text, counters=counters.to_json(), seconds=counters.seconds / together)


@dataclass(frozen=True)
class Draft:
    """A prompt that waits for its prediction, or why there is no prompt."""

    id: str
    request: Request | None
    error: str = ""
    prompt_tokens: int = 0


def predict_all(method: Method, drafts: Sequence[Draft]) -> list[Prediction]:
    """Return the predictions for drafts that are decoded together; where that fails, each alone."""
    asked = [(number, draft.request) for number, draft in enumerate(drafts) if draft.request is not None]
    decoded = each_decoded(lambda requests: enumerate(method(requests)), [request for _, request in asked])
    found = {number: draft.error for number, draft in enumerate(drafts)} | {asked[n][0]: each for n, each in decoded}
    return [each if isinstance(each, Prediction) else Prediction("", error=str(each)) for each in found.values()]


def predicting(
    settings: EvalOptions, call_format: str, model: Model, tokenizer: PreTrainedTokenizerBase
) -> Callable[[Sequence[Draft]], Iterable[tuple[int, Prediction]]]:
    """Return what makes numbered predictions with the method that the settings name.

    ``call_format``: the benchmark's, in which predictions are scored.
    """
    method = make_method(settings, model, tokenizer, call_format)
    return lambda drafts: enumerate(predict_all(method, drafts))
