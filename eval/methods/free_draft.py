"""An answer that the model writes freely before calls are decoded under constraint: a draft.

Source of what ``behind_draft`` makes: Reddy et al., "The Hidden Cost of Structured Generation in LLMs:
Draft-Conditioned Constrained Decoding", PMLR 306, 2026 (arXiv 2603.03305).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tooldecoding.decoder import Request
from tooldecoding.formats.call_format import CallFormat

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


def summed(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counters of two decodes of one prompt, one behind the other."""
    both = {name: first.get(name, 0) + second.get(name, 0) for name in ("forward_passes", "positions", "seconds")}
    return {**first, **second, **both}
