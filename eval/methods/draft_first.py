"""A free draft first, then a decode under constraint behind it."""

from collections.abc import Sequence
from dataclasses import replace

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from eval.methods.decoders import Method, constrained_decoder, plain_decoder, prediction_of
from eval.methods.free_draft import behind_draft, opens_call, summed
from eval.methods.prediction import Prediction
from eval.methods.scored_text import ScoredText
from eval.options import EvalOptions
from tooldecoding.decoder import Request


def draft_first(
    settings: EvalOptions, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, scored: ScoredText
) -> Method:
    """Return the baseline of PMLR v306 (reddy26a): where the draft opens a call, a call is decoded behind the draft."""
    plain = plain_decoder(settings, model, tokenizer)
    decoder = constrained_decoder(settings, model, tokenizer)

    def constrained(request: Request, draft: Prediction) -> bool:
        return request.options.choice != "auto" or opens_call(draft.text, scored.written)

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
                own = prediction_of(next(results), len(behind), scored)
                counters, seconds = summed(draft.counters, own.counters), draft.seconds + own.seconds
                own = replace(own, counters=counters, seconds=seconds, written=f"{draft.text}\n{own.written}")
            found.append(own)
        return found

    return run
