"""The decoding methods that are compared, on the same prompts."""

from collections.abc import Sequence
from dataclasses import replace

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from eval.methods.decoders import Method, constrained_decoder, plain_decoder, prediction_of
from eval.methods.draft_first import draft_first
from eval.methods.peer_decoding import run_peer
from eval.methods.peers import PEERS
from eval.methods.plain_decoding import PlainDecoder
from eval.methods.prediction import Prediction
from eval.methods.scored_text import ScoredText
from eval.methods.self_consistency import SelfConsistency
from eval.methods.tooldec.decoder import ToolDecResult, run_tooldec
from eval.options import EvalOptions
from lookup.errors import ToolDecodingError
from tooldecoding.batches.requests import out_of_memory_named
from tooldecoding.decoder import Request


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
    match settings.method:
        case "greedy" | "beam" as name:
            return _plain(plain_decoder(settings, model, tokenizer, settings.beams if name == "beam" else 1), scored)
        case "tooldec":
            return _tooldec(settings, model, tokenizer, scored)
        case "draft-first":
            return draft_first(settings, model, tokenizer, scored)
        case "xgrammar" | "llguidance":
            return _peer(settings, model, tokenizer, scored)
        case "self-consistency":
            return _self_consistency(settings, model, tokenizer, scored)
        case "tool-decoding":
            return _tool_decoding(settings, model, tokenizer, scored)


def predict(method: Method, requests: Sequence[Request]) -> list[Prediction]:
    """Decode together; where that fails, each alone, so that the error is found to be one prompt's."""
    try:
        with out_of_memory_named(len(requests)):
            return method(requests)
    except ToolDecodingError as error:
        if len(requests) == 1:
            return [Prediction("", error=str(error))]
        return [predict(method, [request])[0] for request in requests]


def _plain(decoder: PlainDecoder, scored: ScoredText) -> Method:
    def run(requests: Sequence[Request]) -> list[Prediction]:
        return [
            replace(p, text=scored.of_text(p.text, request.tools), written=p.text)
            for request, p in zip(requests, decoder.run(requests), strict=True)
        ]

    return run


def _tool_decoding(
    settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, scored: ScoredText
) -> Method:
    decoder = constrained_decoder(settings, model, tokenizer)
    return lambda requests: [prediction_of(result, len(requests), scored) for result in decoder.run(requests)]


def _peer(
    settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, scored: ScoredText
) -> Method:
    decoder = constrained_decoder(settings, model, tokenizer)
    peer = PEERS[settings.method](decoder.table)

    def run(requests: Sequence[Request]) -> list[Prediction]:
        return [
            replace(p, text=scored.of_text(p.text, request.tools), written=p.text)
            for request, p in zip(requests, run_peer(decoder, peer, requests, settings.jump_forward), strict=True)
        ]

    return run


def _self_consistency(
    settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, scored: ScoredText
) -> Method:
    decoder = constrained_decoder(settings, model, tokenizer)
    samples, temperature = settings.samples, settings.sample_temperature
    return SelfConsistency(decoder, scored, settings.sampled, samples, temperature, settings.seed).run


def _tooldec(
    settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, scored: ScoredText
) -> Method:
    decoder = constrained_decoder(settings, model, tokenizer)

    def prediction(result: ToolDecResult) -> str:
        """What is scored: an action as the benchmark writes a call; nothing without one, unless it was cut off."""
        if settings.tooldec_form == "call" or result.truncated:
            return scored.of_calls(result.text, result.calls)
        return scored.scored.render(result.calls) if result.calls else ""

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
