"""The candidate calls of a prediction as JSON rows, with all that a vote over them needs."""

from collections.abc import Sequence
from typing import Any

from voting import CandidateCall


def candidate_rows(calls: Sequence[Sequence[CandidateCall]]) -> list[dict[str, Any]]:
    """Return a row for each candidate, call by call; ``eval.tuning.decoded_prompt.read_decoded`` reads them.

    Parameters
    ----------
    calls : sequence of sequence of CandidateCall
        The candidates of each call, in the sequence in which they were decoded.
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
