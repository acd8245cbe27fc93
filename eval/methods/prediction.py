"""What a method wrote for one sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tooldecoding.result import finite
from voting import CandidateCall


@dataclass(frozen=True)
class Prediction:
    """One prediction, as a row of ``predictions.jsonl`` without the columns that name the sample.

    ``text`` is empty if decoding failed; then ``error`` says why. ``candidates`` has a row of ``candidate_rows`` for
    each order, where there are orders; ``counters`` has ``forward_passes``, ``positions`` and what else the method
    counts. Prompts that were decoded together share the wall-clock ``seconds`` evenly. ``written`` is the method's own
    text, where it differs from what is scored. ``opening`` is how its calls begin, if not as the format's
    (``tooldecoding.formats.dialects.opening_of``). ``next_call_log_odds`` are those of ``DecodeResult``,
    ``name_confidences`` those of its calls, and ``score`` is the product of those of its calls (``DecodedCall``).
    """

    text: str
    candidates: Sequence[Mapping[str, Any]] = ()
    counters: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    error: str | None = None
    written: str | None = None
    opening: str = ""
    next_call_log_odds: Sequence[float] = ()
    name_confidences: Sequence[float | None] = ()
    score: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The columns of a row."""
        row: dict[str, Any] = {"prediction": self.text, "seconds": self.seconds}
        if self.error is not None:
            row["error"] = self.error
        if self.written not in (None, self.text):
            row["written"] = self.written
        if self.opening:
            row["opening"] = self.opening
        if self.next_call_log_odds:
            row["next_call_log_odds"] = finite(self.next_call_log_odds)
        if self.name_confidences:
            row["name_confidences"] = list(self.name_confidences)
        if self.score is not None:
            row["score"] = self.score
        if self.candidates:
            row["candidates"] = list(self.candidates)
        return row | {"counters": dict(self.counters)}


def candidate_rows(calls: Sequence[Sequence[CandidateCall]]) -> list[dict[str, Any]]:
    """Return a row for each candidate of each call, in the sequence of decoding, with all that a vote over them needs.

    ``eval.tuning.decoded_prompt.read_decoded`` reads them.
    """
    return [
        {
            "call": number,
            "name": candidate.name,
            "order": list(candidate.order),
            "text": candidate.text,
            "values": [
                {"key": v.key, "text": v.text, "logprob": v.logprob, "truncated": v.truncated} for v in candidate.values
            ],
        }
        for number, candidates in enumerate(calls)
        for candidate in candidates
    ]
