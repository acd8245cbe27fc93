"""Required keys are injected, order by order; what orders share is decoded once (paper, section 3.2)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tooldecoding.calls.prepared_tools import PreparedTool
from tooldecoding.calls.value_decoder import ValueDecoder
from tooldecoding.scheduler import Task, spawn
from tooldecoding.tokens.branch import Branch
from voting import CandidateValue

Order = tuple[str, ...]
"""The required keys of a tool in one sequence."""
Values = tuple[CandidateValue, ...]
Finish = Callable[[Branch, Order, Values], Awaitable[None]]
"""Decodes the rest of a call behind its required keys."""


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


class _Fork(NamedTuple):
    """A place where orders part: a branch that has read what they share, and the subtrees to decode from there."""

    branch: Branch
    subtrees: Sequence[OrderTree]
    values: Values


class RequiredKeys:
    """Decodes orders, some at first and others later, side by side.

    Parameters
    ----------
    branch : Branch
        Behind the tool's name and bracket.
    tree : OrderTree
        All orders that may be decoded.
    finish : Finish
        Called for each decoded order.

    Attributes
    ----------
    written : dict
        The values that orders have so far, also of orders that share them and are not begun.
    """

    def __init__(
        self, tool: PreparedTool, branch: Branch, tree: OrderTree, values: ValueDecoder, finish: Finish
    ) -> None:
        self._tool = tool
        self._values = values
        self._finish = finish
        self.written: dict[Order, Values] = {}
        self._wanted: set[Order] = set()
        self._open = [_Fork(branch, (tree,), ())]
        self._tasks: list[Task[Any]] = []

    async def begin(self, orders: Sequence[Order]) -> None:
        """Begin further orders. Those that have not parted from begun ones yet need nothing of their own."""
        self._wanted.update(orders)
        forks, self._open = self._open, []
        await self._part_wanted(forks)

    @property
    def ended(self) -> bool:
        """Whether all orders that were begun are decoded."""
        self._tasks = [task for task in self._tasks if not task.ended]
        return not self._tasks

    def release(self) -> None:
        """Give up the orders that are not decoded."""
        for fork in self._open:
            fork.branch.release()

    async def _part_wanted(self, forks: Sequence[_Fork]) -> None:
        """Go on at the forks with a wanted order; the others stay open."""
        for fork in forks:
            if any(map(self._is_wanted, fork.subtrees)):
                self._tasks.append(await spawn(self._part(fork)))
            else:
                self._open.append(fork)

    def _is_wanted(self, tree: OrderTree) -> bool:
        return not self._wanted.isdisjoint(tree.orders)

    async def _part(self, fork: _Fork) -> None:
        """Decode the subtrees with a wanted order, each on a branch of its own; the others stay open."""
        branch, subtrees, values = fork
        begun = [subtree for subtree in subtrees if self._is_wanted(subtree)]
        left = [subtree for subtree in subtrees if not self._is_wanted(subtree)]
        branches = [branch]
        if len(subtrees) > 1:
            branches = await branch.forks(len(begun) + bool(left), len(subtrees))
        rest = [_Fork(branches.pop(), left, values)] if left else []
        for own, subtree in zip(branches, begun, strict=True):
            self._tasks.append(await spawn(self._subtree(own, subtree, values)))
        await self._part_wanted(rest)  # they may be wanted by now

    async def _subtree(self, branch: Branch, tree: OrderTree, values: Values) -> None:
        """Inject the keys that all orders of the tree share, then go on where they part."""
        call_format, spec = self._tool.call_format, self._tool.spec
        for number, key in enumerate(tree.keys, 1):
            branch.write((call_format.separator if values else "") + call_format.key(key))
            value = await self._values.decode(branch, spec.parameter(key), tree.keys[number:])
            values = (*values, value)
            self.written |= dict.fromkeys(tree.orders, values)
        if tree.children:
            await self._part(_Fork(branch, tree.children, values))
        else:
            await self._finish(branch, tree.orders[0], values)
