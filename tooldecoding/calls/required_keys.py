"""Required keys are injected, order by order; what orders share is decoded once (paper, section 3.2)."""

from collections.abc import Awaitable, Callable, Sequence
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


def shared_keys(orders: Sequence[Order], depth: int = 0) -> Order:
    """Return the keys that all orders have next, from ``depth`` on, until they part: of abcd and abdc ``ab``."""
    end = depth
    while end < len(orders[0]) and all(order[end] == orders[0][end] for order in orders):
        end += 1
    return orders[0][depth:end]


class _Fork(NamedTuple):
    """A place where orders part: a branch that has read what they share, and groups of orders with the same next key.

    ``depth`` is how many keys all of them share.
    """

    branch: Branch
    groups: Sequence[Sequence[Order]]
    depth: int
    values: Values


class RequiredKeys:
    """Decodes orders, some at first and others later, side by side.

    Parameters
    ----------
    branch : Branch
        Behind the tool's name and bracket.
    orders : sequence of Order
        All orders that may be decoded.
    finish : Finish
        Called for each decoded order.

    Attributes
    ----------
    written : dict
        The values that orders have so far, also of orders that share them and are not begun.
    """

    def __init__(
        self, tool: PreparedTool, branch: Branch, orders: Sequence[Order], values: ValueDecoder, finish: Finish
    ) -> None:
        self._tool = tool
        self._values = values
        self._finish = finish
        self.written: dict[Order, Values] = {}
        self._wanted: set[Order] = set()
        self._open = [_Fork(branch, (orders,), 0, ())]
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
            if any(map(self._is_wanted, fork.groups)):
                self._tasks.append(await spawn(self._part(fork)))
            else:
                self._open.append(fork)

    def _is_wanted(self, orders: Sequence[Order]) -> bool:
        return not self._wanted.isdisjoint(orders)

    async def _part(self, fork: _Fork) -> None:
        """Decode the groups with a wanted order, each on a branch of its own; the others stay open."""
        begun = [group for group in fork.groups if self._is_wanted(group)]
        left = [group for group in fork.groups if not self._is_wanted(group)]
        branches = [fork.branch]
        if len(fork.groups) > 1:
            branches = await fork.branch.forks(len(begun) + bool(left), len(fork.groups))
        rest = [fork._replace(branch=branches.pop(), groups=left)] if left else []
        for own, group in zip(branches, begun, strict=True):
            self._tasks.append(await spawn(self._group(own, group, fork.depth, fork.values)))
        await self._part_wanted(rest)  # they may be wanted by now

    async def _group(self, branch: Branch, orders: Sequence[Order], depth: int, values: Values) -> None:
        """Inject the keys that all orders of a group share, then go on where they part."""
        call_format, spec, keys = self._tool.call_format, self._tool.spec, shared_keys(orders, depth)
        for number, key in enumerate(keys, 1):
            branch.write((call_format.separator if values else "") + call_format.key(key))
            left = self._tool.left(orders[0][depth + number :])
            value = await self._values.decode(branch, spec.parameter(key), left, keys[number:])
            values = (*values, value)
            self.written |= dict.fromkeys(orders, values)
        depth += len(keys)
        if depth == len(orders[0]):
            await self._finish(branch, orders[0], values)
            return
        groups: dict[str, list[Order]] = {}
        for order in orders:
            groups.setdefault(order[depth], []).append(order)
        await self._part(_Fork(branch, list(groups.values()), depth, values))
