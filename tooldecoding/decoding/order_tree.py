"""Required keys are injected along the tree of orders; what orders share is decoded once (paper, section 3.2).

The orders abc, acb and bac, each key with its value. At each ``┬`` the branch forks, and its forks run side by side::

    name( ─┬─ a ─┬─ b ─── c ─── finish(abc)
           │     └─ c ─── b ─── finish(acb)
           └─ b ─── a ─── c ─── finish(bac)

Eight values are decoded, not nine: abc and acb share that of a.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tooldecoding.decoding.compiled_tools import CompiledTool
from tooldecoding.decoding.decode_loop import together
from tooldecoding.decoding.value_decoder import ValueDecoder
from tooldecoding.tokens.branch import Branch
from voting import STOPPED, CandidateValue

Order = tuple[str, ...]
"""The required keys of a tool in one sequence."""
Values = tuple[CandidateValue, ...]


def shared_keys(orders: Sequence[Order], depth: int = 0) -> Order:
    """Return the keys that all orders have next, from ``depth`` on, until they part: of abcd and abdc ``ab``."""
    end = depth
    while end < len(orders[0]) and all(order[end] == orders[0][end] for order in orders):
        end += 1
    return orders[0][depth:end]


@dataclass(frozen=True)
class OrderTree:
    """Decodes the required keys of one call.

    Attributes
    ----------
    finish : callable
        Decodes the rest of a call behind its required keys; awaited once for each order.
    stop : callable
        Is called instead with orders that could no longer change the vote, and the branch of them all.
    """

    tool: CompiledTool
    decoder: ValueDecoder
    finish: Callable[[Branch, Order, Values], Awaitable[None]]
    stop: Callable[[Branch, Sequence[Order], Values], None]

    async def decode(self, branch: Branch, orders: Sequence[Order], values: Values = ()) -> None:
        """Inject the keys that all orders have next, then go on where they part.

        Parameters
        ----------
        branch : Branch
            Behind the tool's name and bracket, and what all orders share.
        orders : sequence of Order
            Different ones with the same first keys.
        values : tuple of CandidateValue
            Of the keys that stand in the branch.
        """
        tool, keys = self.tool, shared_keys(orders, len(values))
        for number, key in enumerate(keys, 1):
            branch.write((tool.call_format.separator if values else "") + tool.call_format.key(key))
            left = tool.left(orders[0][len(values) + 1 :])
            value = await self.decoder.decode(branch, tool.spec.parameter(key), left, keys[number:])
            values = (*values, value)
            if value.why == STOPPED:
                self.stop(branch, orders, values)
                return
        if len(values) == len(orders[0]):
            await self.finish(branch, orders[0], values)
            return
        groups: dict[str, list[Order]] = {}
        for order in orders:
            groups.setdefault(order[len(values)], []).append(order)
        branches = await branch.forks(len(groups))
        await together([self.decode(own, group, values) for own, group in zip(branches, groups.values(), strict=True)])
