"""Required keys are injected, order by order, along the tree of orders (paper, section 3.2)."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tooldecoding.calls.order_tree import Order, OrderTree
from tooldecoding.calls.prepared_tools import PreparedTool
from tooldecoding.calls.value_decoder import ValueDecoder
from tooldecoding.engines.steps import Steps, gather
from tooldecoding.tokens.branch import Branch
from voting import CandidateValue

Values = tuple[CandidateValue, ...]
Finish = Callable[[Branch, Order, Values], Steps[None]]
"""Decodes the rest of a call behind its required keys."""


class _Fork(NamedTuple):
    """A place where orders part: a branch that has read what they share, and the subtrees to decode from there."""

    branch: Branch
    subtrees: Sequence[OrderTree]
    values: Values


class RequiredKeys:
    """Decodes orders in rounds; what orders of different rounds share is decoded once, too.

    Parameters
    ----------
    branch : Branch
        Behind the tool's name and bracket.
    tree : OrderTree
        All orders that may be decoded.
    finish : Finish
        Called for each decoded order.
    """

    def __init__(
        self, tool: PreparedTool, branch: Branch, tree: OrderTree, values: ValueDecoder, finish: Finish
    ) -> None:
        self._tool = tool
        self._values = values
        self._finish = finish
        self._open = [_Fork(branch, (tree,), ())]

    def decode(self, orders: Sequence[Order]) -> Steps[None]:
        """Decode some of the orders, side by side."""
        wanted = frozenset(orders)
        forks, self._open = self._open, []
        parts = []
        for fork in forks:
            if any(_has(subtree, wanted) for subtree in fork.subtrees):
                parts.append(self._part(fork, wanted))
            else:
                self._open.append(fork)
        yield from gather(parts)

    def release(self) -> None:
        """Give up the orders that are not decoded."""
        for fork in self._open:
            fork.branch.release()

    def _part(self, fork: _Fork, wanted: frozenset[Order]) -> Steps[None]:
        """Decode the subtrees with a wanted order, each on a branch of its own; the others stay open."""
        branch, subtrees, values = fork
        begun = [subtree for subtree in subtrees if _has(subtree, wanted)]
        left = [subtree for subtree in subtrees if not _has(subtree, wanted)]
        branches = [branch]
        if len(subtrees) > 1:
            branches = yield from branch.forks(len(begun) + bool(left), len(subtrees))
        if left:
            self._open.append(_Fork(branches.pop(), left, values))
        pairs = zip(branches, begun, strict=True)
        yield from gather([self._subtree(own, subtree, values, wanted) for own, subtree in pairs])

    def _subtree(self, branch: Branch, tree: OrderTree, values: Values, wanted: frozenset[Order]) -> Steps[None]:
        """Inject the keys that all orders of the tree share, then go on where they part."""
        call_format, spec = self._tool.call_format, self._tool.spec
        for number, key in enumerate(tree.keys, 1):
            branch.write((call_format.separator if values else "") + call_format.key(key))
            value = yield from self._values.decode(branch, spec.parameter(key), tree.keys[number:])
            values = (*values, value)
        if tree.children:
            yield from self._part(_Fork(branch, tree.children, values), wanted)
        else:
            yield from self._finish(branch, tree.orders[0], values)


def _has(tree: OrderTree, wanted: frozenset[Order]) -> bool:
    return not wanted.isdisjoint(tree.orders)
