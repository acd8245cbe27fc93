"""Messages in OpenAI's shape, read from untrusted data and checked.

A conversation begins with any number of system messages and ends with a message of the user or the result of a tool.
All calls of an assistant message have their results right behind it, in any sequence.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from tooldecoding.chat.json_values import read_object
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import json_line, short_repr

Role = Literal["system", "user", "assistant", "tool"]

ROLES: Final[Mapping[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
"""Role of a message -> what chat templates know; ``developer`` is OpenAI's later name of ``system``."""

MAX_MESSAGES: Final = 10_000
MAX_CHARACTERS: Final = 16 << 20
"""Bounds of a conversation."""

_KEYS: Final[Mapping[Role, frozenset[str]]] = {
    "system": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset({"role", "content", "name", "tool_calls", "reasoning_content"}),
    "tool": frozenset({"role", "content", "name", "tool_call_id"}),
}


@dataclass(frozen=True)
class ToolCall:
    """A call that the assistant made.

    Attributes
    ----------
    id : str
    name : str
    arguments : dict
    """

    id: str
    name: str
    arguments: dict[str, Any]

    def openai(self, as_text: bool = True) -> dict[str, Any]:
        """Return the call in OpenAI's shape, with its arguments as a JSON text or as an object."""
        arguments = json_line(self.arguments) if as_text else self.arguments
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": arguments}}


@dataclass(frozen=True)
class Message:
    """A message.

    Attributes
    ----------
    role : {"system", "user", "assistant", "tool"}
    content : str
        Empty if an assistant's message has only calls.
    calls : tuple of ToolCall
    thinking : str
        What the assistant thought before.
    result_of : ToolCall or None
        The call whose result a tool's message is.
    """

    role: Role
    content: str
    calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    result_of: ToolCall | None = None


@dataclass(frozen=True)
class Conversation:
    """A checked conversation.

    Attributes
    ----------
    messages : tuple of Message
        The results behind a message with calls are in the sequence of the calls.
    """

    messages: tuple[Message, ...]

    @property
    def calls(self) -> list[ToolCall]:
        """All calls."""
        return [call for message in self.messages for call in message.calls]


def read_messages(given: Any, origin: str = "messages") -> Conversation:
    """Return a conversation.

    Parameters
    ----------
    given : sequence of mappings
        ``{"role", "content"}`` with the roles of ``ROLES``; ``content`` is a text or a list of text parts. An
        assistant's message may have ``tool_calls`` and ``reasoning_content``, a tool's has a ``tool_call_id``.
    origin : str
        Its name in error messages.

    Raises
    ------
    PromptError
        With the message's number, counted from 0, as in ``messages[3]``.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise PromptError(f"{origin}: expected a list of messages, found {type(given).__name__}")
    if not given:
        raise PromptError(f"{origin}: expected at least one message, found an empty list")
    if len(given) > MAX_MESSAGES:
        raise PromptError(f"{origin}: expected at most {MAX_MESSAGES} messages, found {len(given)}")
    reader = _Reader(origin)
    for number, message in enumerate(given):
        reader.read(message, f"{origin}[{number}]")
    return reader.conversation()


def read_conversations(given: Any) -> tuple[list[Conversation], bool]:
    """Return one conversation, or those of a list of lists, and whether it is such a list; errors as above."""
    if isinstance(given, list | tuple) and given and isinstance(given[0], list | tuple):
        return [read_messages(each, f"conversation {n}: messages") for n, each in enumerate(given)], True
    return [read_messages(given)], False


class _Reader:
    """Reads one message after the other."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._messages: list[Message] = []
        self._open: dict[str, tuple[ToolCall, str]] = {}
        self._results: dict[str, Message] = {}
        self._ids: set[str] = set()
        self._characters = 0

    def read(self, given: Any, place: str) -> None:
        """Check a message and take it."""
        role = _role(given, place)
        unknown = [key for key, value in given.items() if key not in _KEYS[role] and value not in (None, [], "")]
        if unknown:
            known = ", ".join(sorted(_KEYS[role]))
            raise PromptError(f"{place}: unknown key {unknown[0]!r:.40} in a message of role {role}; known: {known}")
        if role == "tool":
            self._read_result(given, place)
            return
        self._demand_results(place)
        calls = _calls(given, place) if role == "assistant" else ()
        for call in calls:
            if call.id in self._ids:
                raise PromptError(f"{place}: two calls have the id {call.id!r:.60}")
            self._ids.add(call.id)
            self._open[call.id] = (call, place)
        content = _content(given, role, place, optional=bool(calls))
        thinking = given.get("reasoning_content") or ""
        if not isinstance(thinking, str):
            raise PromptError(f"{place}: expected 'reasoning_content' to be a text, found {type(thinking).__name__}")
        self._take(Message(role, content, calls, thinking), place)

    def conversation(self) -> Conversation:
        """Return the messages, if they end as they must."""
        place = f"{self._origin}[{len(self._messages) - 1}]"
        self._demand_results("the end")
        last = self._messages[-1].role
        if last not in ("user", "tool"):
            raise PromptError(
                f"{place}: the conversation ends with a message of role {last}, but the model writes the "
                "assistant's next message: end with a message of the user or the result of a tool"
            )
        return Conversation(tuple(self._messages))

    def _read_result(self, given: Mapping[str, Any], place: str) -> None:
        call_id = given.get("tool_call_id")
        if not isinstance(call_id, str):
            raise PromptError(f"{place}: a message of role tool needs a 'tool_call_id', found {_found(given)}")
        if call_id not in self._open:
            why = "has a result already, or an earlier turn made it" if call_id in self._ids else "is of no call"
            wanted = ", ".join(map(repr, self._open)) or "none"
            raise PromptError(f"{place}: the tool_call_id {call_id!r:.60} {why}; calls without a result: {wanted:.200}")
        call, _ = self._open.pop(call_id)
        self._results[call_id] = Message("tool", _content(given, "tool", place), result_of=call)
        if not self._open:
            for each in self._messages[-1].calls:
                self._take(self._results.pop(each.id), place)

    def _demand_results(self, place: str) -> None:
        """PromptError if a call before ``place`` has no result."""
        for call_id, (call, made) in self._open.items():
            raise PromptError(
                f"{place}: the call {call_id!r:.60} of {call.name!r:.60} in {made} has no result; expected a message "
                f'{{"role": "tool", "tool_call_id": {call_id!r:.60}, "content": …}} before'
            )

    def _take(self, message: Message, place: str) -> None:
        self._characters += len(message.content) + len(message.thinking)
        self._characters += sum(len(json.dumps(call.arguments, ensure_ascii=False)) for call in message.calls)
        if self._characters > MAX_CHARACTERS:
            raise PromptError(f"{place}: expected at most {MAX_CHARACTERS} characters in all messages, found more")
        self._messages.append(message)


def _role(given: Any, place: str) -> Role:
    if not isinstance(given, Mapping):
        raise PromptError(f'{place}: expected a message {{"role": …, "content": …}}, found {type(given).__name__}')
    role = given.get("role")
    if not isinstance(role, str):
        raise PromptError(f"{place}: a message needs a 'role', found {_found(given)}")
    if role not in ROLES:
        raise PromptError(f"{place}: unknown role {role!r:.60}; known: {', '.join(ROLES)}")
    return ROLES[role]


def _content(given: Mapping[str, Any], role: Role, place: str, optional: bool = False) -> str:
    """Return the text of a message; the texts of parts follow each other."""
    content = given.get("content")
    if content is None and optional:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        hint = "; write results of other types as JSON" if role == "tool" else ""
        found = _found(given) if "content" not in given else short_repr(content)
        raise PromptError(f"{place}: expected 'content' to be a text or a list of text parts, found {found}{hint}")
    texts = []
    for number, part in enumerate(content):
        text = part.get("text") if isinstance(part, Mapping) and part.get("type") == "text" else None
        if not isinstance(text, str):
            kind = part.get("type") if isinstance(part, Mapping) else part
            raise PromptError(
                f'{place}: content[{number}]: expected a text part {{"type": "text", "text": …}}, '
                f"found {short_repr(kind)}"
            )
        texts.append(text)
    return "".join(texts)


def _calls(given: Mapping[str, Any], place: str) -> tuple[ToolCall, ...]:
    calls = given.get("tool_calls") or []
    if not isinstance(calls, list | tuple):
        raise PromptError(f"{place}: expected 'tool_calls' to be a list, found {type(calls).__name__}")
    return tuple(_call(call, f"{place}: tool_calls[{number}]") for number, call in enumerate(calls))


def _call(given: Any, place: str) -> ToolCall:
    if not isinstance(given, Mapping):
        raise PromptError(f"{place}: expected a call, found {type(given).__name__}")
    call_id, kind, function = given.get("id"), given.get("type", "function"), given.get("function")
    if not isinstance(call_id, str) or not call_id:
        raise PromptError(f"{place}: a call needs an 'id', found {_found(given)}")
    if kind != "function" or not isinstance(function, Mapping):
        raise PromptError(f"{place}: expected a call of type function with a 'function', found {_found(given)}")
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise PromptError(f"{place}: a call needs a function with a 'name', found {_found(function)}")
    try:
        return ToolCall(call_id, name, read_object(function.get("arguments")))
    except ValueError as error:
        raise PromptError(
            f"{place}: expected the arguments of {name!r:.60} to be a JSON object, found {error}"
        ) from None


def _found(given: Mapping[str, Any]) -> str:
    return f"only {', '.join(repr(key)[:40] for key in [*given][:8]) or 'an empty object'}"
