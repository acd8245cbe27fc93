"""The decoding methods that are compared, on the same prompts."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from eval.methods.candidate_rows import candidate_rows
from eval.methods.free_draft import behind_draft, opens_call, summed, with_draft_votes
from eval.methods.peer_decoding import run_peer
from eval.methods.peers import PEERS
from eval.methods.plain_decoding import PlainDecoder
from eval.methods.prediction import Prediction
from eval.methods.scored_text import ScoredText, read_calls
from eval.methods.self_consistency import SelfConsistency
from eval.options import EvalOptions
from lookup.errors import ToolDecodingError
from tooldecoding.batches.requests import out_of_memory_named
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.result import DecodeResult
from tooldecoding.tooldec.decoder import ToolDecResult, run_tooldec

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
    match settings.method:
        case "greedy" | "beam" as name:
            return _plain(_plain_decoder(settings, model, tokenizer, settings.beams if name == "beam" else 1), scored)
        case "tooldec":
            return _tooldec(settings, model, tokenizer, scored)
        case "draft-first":
            return _draft_first(settings, model, tokenizer, scored)
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


def _plain_decoder(
    settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, beams: int = 1
) -> PlainDecoder:
    own = CALL_FORMATS[settings.format] if settings.template == "chat" else None
    return PlainDecoder(model, tokenizer, beams, own)


def _constrained_decoder(
    settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> ToolDecoder:
    return ToolDecoder(model, tokenizer, settings.strategy, settings, prompt_cache_mb=0)


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
    decoder = _constrained_decoder(settings, model, tokenizer)
    plain = _plain_decoder(settings, model, tokenizer) if settings.draft_vote else None

    def run(requests: Sequence[Request]) -> list[Prediction]:
        results = decoder.run(requests)
        found = [_of_result(result, len(requests), scored) for result in results]
        if plain is None:
            return found
        drafts = plain.run(requests)
        return [_with_votes(*each, scored) for each in zip(requests, drafts, results, found, strict=True)]

    return run


def _with_votes(
    request: Request, draft: Prediction, result: DecodeResult, found: Prediction, scored: ScoredText
) -> Prediction:
    """Return the prediction with the draft's votes, and with the cost of both."""
    calls = with_draft_votes(result.calls, read_calls(scored.written, draft.text, request.tools), request)
    decoded = scored.written.render([Call(c.name, c.arguments) for c in result.calls])
    before = result.text.removesuffix(scored.written.ending(result.text, decoded)) if calls else result.text
    text = before + scored.written.ending(result.text, scored.written.render(calls)) if calls else before
    return replace(
        found,
        text=scored.of_calls(text, calls),
        written=text,
        counters=summed(draft.counters, found.counters),
        seconds=draft.seconds + found.seconds,
    )


def _of_result(result: DecodeResult, together: int, scored: ScoredText) -> Prediction:
    return Prediction(
        scored.of_calls(result.text, [Call(c.name, c.arguments) for c in result.calls]),
        candidate_rows([call.candidates for call in result.calls]),
        result.counters.to_json(),
        result.counters.seconds / together,
        written=result.text,
    )


def _draft_first(
    settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, scored: ScoredText
) -> Method:
    plain = _plain_decoder(settings, model, tokenizer)
    decoder = _constrained_decoder(settings, model, tokenizer)

    def constrained(request: Request, draft: Prediction) -> bool:
        return request.options.tool_choice != "auto" or opens_call(draft.text, scored.written)

    def run(requests: Sequence[Request]) -> list[Prediction]:
        drafts = plain.run(requests)
        behind = [
            behind_draft(request, draft.text)
            for request, draft in zip(requests, drafts, strict=True)
            if constrained(request, draft)
        ]
        results = iter(decoder.run(behind))
        found = []
        for request, draft in zip(requests, drafts, strict=True):
            own = replace(draft, text=scored.of_text(draft.text, request.tools), written=draft.text)
            if constrained(request, draft):
                own = _of_result(next(results), len(behind), scored)
                counters, seconds = summed(draft.counters, own.counters), draft.seconds + own.seconds
                own = replace(own, counters=counters, seconds=seconds, written=f"{draft.text}\n{own.written}")
            found.append(own)
        return found

    return run


def _peer(
    settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, scored: ScoredText
) -> Method:
    decoder = _constrained_decoder(settings, model, tokenizer)
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
    decoder = _constrained_decoder(settings, model, tokenizer)
    samples, temperature = settings.samples, settings.sample_temperature
    return SelfConsistency(decoder, scored, settings.sampled, samples, temperature, settings.seed).run


def _tooldec(
    settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, scored: ScoredText
) -> Method:
    decoder = _constrained_decoder(settings, model, tokenizer)

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
