"""Votes over the first of the decoded orders, replayed on the candidates of one decode."""

from collections.abc import Sequence
from typing import Final

from voting import CandidateCall

COUNTS: Final = (1, 2, 3, 4, 6, 12)
"""Numbers of orders that are compared."""
ALL: Final = "all"
LIKELIEST: Final = {count: f"likeliest of {count}" for count in (2, 4, 12)}
"""Not a vote: the call of one order."""


def votes(orders: int) -> dict[str, list[int]]:
    """Return a name for each vote -> the places of its orders: ``N``, the first N orders, and ``all``.

    A vote over more orders than there are is the one over all of them.
    """
    return {str(count): list(range(min(count, orders))) for count in COUNTS} | {ALL: list(range(orders))}


def likeliest(candidates: Sequence[CandidateCall]) -> int:
    """Return the place of the call whose required values have the highest mean log-probability; the first if equal."""

    def mean(place: int) -> float:
        call = candidates[place]
        logprobs = [value.logprob for value in call.values if value.key in call.order]
        return sum(logprobs) / len(logprobs) if logprobs else 0.0

    return max(range(len(candidates)), key=mean)
