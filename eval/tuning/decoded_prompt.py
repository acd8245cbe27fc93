"""A decoded prompt with everything that its candidates wrote: as a JSON row, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from eval.errors import EvalError
from lookup.dictionary import LookupDictionary
from lookup.errors import ToolDecodingError
from lookup.grammar.literal_values import read_value
from tooldecoding.decoding.decoded_call import DecodedCall
from tooldecoding.decoding.grounded_call import grounded_vote
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.dialects import dialect_of
from tooldecoding.formats.pythonic import API_BANK
from tooldecoding.grounding.grounding import index_of
from tooldecoding.request import Request
from voting import CandidateCall, CandidateValue


def at_limit(request: Request, order_limit: int) -> Request:
    """Return a request with another order limit."""
    return replace(request, options=replace(request.options, order_limit=order_limit))


@dataclass(frozen=True)
class DecodedPrompt:
    """What one decode of a prompt wrote.

    ``request`` is None if it could not be decoded, for which ``error`` has the reason. ``text`` is the prediction,
    ``call_format`` how its calls are written.
    """

    request: Request | None
    text: str
    calls: tuple[DecodedCall, ...]
    error: str = ""
    call_format: CallFormat = API_BANK

    @property
    def committed(self) -> list[str]:
        """The texts of the calls; the model sees each before the next one."""
        return [self.call_format.render_call(c.name, c.arguments, number) for number, c in enumerate(self.calls)]


def read_decoded(row: Mapping[str, Any], place: str, request: Request | None) -> DecodedPrompt:
    """Read a row of predictions. Values are read from their texts as the decoder does.

    EvalError if it is no such row, or if its prediction is not the vote over its candidates (other documentation, or
    another version of the vote).

    Parameters
    ----------
    place : str
        File and line, for messages.
    request : Request, optional
        The prompt that was decoded; not needed if the row has an ``error``.
    """
    if row.get("error") or request is None:
        return DecodedPrompt(None, "", (), str(row.get("error")))
    options = request.options
    call_format = dialect_of(options.call_format, str(row.get("opening", "")))
    try:
        text = str(row.get("written", row["prediction"]))
        tools = request.tools.decided(options.unknown_keys)
        groups = [list(group) for _, group in groupby(row.get("candidates", ()), key=lambda c: c["call"])]
        known = (row.get("name_confidences") or [None] * len(groups))[: len(groups)]
        calls = [
            revote([_read_candidate(c, tools, call_format) for c in group], request, sure)
            for group, sure in zip(groups, known, strict=True)
        ]
    except (KeyError, TypeError, ToolDecodingError) as error:
        raise EvalError(f"{place}: no row of candidates for this prompt ({error}); choose another --out") from None
    found = DecodedPrompt(request, text, tuple(calls), call_format=call_format)
    written = call_format.ending(text, call_format.joined(found.committed) if calls else "")
    if not text.endswith(written):
        raise EvalError(
            f"{place}: the vote over these candidates is {written!r}, the prediction is {text!r}: they were decoded by "
            "another version; choose another --out"
        )
    return found


def revote(candidates: Sequence[CandidateCall], request: Request, name_confidence: float | None = None) -> DecodedCall:
    """Return the call that decoding a request makes of candidates."""
    tool = request.tools.decided(request.options.unknown_keys)[candidates[0].name]
    call = grounded_vote(candidates, tool, request.options, index_of(request.conversation))
    return replace(call, name_confidence=name_confidence)


def _read_candidate(row: Mapping[str, Any], tools: LookupDictionary, call_format: CallFormat) -> CandidateCall:
    tool = tools[row["name"]]
    values = []
    for v in row["values"]:
        is_lost = v["truncated"] and not v["text"]
        value = None if is_lost else read_value(v["text"], tool.parameter(v["key"]), call_format.notation)
        tokens, why = int(v.get("tokens", 1)), str(v.get("why", ""))
        values.append(
            CandidateValue(v["key"], value, v["text"], float(v["logprob"]), bool(v["truncated"]), tokens, why)
        )
    return CandidateCall(tool.name, tuple(row["order"]), tuple(values), row["text"])
