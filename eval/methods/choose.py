"""The decoding methods that are compared, on the same prompts."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from eval.methods.draft_first import decode_behind_drafts
from eval.methods.peers import load_peer, run_peer
from eval.methods.plain_decoding import PlainDecoder
from eval.methods.prediction import Prediction, candidate_rows
from eval.methods.scored_text import ScoredText
from eval.methods.self_consistency import SelfConsistency
from eval.methods.tooldec.decoder import ToolDecResult, run_tooldec
from eval.options import EvalOptions
from tooldecoding.decoder import ToolDecoder
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.formats.dialects import opening_of
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult

Method = Callable[[Sequence[Request]], list[Prediction]]
"""Decodes several prompts together; ToolDecodingError if one of them cannot be decoded."""


def make_method(
    settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, call_format: str
) -> Method:
    """The method that the settings name.

    Parameters
    ----------
    call_format : str
        The benchmark's, in which predictions are scored.
    """
    scored = ScoredText.of(settings, call_format)
    own = CALL_FORMATS[settings.format] if settings.template == "chat" else None

    def plain(beams: int = 1) -> PlainDecoder:
        return PlainDecoder(model, tokenizer, beams, own)

    if settings.method == "greedy":
        return _read(plain().run, scored)
    if settings.method == "beam":
        return _read(plain(settings.beams).run, scored)
    # no prompt is kept for the next: samples are compared as if each came alone
    decoder = ToolDecoder(model, tokenizer, settings.strategy, settings, prompt_cache_mb=0)

    def decode(requests: Sequence[Request]) -> list[Prediction]:
        return [
            _prediction(result, CALL_FORMATS[settings.format], len(requests), scored)
            for result in decoder.run(requests)
        ]

    match settings.method:
        case "tooldec":
            return lambda requests: [
                _tooldec_prediction(result, len(requests), settings, scored)
                for result in run_tooldec(decoder, requests, settings.tooldec_form)
            ]
        case "draft-first":
            drafts = _read(plain().run, scored)
            return lambda requests: decode_behind_drafts(requests, drafts, decode, scored.written)
        case "xgrammar" | "llguidance":
            peer = load_peer(settings.method, decoder.table)
            return _read(lambda requests: run_peer(decoder, peer, requests), scored)
        case "self-consistency":
            samples, temperature = settings.samples, settings.sample_temperature
            return SelfConsistency(decoder, scored, samples, temperature, settings.seed).run
        case _:
            return decode


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
        result.counters.to_json(),
        result.counters.seconds / together,
        written=result.text,
        opening="" if result.call_format is own else opening_of(result.call_format),
    )


def _tooldec_prediction(result: ToolDecResult, together: int, settings: EvalOptions, scored: ScoredText) -> Prediction:
    """What is scored: an action as the benchmark writes a call; nothing without one, unless it was cut off."""
    if settings.tooldec_form == "call" or result.truncated:
        text = scored.of_calls(result.text, result.calls)
    else:
        text = scored.scored.render(result.calls) if result.calls else ""
    counters = result.counters
    return Prediction(text, written=result.text, counters=counters.to_json(), seconds=counters.seconds / together)
