"""Dialogues of API-Bank's kind: read into messages, and written as the lines of a prompt.

Roles are API-Bank's (``User``, ``AI``, ``API``) or those of chat models (``user``, ``assistant``, ``system``), in any
case. An ``API`` row is a call, and its result as well if it has a ``result``. Each text, call and result is a message
of its own; ``openai_messages`` joins those that chat templates want in one.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field

from tooldecoding.chat.calls import ToolCall
from tooldecoding.chat.messages import Message, Role, validated
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import numbered_lines, read_arguments, read_row, short_repr
from tooldecoding.formats.call_format import Call, CallFormat

_ROLES: Final[Mapping[str, Role]] = {"user": "user", "ai": "assistant", "assistant": "assistant", "system": "system"}
"""Role of a row, in lower case -> role of its message."""

TOOL_SEARCH: Final = "ToolSearcher"
"""API-Bank's tool that returns documentation (level 2)."""

API_BANK_LABELS: Final[Mapping[str, str]] = {
    "system": "System", "user": "User", "assistant": "AI", "call": "API-Request", "tool": "API-Response"
}  # fmt: skip
BFCL_LABELS: Final = {**API_BANK_LABELS, "call": "Calls", "tool": "Results"}
"""The word before the colon of each line: for what a role says, and for a call."""


class _Said(BaseModel):
    text: str = Field(validation_alias=AliasChoices("text", "content"))
    tool_calls: Annotated[list[Any], Field(max_length=0)] | None = None


class _Called(BaseModel):
    name: str = Field(validation_alias=AliasChoices("api_name", "name"))
    arguments: Annotated[dict[str, Any], BeforeValidator(read_arguments)] = Field(
        validation_alias=AliasChoices("param_dict", "arguments")
    )


def read_dialogue(text: str, origin: str) -> tuple[Message, ...]:
    """Return the messages of a dialogue in JSON lines.

    PromptError, with ``origin:line``, for malformed JSON, a row without role or text, an unknown role, or no row at
    all.
    """
    rows = [(f"{origin}:{n}", read_row(line, n, origin, PromptError)) for n, line in numbered_lines(text)]
    return _read(rows, origin)


def read_rows(rows: Any, origin: str) -> tuple[Message, ...]:
    """Return the messages of a dialogue given as a list of rows; PromptError as ``read_dialogue``, with row numbers."""
    given = rows if isinstance(rows, list) else []
    return _read([(f"{origin}: dialogue row {number}", row) for number, row in enumerate(given, start=1)], origin)


def _read(rows: Sequence[tuple[str, Any]], origin: str) -> tuple[Message, ...]:
    if not rows:
        raise PromptError(f"{origin}: expected a dialogue, one JSON object a row, found none")
    messages: list[Message] = []
    for place, row in rows:
        if not isinstance(row, dict):
            raise PromptError(f"{place}: expected a JSON object, found {short_repr(row)}")
        try:
            messages += _messages(row, f"call_{len(messages)}", place)
        except RecursionError:
            raise PromptError(f"{place}: an argument or result is nested too deeply") from None
    return tuple(messages)


def _messages(row: Mapping[str, Any], call_id: str, place: str) -> list[Message]:
    """Return what was said, or a call and its result: API-Bank's output, or its exception if the output is null."""
    role = str(row.get("role")).lower()
    if role in _ROLES:
        return [Message(_ROLES[role], validated(_Said, row, place).text)]
    if role != "api":
        raise PromptError(
            f"{place}: expected a 'role' of User, AI, API, system or assistant, found {short_repr(row.get('role'))}; "
            "give calls of chat as messages"
        )
    made = validated(_Called, row, place)
    call = ToolCall(call_id, made.name, made.arguments)
    value = row.get("result")
    if isinstance(value, dict) and "output" in value:
        value = value.get("exception") if value["output"] is None else value["output"]
    result = [Message("tool", _result_text(value), result_of=call)] if "result" in row else []
    return [Message("assistant", "", (call,)), *result]


def _result_text(value: Any) -> str:
    """Return a result as the content of a message: JSON, but a text as it stands if it is no JSON."""
    if isinstance(value, str) and _result_value(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _result_value(content: str) -> Any:
    """Return the value of a result from the content of its message."""
    try:
        return json.loads(content)
    except ValueError:
        return content


def dialogue_lines(
    messages: Sequence[Message], call_format: CallFormat, labels: Mapping[str, str] = API_BANK_LABELS
) -> list[str]:
    """Return the dialogue as lines: ``User: …``, ``AI: …``, ``API-Request: [Name(key='v')]``, ``API-Response: …``.

    Newlines inside a text become single spaces, so that each line is one text, call or result.
    """
    lines = []
    for message in messages:
        if message.result_of:
            lines.append(f"{labels['tool']}: {json.dumps(_result_value(message.content), ensure_ascii=False)}")
        elif not message.calls:
            lines.append(f"{labels[message.role]}: " + re.sub(r"[\r\n]+", " ", message.content.strip("\r\n")))
        lines += [f"{labels['call']}: {call_format.render([Call(c.name, c.arguments)])}" for c in message.calls]
    return lines


def openai_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the messages of a dialogue in OpenAI's shape.

    What a role says in several messages is one, for many templates want user and assistant to alternate. Calls belong
    to what the assistant said right before.
    """
    rows: list[dict[str, Any]] = []
    for message in messages:
        last: dict[str, Any] = rows[-1] if rows else {"role": None}
        if call := message.result_of:
            rows.append({"role": "tool", "name": call.name, "content": message.content, "tool_call_id": call.id})
        elif message.role != last["role"] or ("tool_calls" in last and not message.calls):
            rows.append({"role": message.role, "content": message.content})
        elif not message.calls:
            last["content"] += f"\n{message.content}"
        if message.calls:
            rows[-1].setdefault("tool_calls", []).extend(call.openai() for call in message.calls)
    return rows


def documented_tools(messages: Sequence[Message]) -> list[Mapping[str, Any]]:
    """Return documentation that API-Bank's ToolSearcher returned in the dialogue, in order of first mention.

    A tool that is returned again counts once, with its last documentation. ``desc_for_search`` is a key of the search,
    not of the tool, and is left out.
    """
    found: dict[Any, Mapping[str, Any]] = {}
    for message in messages:
        if message.result_of and message.result_of.name == TOOL_SEARCH:
            value = _result_value(message.content)
            for tool in value if isinstance(value, list) else [value]:
                if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                    found[tool["name"]] = {k: v for k, v in tool.items() if k != "desc_for_search"}
    return list(found.values())
