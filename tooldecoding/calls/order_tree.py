"""The orders of one call as a tree: what orders share is decoded once."""

from collections.abc import Sequence
from dataclasses import dataclass

Order = tuple[str, ...]
"""The required keys of a tool in one sequence."""


@dataclass(frozen=True)
class OrderTree:
    """Orders that begin with the same keys. ::

        orders  (a, b, c, d)                 keys (a, b)
                (a, b, d, c)        ->       children  keys (c, d)
                                                       keys (d, c)

    Attributes
    ----------
    keys : tuple of str
        The keys that come next in all of the orders.
    children : tuple of OrderTree
        One for each key with which the orders go on behind ``keys``; empty for a single order.
    orders : tuple of Order
        All orders of this tree.
    """

    keys: Order
    children: tuple["OrderTree", ...]
    orders: tuple[Order, ...]


def order_tree(orders: Sequence[Order], depth: int = 0) -> OrderTree:
    """The tree of different orders of the same keys, from the key at ``depth`` on."""
    end = depth
    while end < len(orders[0]) and all(order[end] == orders[0][end] for order in orders):
        end += 1
    by_next_key: dict[str, list[Order]] = {}
    for order in orders:
        if end < len(order):
            by_next_key.setdefault(order[end], []).append(order)
    children = tuple(order_tree(group, end) for group in by_next_key.values())
    return OrderTree(orders[0][depth:end], children, tuple(orders))
