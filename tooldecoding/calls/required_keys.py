"""Required keys are injected, order by order; what orders share is decoded once (paper, section 3.2)."""

from collections.abc import Awaitable, Callable, Sequence

from tooldecoding.calls.prepared_tools import PreparedTool
from tooldecoding.calls.value_decoder import ValueDecoder
from tooldecoding.decode_loop import together
from tooldecoding.tokens.branch import Branch
from voting import CandidateValue

Order = tuple[str, ...]
"""The required keys of a tool in one sequence."""
Values = tuple[CandidateValue, ...]
Finish = Callable[[ValueDecoder, Branch, Order, Values], Awaitable[None]]
"""Decodes the rest of a call behind its required keys."""


def shared_keys(orders: Sequence[Order], depth: int = 0) -> Order:
    """Return the keys that all orders have next, from ``depth`` on, until they part: of abcd and abdc ``ab``."""
    end = depth
    while end < len(orders[0]) and all(order[end] == orders[0][end] for order in orders):
        end += 1
    return orders[0][depth:end]


async def decode_orders(
    tool: PreparedTool,
    branch: Branch,
    orders: Sequence[Order],
    decoder: ValueDecoder,
    finish: Finish,
    values: Values = (),
) -> None:
    """Inject the keys that all orders have next, then go on where they part, side by side on branches of their own.

    Parameters
    ----------
    branch : Branch
        Behind the tool's name and bracket, and what all orders share.
    orders : sequence of Order
        Different ones with the same first keys.
    finish : Finish
        Called for each order.
    values : tuple of CandidateValue
        Of the keys that stand in the branch.
    """
    call_format, keys = tool.call_format, shared_keys(orders, len(values))
    for number, key in enumerate(keys, 1):
        branch.write((call_format.separator if values else "") + call_format.key(key))
        left = tool.left(orders[0][len(values) + 1 :])
        values = (*values, await decoder.decode(branch, tool.spec.parameter(key), left, keys[number:]))
    if len(values) == len(orders[0]):
        await finish(decoder, branch, orders[0], values)
        return
    groups: dict[str, list[Order]] = {}
    for order in orders:
        groups.setdefault(order[len(values)], []).append(order)
    branches = await branch.forks(len(groups))
    pairs = zip(branches, groups.values(), strict=True)
    await together([decode_orders(tool, own, group, decoder, finish, values) for own, group in pairs])
