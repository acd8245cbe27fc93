"""Dialogues of API-Bank and of chat models: read into messages, and written as the lines of a prompt.

Roles are API-Bank's (``User``, ``AI``, ``API``) or those of chat models (``user``, ``assistant``, ``system``,
``tool``), in any case. An ``API`` row is a call, and its result as well if it has a ``result``. Each row is a message
of its own; ``openai_messages`` joins those that chat templates want in one.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tooldecoding.chat.messages import Message, Role, ToolCall
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import numbered_lines, read_row, short_repr
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


def read_dialogue(text: str, origin: str) -> tuple[Message, ...]:
    """Return the messages of a dialogue in JSON lines.

    Raises
    ------
    PromptError
        With ``origin:line``, for malformed JSON, a row without role or text, an unknown role, a result of no call, or
        no row at all.
    """
    rows = [(f"{origin}:{n}", read_row(line, n, origin, PromptError)) for n, line in numbered_lines(text)]
    if not rows:
        raise PromptError(f"{origin}: expected a dialogue, one JSON object a line, found an empty text")
    return _read(rows)


def read_rows(rows: Any, origin: str) -> tuple[Message, ...]:
    """Return the messages of a dialogue given as a list of rows; PromptError as ``read_dialogue``, with row numbers."""
    if not isinstance(rows, list) or not rows:
        raise PromptError(f"{origin}: expected a dialogue as a list of rows, at least one, found {short_repr(rows)}")
    return _read((f"{origin}: dialogue row {number}", row) for number, row in enumerate(rows, start=1))


def _read(rows: Iterable[tuple[str, Any]]) -> tuple[Message, ...]:
    reader = _Reader()
    for place, row in rows:
        if not isinstance(row, dict):
            raise PromptError(f"{place}: expected a JSON object, found {short_repr(row)}")
        try:
            reader.read(row, place)
        except RecursionError:
            raise PromptError(f"{place}: an argument or result is nested too deeply") from None
    return tuple(reader.messages)


class _Reader:
    """Reads one row after the other; a result is of the first call of its name, or of any, that has none yet."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._calls = 0
        self._unanswered: list[ToolCall] = []

    def read(self, row: Mapping[str, Any], place: str) -> None:
        role = row.get("role")
        if not isinstance(role, str):
            raise PromptError(f"{place}: a dialogue row needs a 'role' (User, AI, API), found {_found(row, 'role')}")
        kind = role.lower()
        if kind == "api":
            self._read_api(row, place)
        elif kind == "tool":
            self._take_result(str(row.get("name", "")), _tool_content(row, place), place)
        elif kind not in _ROLES:
            raise PromptError(f"{place}: unknown role {role!r}; known: User, AI, API, system, assistant, tool")
        else:
            self._read_said(row, role, place)

    def _read_said(self, row: Mapping[str, Any], role: str, place: str) -> None:
        given = row.get("tool_calls") or []
        if not isinstance(given, list):
            raise PromptError(f"{place}: expected 'tool_calls' to be a list, found {short_repr(given)}")
        if given and _ROLES[role.lower()] != "assistant":
            raise PromptError(f"{place}: a row of role {role} has 'tool_calls', which only the assistant makes")
        calls = [self._call(*_read_call(call, place)) for call in given]
        text = row.get("text", row.get("content"))
        if text is None and calls:
            text = ""
        if not isinstance(text, str):
            raise PromptError(f"{place}: a row of role {role} needs a 'text', found {_found(row, 'text')}")
        self.messages.append(Message(_ROLES[role.lower()], text, tuple(calls)))

    def _read_api(self, row: Mapping[str, Any], place: str) -> None:
        name = row.get("api_name", row.get("name"))
        arguments = row.get("param_dict", row.get("arguments"))
        if not isinstance(name, str):
            raise PromptError(f"{place}: an API row needs an 'api_name', found {_found(row, 'api_name')}")
        if not isinstance(arguments, dict):
            raise PromptError(f"{place}: an API row needs a 'param_dict', found {_found(row, 'param_dict')}")
        self.messages.append(Message("assistant", "", (self._call(name, arguments),)))
        if "result" in row:
            self._take_result(name, _output(row["result"]), place)

    def _call(self, name: str, arguments: dict[str, Any]) -> ToolCall:
        call = ToolCall(f"call_{self._calls}", name, arguments)
        self._calls += 1
        self._unanswered.append(call)
        return call

    def _take_result(self, name: str, value: Any, place: str) -> None:
        call = next((call for call in self._unanswered if name in ("", call.name)), None)
        if call is None:
            raise PromptError(f"{place}: a result of {name!r:.60} without a call before that it answers")
        self._unanswered.remove(call)
        self.messages.append(Message("tool", _result_text(value), result_of=call))


def _output(result: Any) -> Any:
    """Return the output of an API-Bank result, or its exception if the output is null; any other result as it is."""
    if isinstance(result, dict) and "output" in result:
        return result.get("exception") if result["output"] is None else result["output"]
    return result


def _tool_content(row: Mapping[str, Any], place: str) -> Any:
    content = row.get("content", row.get("text"))
    if content is None:
        raise PromptError(f"{place}: a row of role tool needs a 'content', found {_found(row, 'content')}")
    return _result_value(content) if isinstance(content, str) else content


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


def _read_call(call: Any, place: str) -> tuple[str, dict[str, Any]]:
    function = call.get("function", call) if isinstance(call, dict) else None
    arguments = function.get("arguments") if isinstance(function, dict) else None
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            raise PromptError(f"{place}: the arguments of a tool call are malformed JSON") from None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str) or not isinstance(arguments, dict):
        raise PromptError(
            f"{place}: a tool call needs a function with 'name' and 'arguments', found {short_repr(call)}"
        )
    return function["name"], arguments


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
        elif message.content or not message.calls:
            lines.append(f"{labels[message.role]}: {_one_line(message.content)}")
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
        call = message.result_of
        if call:
            rows.append({"role": "tool", "name": call.name, "content": message.content, "tool_call_id": call.id})
        elif message.role != last["role"] or ("tool_calls" in last and (message.content or not message.calls)):
            rows.append({"role": message.role, "content": message.content})
        elif message.content or not message.calls:
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


def _one_line(text: str) -> str:
    return re.sub(r"[\r\n]+", " ", text.strip("\r\n"))


def _found(row: Mapping[str, Any], key: str) -> str:
    return short_repr(row[key]) if key in row else f"only {', '.join(map(repr, row)) or 'an empty object'}"
