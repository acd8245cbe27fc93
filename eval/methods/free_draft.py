"""An answer that the model writes freely before calls are decoded under constraint: a draft.

Source of what ``behind_draft`` makes: Reddy et al., "The Hidden Cost of Structured Generation in LLMs:
Draft-Conditioned Constrained Decoding", PMLR 306, 2026 (arXiv 2603.03305).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tooldecoding.calls.decoded_call import DecodedCall
from tooldecoding.decoder import Request
from tooldecoding.formats.call_format import Call, CallFormat
from voting import CandidateCall, CandidateValue, merge
from voting.type_check import vote_identity

DRAFT_LABEL: Final = "Draft: "
"""Before a draft, so that it is not taken for a call of an earlier turn."""


def opens_call(draft: str, call_format: CallFormat) -> bool:
    """Whether what opens a call stands in a draft."""
    opener = call_format.start(0).rstrip()
    return next((mark for mark in call_format.marks if opener.startswith(mark)), opener) in draft


def behind_draft(request: Request, draft: str) -> Request:
    """Return the request for a call behind a draft, in one order.

    Where a line of the prompt is a turn, the draft is a line before the prompt's last one, which the model is to
    complete. A chat model's draft begins its turn.
    """
    before, newline, begun = str(request.prompt).rpartition("\n")
    drafted = f"{DRAFT_LABEL}{draft}\n"
    line = drafted + begun if request.stop else begun + drafted
    options = replace(request.options, tool_choice="required", orders="documented", order_limit=1)
    return replace(request, prompt=before + newline + line, options=options)


def with_draft_votes(decoded: Sequence[DecodedCall], draft: Sequence[Call], request: Request) -> list[Call]:
    """Return the decoded calls after a vote with one more candidate each: the draft's call of the same tool.

    The first call of a tool takes the draft's first call of this tool, the second its second. A value of the draft
    counts if it has the documented type. It has no log-probability: the mean of a value does not change by the draft's
    vote, and a value that only the draft has loses each tie.
    """
    tools = request.tools.decided(request.options.unknown_keys)
    unused = list(draft)
    voted = []
    for call in decoded:
        own = next((found for found in unused if found.name == call.name), None)
        arguments: Mapping[str, Any] = call.arguments
        if own is not None:
            unused.remove(own)
            candidates = [*call.candidates, _candidate(own, call.candidates)]
            arguments = merge(candidates, tools[call.name], request.options.optional_share).arguments
        voted.append(Call(call.name, arguments))
    return voted


def _candidate(draft: Call, others: Sequence[CandidateCall]) -> CandidateCall:
    """Return the draft's call as a candidate."""
    values = []
    for key, value in draft.arguments.items():
        same = [
            v.logprob
            for other in others
            for v in other.values
            if v.key == key and vote_identity(v.value) == vote_identity(value)
        ]
        values.append(CandidateValue(key, value, "", math.fsum(same) / len(same) if same else -math.inf))
    return CandidateCall(draft.name, tuple(draft.arguments), tuple(values))


def summed(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counters of two decodes of one prompt, one behind the other."""
    both = {name: first.get(name, 0) + second.get(name, 0) for name in ("forward_passes", "positions", "seconds")}
    return {**first, **second, **both}
