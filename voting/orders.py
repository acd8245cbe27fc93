"""Orders of the required keys (paper, section 3.2)."""

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from lookup.errors import ToolDecodingError

OrderStrategy = Literal["shuffled", "documented", "reversed"]

DEFAULT_ORDER_LIMIT = 12
"""The paper's upper limit on sampled orders (*oc*)."""

_ENUMERATED_KEYS = 6


def draw_orders(
    keys: Sequence[str],
    order_limit: int = DEFAULT_ORDER_LIMIT,
    strategy: OrderStrategy = "shuffled",
    seed: int = 0,
) -> tuple[tuple[str, ...], ...]:
    """Distinct orders of ``keys``: all n! where the limit allows, else ``order_limit`` seeded ones.

    ``shuffled`` begins with documentation order. The orders of a smaller limit are always the first
    ones of a larger limit. ``documented`` and ``reversed`` give that one order (the paper's Table 2).

    Raises
    ------
    ToolDecodingError
        If ``order_limit`` is below 1 or ``strategy`` is unknown.
    """
    if order_limit < 1:
        raise ToolDecodingError(f"order_limit must be 1 or more, got {order_limit}")
    if strategy not in get_args(OrderStrategy):
        raise ToolDecodingError(f"unknown order strategy {strategy!r}; known: {', '.join(get_args(OrderStrategy))}")
    documented = tuple(keys)
    if strategy == "documented":
        return (documented,)
    if strategy == "reversed":
        return (documented[::-1],)
    count = min(order_limit, math.factorial(len(documented)))
    return (documented, *itertools.islice(_others(documented, random.Random(seed)), count - 1))


def _others(documented: tuple[str, ...], generator: random.Random) -> Iterator[tuple[str, ...]]:
    """Every other order once, in seeded sequence."""
    if len(documented) <= _ENUMERATED_KEYS:
        every = list(itertools.permutations(documented))[1:]
        generator.shuffle(every)
        yield from every
        return
    seen = {documented}
    while True:  # at 7 keys and more, repeats are rare enough to be drawn again
        order = tuple(generator.sample(documented, len(documented)))
        if order not in seen:
            seen.add(order)
            yield order
