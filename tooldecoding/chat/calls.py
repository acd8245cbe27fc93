"""Calls of earlier messages, and which of them a result belongs to."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import json_line

_NO_OBJECT: Final = "arguments"
"""The key of arguments that are no object."""


@dataclass(frozen=True)
class ToolCall:
    """A call that the assistant made.

    Attributes
    ----------
    id : str
        Empty if it was given none.
    name : str
    arguments : dict
    text : str or None
        What stands in the place of the arguments if that is no JSON object, such as one that was cut; this text is then
        the only value of ``arguments``.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    text: str | None = None

    @classmethod
    def made(cls, call_id: str, name: str, arguments: dict[str, Any] | str) -> "ToolCall":
        """Return the call, with arguments as ``read_made_arguments`` returns them."""
        if isinstance(arguments, str):
            return cls(call_id, name, {_NO_OBJECT: arguments}, arguments)
        return cls(call_id, name, arguments)

    def openai(self, as_text: bool = True) -> dict[str, Any]:
        """Return the call in OpenAI's shape, with its arguments as a text or as an object."""
        arguments: Any = self.arguments
        if as_text:
            arguments = json_line(self.arguments) if self.text is None else self.text
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": arguments}}


class WaitingCalls:
    """The calls of a message that lack a result. PromptError if two have the same id: nobody could tell whose one is.

    Parameters
    ----------
    calls : sequence of ToolCall
    place : str
        The message's, for errors.
    """

    def __init__(self, calls: Sequence[ToolCall], place: str) -> None:
        self._waiting = dict(enumerate(calls))
        self._by_id: dict[str, deque[int]] = {}
        self._by_name: dict[tuple[str, str], deque[int]] = {}
        for position, call in self._waiting.items():
            if call.id and call.id in self._by_id:
                raise PromptError(f"{place}: two calls have the id {call.id!r:.60}")
            self._by_id.setdefault(call.id, deque()).append(position)
            self._by_name.setdefault((call.id, call.name), deque()).append(position)

    @property
    def left(self) -> int:
        """How many lack a result."""
        return len(self._waiting)

    def take(self, call_id: str, name: Any, place: str) -> ToolCall:
        """Return the call that a result belongs to, which waits no more.

        Calls without an id get their results by the name of the tool, if the results tell it, and else in their
        sequence. Where one call alone waits, it is enough that it has no id, or the result has none. PromptError if
        there is no such call.
        """
        named = self._by_name.get((call_id, name)) if isinstance(name, str) else None
        for positions in filter(None, (named, self._by_id.get(call_id))):
            while positions:
                if (call := self._waiting.pop(positions.popleft(), None)) is not None:
                    return call
        if self.left == 1:
            [(position, call)] = self._waiting.items()
            if "" in (call_id, call.id):
                return self._waiting.pop(position)
        wanted = ", ".join(repr(call.id) for call in self._waiting.values()) or "none"
        raise PromptError(
            f"{place}: the tool_call_id {call_id!r:.60} is of no call that lacks a result; calls without a result: "
            f"{wanted:.200}"
        )

    def demand_none(self, place: str) -> None:
        """PromptError if a call before ``place`` has no result."""
        for call in self._waiting.values():
            raise PromptError(
                f"{place}: the call {call.id!r:.60} of {call.name!r:.60} has no result; expected a message "
                f'{{"role": "tool", "tool_call_id": {call.id!r:.60}, "content": …}} before'
            )
