"""Orders of the required keys (paper, section 3.2)."""

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from lookup.errors import ToolDecodingError

OrderScheme = Literal["shuffled", "documented", "reversed", "shuffled-once", "aggregated"]

DEFAULT_ORDER_LIMIT = 4
"""Upper limit on sampled orders (*oc* in the paper, 12 there): more cost time, and mend hardly a value more."""

_ENUMERATED_KEYS = 6


def draw_orders(
    keys: Sequence[str], order_limit: int = DEFAULT_ORDER_LIMIT, scheme: OrderScheme = "shuffled", seed: int = 0
) -> tuple[tuple[str, ...], ...]:
    """Distinct orders of ``keys``: all n! if the limit allows it; otherwise ``order_limit`` random ones.

    ``shuffled`` begins with documentation order, and a smaller limit gives a prefix of the orders of a larger one. The
    other schemes are those of the paper's Table 2: ``documented``, ``reversed`` and ``shuffled-once`` (another order
    than the documented one if there is one) give one order each; ``aggregated`` gives these three without repetition.

    ToolDecodingError if ``order_limit`` is below 1 or ``scheme`` is unknown.
    """
    if order_limit < 1:
        raise ToolDecodingError(f"order_limit must be 1 or more, got {order_limit}")
    if scheme not in get_args(OrderScheme):
        raise ToolDecodingError(f"unknown order scheme {scheme!r}; known: {', '.join(get_args(OrderScheme))}")
    documented = tuple(keys)
    others = _others(documented, random.Random(seed))
    if scheme == "shuffled":
        count = min(order_limit, math.factorial(len(documented)))
        return (documented, *itertools.islice(others, count - 1))
    once = next(others, documented)
    three = {"documented": documented, "reversed": documented[::-1], "shuffled-once": once}
    chosen = three.values() if scheme == "aggregated" else [three[scheme]]
    return tuple(dict.fromkeys(chosen))[:order_limit]


def _others(documented: tuple[str, ...], generator: random.Random) -> Iterator[tuple[str, ...]]:
    """Every other order once, in random order."""
    if len(documented) <= _ENUMERATED_KEYS:
        every = list(itertools.permutations(documented))[1:]
        generator.shuffle(every)
        yield from every
        return
    seen = {documented}
    while True:  # with 7 or more keys, repeated draws are rare
        order = tuple(generator.sample(documented, len(documented)))
        if order not in seen:
            seen.add(order)
            yield order
