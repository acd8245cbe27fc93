"""Votes over some of the decoded orders: which orders should be the first?

Replayed on the candidates of one decode, each vote is over a part of its orders.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from voting import CandidateCall

Order = tuple[str, ...]

COUNTS: Final = (1, 2, 3, 4, 6, 12)
"""Numbers of orders that are compared."""
_BALANCED_COUNTS: Final = (2, 3, 4)
ALL: Final = "all"
OWN_FIRST: Final = "own first"
"""Not a vote: each value is taken from the order that begins with its key."""
LIKELIEST: Final = {count: f"likeliest of {count}" for count in (2, 4, 12)}
"""Not a vote: the call of one order."""
FEWEST_KEYS: Final = 3
"""With fewer required keys, orders balanced by position are the first ones anyway."""


def rotations(keys: Sequence[str]) -> list[Order]:
    """Return documentation order, turned until each key was first once: (a, b, c), (b, c, a), (c, a, b)."""
    return [(*keys[n:], *keys[:n]) for n in range(len(keys))] or [()]


def mirrored(keys: Sequence[str]) -> list[Order]:
    """Return orders of which each key begins one, beginning with documentation order and its reverse.

    Every second rotation and its reverse: (a, b, c, d), (d, c, b, a), (c, d, a, b), (b, a, d, c).
    """
    by_first: dict[str, Order] = {}
    for order in rotations(keys)[::2]:
        for turned in (order, order[::-1]):
            by_first.setdefault(turned[0] if turned else "", turned)
    return list(by_first.values())


def votes(keys: Sequence[str], decoded: Sequence[Order]) -> dict[str, list[int]]:
    """Return a name for each vote -> the places of its orders among those decoded.

    ``N``: the first N orders, ``all``: all; ``rotations N``, ``mirrored N``: the first N of these. Votes of which an
    order was not decoded are left out. A vote over more orders than there are is the one over all of them.

    Parameters
    ----------
    keys : sequence of str
        The required keys in documentation order.
    decoded : sequence of Order
        The orders that were decoded, in their sequence.
    """
    found = {str(count): list(range(min(count, len(decoded)))) for count in COUNTS}
    found[ALL] = list(range(len(decoded)))
    places = {order: place for place, order in enumerate(decoded)}
    if len(places) == len(decoded):  # samples all have one order
        found |= _balanced(keys, places)
    return found


def own_first(keys: Sequence[str], decoded: Sequence[Order]) -> list[int] | None:
    """Return the places of the rotations among the orders decoded, one for each key; None if one is missing."""
    places = {order: place for place, order in enumerate(decoded)}
    turned = rotations(keys)
    whole = len(places) == len(decoded) and places.keys() >= set(turned)
    return [places[order] for order in turned] if whole else None


def likeliest(candidates: Sequence[CandidateCall]) -> int:
    """Return the place of the call whose required values have the highest mean log-probability; the first if equal."""

    def mean(place: int) -> float:
        call = candidates[place]
        logprobs = [value.logprob for value in call.values if value.key in call.order]
        return sum(logprobs) / len(logprobs) if logprobs else 0.0

    return max(range(len(candidates)), key=mean)


def _balanced(keys: Sequence[str], places: Mapping[Order, int]) -> Iterator[tuple[str, list[int]]]:
    for name, scheme in (("rotations", rotations), ("mirrored", mirrored)):
        for count in _BALANCED_COUNTS:
            orders = scheme(keys)[:count]
            if places.keys() >= set(orders):
                yield f"{name} {count}", [places[order] for order in orders]
