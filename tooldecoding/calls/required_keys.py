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
    """Decodes orders, some at first and others later; what they share is decoded once.

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

    def begin(self, orders: Sequence[Order]) -> list[Steps[None]]:
        """Return what decodes further orders, side by side and beside what is begun.

        Orders that have not parted from begun ones yet need nothing of their own.
        """
        self._wanted.update(orders)
        forks, self._open = self._open, []
        return [self._part(fork) for fork in forks if self._has_wanted(fork)]

    def release(self) -> None:
        """Give up the orders that are not decoded."""
        for fork in self._open:
            fork.branch.release()

    def _has_wanted(self, fork: _Fork) -> bool:
        """Whether a fork has a wanted order; otherwise it stays open."""
        if any(map(self._is_wanted, fork.subtrees)):
            return True
        self._open.append(fork)
        return False

    def _is_wanted(self, tree: OrderTree) -> bool:
        return not self._wanted.isdisjoint(tree.orders)

    def _part(self, fork: _Fork) -> Steps[None]:
        """Decode the subtrees with a wanted order, each on a branch of its own; the others stay open."""
        branch, subtrees, values = fork
        begun = [subtree for subtree in subtrees if self._is_wanted(subtree)]
        left = [subtree for subtree in subtrees if not self._is_wanted(subtree)]
        branches = [branch]
        if len(subtrees) > 1:
            branches = yield from branch.forks(len(begun) + bool(left), len(subtrees))
        rest = [_Fork(branches.pop(), left, values)] if left else []
        parts = [self._part(fork) for fork in rest if self._has_wanted(fork)]  # they may be wanted by now
        pairs = zip(branches, begun, strict=True)
        yield from gather([*(self._subtree(own, subtree, values) for own, subtree in pairs), *parts])

    def _subtree(self, branch: Branch, tree: OrderTree, values: Values) -> Steps[None]:
        """Inject the keys that all orders of the tree share, then go on where they part."""
        call_format, spec = self._tool.call_format, self._tool.spec
        for number, key in enumerate(tree.keys, 1):
            branch.write((call_format.separator if values else "") + call_format.key(key))
            value = yield from self._values.decode(branch, spec.parameter(key), tree.keys[number:])
            values = (*values, value)
            self.written |= dict.fromkeys(tree.orders, values)
        if tree.children:
            yield from self._part(_Fork(branch, tree.children, values))
        else:
            yield from self._finish(branch, tree.orders[0], values)
