"""Tool Decoding as a method, alone or with a free draft as one more vote."""

from collections.abc import Sequence
from dataclasses import replace

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from eval.methods.decoders import Method, constrained_decoder, plain_decoder, prediction_of
from eval.methods.free_draft import summed, with_draft_votes
from eval.methods.prediction import Prediction
from eval.methods.scored_text import ScoredText, read_calls
from eval.options import EvalOptions
from tooldecoding.decoder import Request
from tooldecoding.formats.call_format import Call
from tooldecoding.result import DecodeResult


def tool_decoding(
    settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, scored: ScoredText
) -> Method:
    """Return Tool Decoding; with ``draft_vote`` the model also writes freely, and its values count as one order's."""
    decoder = constrained_decoder(settings, model, tokenizer)
    plain = plain_decoder(settings, model, tokenizer) if settings.draft_vote else None

    def run(requests: Sequence[Request]) -> list[Prediction]:
        results = decoder.run(requests)
        found = [prediction_of(result, len(requests), scored) for result in results]
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
