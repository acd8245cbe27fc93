"""Messages in OpenAI's shape, read from untrusted data and checked.

A conversation ends with a message of the user or the system, or the result of a tool. All calls of an assistant message
have their results right behind it, in any sequence; ids tell them apart there, and may come again in later messages.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict, ValidationError, model_validator

from tooldecoding.chat.calls import ToolCall, WaitingCalls
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import read_made_arguments, short_repr

Role = Literal["system", "user", "assistant", "tool"]

MAX_MESSAGES: Final = 10_000
MAX_CHARACTERS: Final = 16 << 20
"""Bounds of a conversation."""

_IGNORED: Final = ("annotations", "cache_control", "provider_specific_fields", "reasoning_details", "thinking_blocks")
"""Keys of messages that other servers and clients add, which say nothing that a chat template could write."""


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
    number : int or None
        Its place among the messages that were given, if that is known.
    """

    role: Role
    content: str
    calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    result_of: ToolCall | None = None
    number: int | None = None


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


def _as_parts(content: Any) -> Any:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list | tuple):
        raise ValueError(f"expected a text or a list of text parts, found {type(content).__name__}")
    return list(content)


_Name = Annotated[str, Strict(), Field(min_length=1)]


def _text_part(kind: Any) -> Any:
    if kind != "text":
        raise ValueError(f"expected 'text', for nothing else is supported, found {short_repr(kind)}")
    return kind


class _Part(BaseModel):
    type: Annotated[str, BeforeValidator(_text_part)]
    text: Annotated[str, Strict()]


_Content = Annotated[list[_Part], BeforeValidator(_as_parts)]


def _id(given: Any) -> Any:
    return "" if given is None else given


_Id = Annotated[str, Strict(), BeforeValidator(_id)]


class _Function(BaseModel):
    name: _Name
    arguments: Annotated[Any, BeforeValidator(read_made_arguments)] = Field(default_factory=dict)


class _Call(BaseModel):
    id: _Id = ""
    type: Literal["function"] = "function"
    function: _Function


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid")
    role: str
    content: _Content
    name: Any = None


class _Answer(_Said):
    content: _Content | None = None  # type: ignore[assignment]
    tool_calls: list[_Call] | None = None
    reasoning_content: Annotated[str, Strict()] | None = None
    reasoning: Annotated[str, Strict()] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.content is None and not self.tool_calls:
            raise ValueError("expected content, a text or a list of text parts, or tool_calls; found neither")
        return self


class _Result(_Said):
    content: _Content | None  # type: ignore[assignment]
    tool_call_id: _Id = ""


_SHAPES: Final[Mapping[str, tuple[Role, type[_Said]]]] = {
    "system": ("system", _Said),
    "developer": ("system", _Said),
    "user": ("user", _Said),
    "assistant": ("assistant", _Answer),
    "tool": ("tool", _Result),
}
"""Role of a message -> what chat templates know, and its keys; ``developer`` is OpenAI's later name of ``system``."""

Model = TypeVar("Model", bound=BaseModel)


def read_messages(given: Any, origin: str = "messages") -> Conversation:
    """Return a conversation.

    PromptError, with the message's number, counted from 0, as in ``messages[3]``.

    Parameters
    ----------
    given : sequence of mappings
        ``{"role", "content"}``; ``content`` is a text or a list of text parts. An assistant's message may have
        ``tool_calls`` and ``reasoning_content`` (or ``reasoning``), a tool's has a ``tool_call_id``, and its content
        may be None. Other keys must be empty, but for those that are known to say nothing.
    origin : str
        Its name in error messages.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise PromptError(f"{origin}: expected a list of messages, found {type(given).__name__}")
    if not 0 < len(given) <= MAX_MESSAGES:
        raise PromptError(f"{origin}: expected 1 to {MAX_MESSAGES} messages, found {len(given)}")
    messages: list[Message] = []
    waiting, results = WaitingCalls((), ""), dict[int, Message]()
    for number, row in enumerate(given):
        place = f"{origin}[{number}]"
        role, read = _shaped(row, place)
        content = "".join(part.text for part in read.content or ())
        if isinstance(read, _Result):
            call = waiting.take(read.tool_call_id, read.name, place)
            results[id(call)] = Message(role, content, result_of=call, number=number)
            messages += [] if waiting.left else [results[id(each)] for each in messages[-1].calls]
            continue
        waiting.demand_none(place)
        calls, thinking = _made(read) if isinstance(read, _Answer) else ((), "")
        waiting, results = WaitingCalls(calls, place), dict[int, Message]()
        messages.append(Message(role, content, calls, thinking, number=number))
    waiting.demand_none("the end")
    if messages[-1].role == "assistant":
        raise PromptError(
            f"{origin}[{len(given) - 1}]: the conversation ends with a message of role assistant, but the model writes "
            "the assistant's next message: end with a message of the user or the result of a tool"
        )
    texts = [text for message in messages for text in (message.content, message.thinking)]
    texts += (json.dumps(call.arguments, ensure_ascii=False) for message in messages for call in message.calls)
    if sum(map(len, texts)) > MAX_CHARACTERS:
        raise PromptError(f"{origin}: expected at most {MAX_CHARACTERS} characters in all messages, found more")
    return Conversation(tuple(messages))


def read_conversations(given: Any) -> tuple[list[Conversation], bool]:
    """Return one conversation, or those of a list of lists, and whether it is such a list; errors as above."""
    if isinstance(given, list | tuple) and given and isinstance(given[0], list | tuple):
        return [read_messages(each, f"conversation {n}: messages") for n, each in enumerate(given)], True
    return [read_messages(given)], False


def validated(model: type[Model], given: Mapping[str, Any], place: str) -> Model:
    """Return data in a shape; PromptError with ``place`` and the first key that is missing or wrong."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
    keys = "".join(f"[{part}]" if isinstance(part, int) else f"[{part!r:.40}]" for part in first["loc"])
    raise PromptError(f"{place}{keys}: {first['msg'].removeprefix('Value error, ')}")


def _shaped(given: Any, place: str) -> tuple[Role, _Said]:
    if not isinstance(given, Mapping):
        raise PromptError(f'{place}: expected a message {{"role": …, "content": …}}, found {type(given).__name__}')
    role = given.get("role")
    if not isinstance(role, str) or role not in _SHAPES:
        raise PromptError(f"{place}: expected a 'role' of {', '.join(_SHAPES)}, found {short_repr(role)}")
    known, shape = _SHAPES[role]
    fields = {
        key: value
        for key, value in given.items()
        if key in shape.model_fields or (value not in (None, [], "") and key not in _IGNORED)
    }
    return known, validated(shape, fields, place)


def _made(read: _Answer) -> tuple[tuple[ToolCall, ...], str]:
    """Return the calls of the assistant's message, and what it thought."""
    calls = (ToolCall.made(call.id, call.function.name, call.function.arguments) for call in read.tool_calls or ())
    return tuple(calls), read.reasoning_content or read.reasoning or ""
