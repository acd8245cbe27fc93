"""A decoded prompt with everything that its candidates wrote: as a row of JSON, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from eval.errors import EvalError
from eval.methods.prediction import Prediction
from eval.tuning.vote_options import VoteOptions
from lookup.dictionary import LookupDictionary, ToolSpec
from lookup.errors import ToolDecodingError
from lookup.values.literal_values import read_value
from tooldecoding.decoder import Request
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.result import DecodeResult
from voting import CandidateCall, CandidateValue, merge


@dataclass(frozen=True)
class DecodedCall:
    """The candidates of one call, and the text of the vote over all of them, which the next call follows."""

    tool: ToolSpec
    candidates: tuple[CandidateCall, ...]
    committed: str


@dataclass(frozen=True)
class DecodedPrompt:
    """What one decode of a prompt wrote.

    Attributes
    ----------
    variant : VoteOptions
        How it was decoded.
    text : str
        The prediction.
    before : str
        Its free text before the calls.
    calls : tuple of DecodedCall
    error : str
        Why it could not be decoded; empty where it was.
    """

    variant: VoteOptions
    text: str
    before: str
    calls: tuple[DecodedCall, ...]
    error: str = ""


def to_prediction(result: DecodeResult, prompts: int) -> Prediction:
    """A result of ``ToolDecoder.run`` as a prediction whose candidates keep all that the vote needs.

    Parameters
    ----------
    prompts : int
        How many were decoded together; they share the seconds.
    """
    candidates = [
        {
            "call": number,
            "name": candidate.name,
            "order": list(candidate.order),
            "text": candidate.text,
            "values": [
                {"key": v.key, "text": v.text, "logprob": v.logprob, "truncated": v.truncated} for v in candidate.values
            ],
        }
        for number, call in enumerate(result.calls)
        for candidate in call.candidates
    ]
    counters = result.counters
    return Prediction(result.text, candidates, counters.to_json(), counters.seconds / prompts)


def read_decoded(row: Mapping[str, Any], place: str, request: Request | None, variant: VoteOptions) -> DecodedPrompt:
    """A row of candidates; values are read from their texts as the decoder reads them.

    Parameters
    ----------
    place : str
        File and line, for messages.
    request : Request or None
        What was decoded.

    Raises
    ------
    EvalError
        If it is no such row, or if the vote over its candidates does not give its prediction: other documentation, or
        another version of the vote.
    """
    if request is None or row.get("error"):
        return DecodedPrompt(variant, "", "", (), str(row.get("error") or "no prompt"))
    options = request.options
    form = options.call_format
    try:
        text = str(row["prediction"])
        tools = request.tools.decided(options.unknown_keys)
        groups = [list(group) for _, group in groupby(row.get("candidates", ()), key=lambda c: c["call"])]
        calls = [_read_call([_read_candidate(c, tools, form) for c in group], tools, form, variant) for group in groups]
    except (KeyError, TypeError, ToolDecodingError) as error:
        raise EvalError(f"{place}: no row of candidates for this prompt ({error}); choose another --out") from None
    written = form.opener + form.separator.join(c.committed for c in calls) + form.closer if calls else ""
    if not text.endswith(written):
        raise EvalError(
            f"{place}: the vote over these candidates is {written!r}, the prediction is {text!r}: they were decoded by "
            "another version; choose another --out"
        )
    return DecodedPrompt(variant, text, text[: len(text) - len(written)], tuple(calls))


def _read_candidate(row: Mapping[str, Any], tools: LookupDictionary, form: CallFormat) -> CandidateCall:
    tool = tools[row["name"]]
    values = tuple(
        CandidateValue(
            v["key"],
            read_value(v["text"], tool.parameter(v["key"]), form.notation),
            v["text"],
            float(v["logprob"]),
            bool(v["truncated"]),
        )
        for v in row["values"]
    )
    return CandidateCall(tool.name, tuple(row["order"]), values, row["text"])


def _read_call(
    candidates: Sequence[CandidateCall], tools: LookupDictionary, form: CallFormat, variant: VoteOptions
) -> DecodedCall:
    tool = tools[candidates[0].name]
    voted = merge(candidates, tool, variant.optional_share)
    return DecodedCall(tool, tuple(candidates), written(voted.name, voted.arguments, form))


def written(name: str, arguments: Mapping[str, Any], form: CallFormat) -> str:
    """One call as the decoder commits it, without opener and closer."""
    return form.render_call(name, arguments)


def whole_text(before: str, calls: Sequence[Call], form: CallFormat) -> str:
    """A prediction: free text, then the calls."""
    return before + form.render(calls) if calls else before
