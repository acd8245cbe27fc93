"""A free draft first, then a decode under constraint behind it.

Source: Reddy et al., "The Hidden Cost of Structured Generation in LLMs: Draft-Conditioned Constrained Decoding",
PMLR 306, 2026 (arXiv 2603.03305).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from eval.methods.prediction import Prediction
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.request import Request

DRAFT_LABEL: Final = "Draft: "
"""Before a draft, so that it is not taken for a call of an earlier turn."""

Decode = Callable[[Sequence[Request]], list[Prediction]]


def decode_behind_drafts(
    requests: Sequence[Request], plain: Decode, constrained: Decode, written: CallFormat
) -> list[Prediction]:
    """Return drafts, and where one opens a call or there must be one, the calls decoded behind it.

    Parameters
    ----------
    plain, constrained : callable
        How the draft is written, and how the calls are.
    written : CallFormat
        The format of calls in drafts.
    """
    drafts = plain(requests)
    behind = {
        number: behind_draft(request, str(draft.written))
        for number, (request, draft) in enumerate(zip(requests, drafts, strict=True))
        if request.options.choice != "auto" or opens_call(str(draft.written), written)
    }
    decoded = constrained(list(behind.values())) if behind else []
    found = list(drafts)
    for number, calls in zip(behind, decoded, strict=True):
        draft = drafts[number]
        found[number] = replace(
            calls,
            counters=summed(draft.counters, calls.counters),
            seconds=draft.seconds + calls.seconds,
            written=f"{draft.written}\n{calls.written}",
        )
    return found


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


def summed(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counters of two decodes of one prompt, one behind the other."""
    both = {name: first.get(name, 0) + second.get(name, 0) for name in ("forward_passes", "positions", "seconds")}
    return {**first, **second, **both}
