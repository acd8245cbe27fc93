"""Draft branches: what one order will write behind its first value is tried at the beginning of the call.

An order writes its values one after the other. Beside it, each other required key begins a branch of its own, as if an
order began with it. The value is a draft: the order tries it in one pass when it comes to the key, and keeps what the
model prefers there. So the call is the same, and takes about as many passes as its longest value.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from lookup.errors import ToolDecodingError
from tooldecoding.calls.drafts import Drafts
from tooldecoding.calls.prepared_tools import PreparedTool
from tooldecoding.calls.required_keys import Order
from tooldecoding.calls.value_decoder import ValueDecoder
from tooldecoding.scheduler import Task, spawn, until
from tooldecoding.tokens.branch import Branch, Tally


class DraftBranches:
    """Writes values of keys with which no order begins.

    Parameters
    ----------
    branches : sequence of Branch
        Behind the tool's name and bracket; one for each key.
    """

    def __init__(
        self, tool: PreparedTool, branches: Sequence[Branch], keys: Sequence[str], values: ValueDecoder, drafts: Drafts
    ) -> None:
        self._tool = tool
        self._values = values
        self._drafts = drafts
        self._open = dict(zip(keys, branches, strict=True))
        self._tasks: list[Task[Any]] = []

    async def begin(self) -> None:
        """Decode each value beside what comes next, until an order comes to its key."""
        self._tasks = [await spawn(self._write(key)) for key in list(self._open)]

    def release(self) -> None:
        """Give up what is not finished."""
        for task in self._tasks:
            task.cancel()
        for branch in self._open.values():
            branch.release()
        self._open.clear()

    async def _write(self, key: str) -> None:
        branch = self._open[key]
        branch.tally = Tally()  # its tokens are no part of the call
        branch.write(self._tool.call_format.key(key))
        value = self._values.decode(branch, self._tool.spec.parameter(key))
        with suppress(ToolDecodingError):  # an order may not come to a place where no token fits
            await until(lambda: self._drafts.times_begun(key) > 1, value)
        self._open.pop(key).release()


def keys_to_draft(tool: PreparedTool, orders: Sequence[Order]) -> list[str]:
    """Return the required keys with which none of the orders begins, without those that have only one value."""
    begun = {order[0] for order in orders if order}
    rest = [spec for spec in tool.spec.required if spec.name not in begun]
    return [spec.name for spec in rest if len(tool.grammar(spec).choices or "..") > 1]
