"""Dialogues: read from JSON lines, written as the lines of a prompt.

Roles are API-Bank's (``User``, ``AI``, ``API``) or those of chat models (``user``, ``assistant``, ``system``,
``tool``), in any case. An ``API`` row is a request, and a response as well if it has a ``result``.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import numbered_lines, read_row, short_repr
from tooldecoding.formats.call_format import Call, CallFormat

Speaker = Literal["system", "user", "assistant"]

SPEAKERS: Mapping[str, Speaker] = {"user": "user", "ai": "assistant", "assistant": "assistant", "system": "system"}
"""Role of a row, in lower case -> speaker."""

TOOL_SEARCH = "ToolSearcher"
"""API-Bank's tool that returns documentation (level 2)."""


@dataclass(frozen=True)
class Utterance:
    """What a speaker said."""

    speaker: Speaker
    text: str


@dataclass(frozen=True)
class ToolRequest:
    """A call that was made earlier in the dialogue."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class ToolResponse:
    """The JSON value that a call returned."""

    name: str
    value: Any


Turn = Utterance | ToolRequest | ToolResponse


@dataclass(frozen=True)
class LineLabels:
    """The word before the colon of each line, by kind of turn."""

    system: str = "System"
    user: str = "User"
    assistant: str = "AI"
    request: str = "API-Request"
    response: str = "API-Response"


def read_dialogue(text: str, origin: str) -> tuple[Turn, ...]:
    """Return the turns of a dialogue in JSON lines.

    Raises
    ------
    PromptError
        With ``origin:line``, for malformed JSON, a row without role or text, an unknown role, or no row at all.
    """
    rows = [(f"{origin}:{n}", read_row(line, n, origin, PromptError)) for n, line in numbered_lines(text)]
    if not rows:
        raise PromptError(f"{origin}: expected a dialogue, one JSON object a line, found an empty text")
    return tuple(turn for place, row in rows for turn in _read_row(row, place))


def read_rows(rows: Any, origin: str) -> tuple[Turn, ...]:
    """Return the turns of a dialogue given as a list of rows; PromptError as ``read_dialogue``, with row numbers."""
    if not isinstance(rows, list) or not rows:
        raise PromptError(f"{origin}: expected a dialogue as a list of rows, at least one, found {short_repr(rows)}")
    turns: list[Turn] = []
    for number, row in enumerate(rows, start=1):
        place = f"{origin}: dialogue row {number}"
        if not isinstance(row, dict):
            raise PromptError(f"{place}: expected a JSON object, found {short_repr(row)}")
        turns += _read_row(row, place)
    return tuple(turns)


def _read_row(row: Mapping[str, Any], place: str) -> list[Turn]:
    role = row.get("role")
    if not isinstance(role, str):
        raise PromptError(f"{place}: a dialogue row needs a 'role' (User, AI, API), found {_found(row, 'role')}")
    kind = role.lower()
    if kind == "api":
        return _read_api(row, place)
    if kind == "tool":
        return [ToolResponse(str(row.get("name", "")), _tool_content(row, place))]
    if kind not in SPEAKERS:
        raise PromptError(f"{place}: unknown role {role!r}; known: User, AI, API, system, assistant, tool")
    calls = row.get("tool_calls") or []
    if not isinstance(calls, list):
        raise PromptError(f"{place}: expected 'tool_calls' to be a list, found {short_repr(calls)}")
    requests = [_read_tool_call(call, place) for call in calls]
    text = row.get("text", row.get("content"))
    if not isinstance(text, str):
        if requests and text is None:
            return list(requests)
        raise PromptError(f"{place}: a row of role {role} needs a 'text', found {_found(row, 'text')}")
    said = [Utterance(SPEAKERS[kind], text)] if text or not requests else []
    return [*said, *requests]


def _read_api(row: Mapping[str, Any], place: str) -> list[Turn]:
    name = row.get("api_name", row.get("name"))
    arguments = row.get("param_dict", row.get("arguments"))
    if not isinstance(name, str):
        raise PromptError(f"{place}: an API row needs an 'api_name', found {_found(row, 'api_name')}")
    if not isinstance(arguments, dict):
        raise PromptError(f"{place}: an API row needs a 'param_dict', found {_found(row, 'param_dict')}")
    turns: list[Turn] = [ToolRequest(name, arguments)]
    if "result" in row:
        turns.append(ToolResponse(name, _result_value(row["result"])))
    return turns


def _result_value(result: Any) -> Any:
    """Return the output of an API-Bank result, or its exception if the output is null; any other result as it is."""
    if isinstance(result, dict) and "output" in result:
        return result.get("exception") if result["output"] is None else result["output"]
    return result


def _tool_content(row: Mapping[str, Any], place: str) -> Any:
    content = row.get("content", row.get("text"))
    if content is None:
        raise PromptError(f"{place}: a row of role tool needs a 'content', found {_found(row, 'content')}")
    if isinstance(content, str):
        try:
            return json.loads(content)
        except ValueError:
            return content
    return content


def _read_tool_call(call: Any, place: str) -> ToolRequest:
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
    return ToolRequest(function["name"], arguments)


def dialogue_lines(turns: Sequence[Turn], call_format: CallFormat, labels: LineLabels | None = None) -> list[str]:
    """Return the dialogue as lines: ``User: …``, ``AI: …``, ``API-Request: [Name(key='v')]``, ``API-Response: …``.

    Newlines inside a text become single spaces, so that each turn is one line.
    """
    labels = labels or LineLabels()
    lines = []
    for turn in turns:
        match turn:
            case Utterance(speaker, text):
                lines.append(f"{getattr(labels, speaker)}: {_one_line(text)}")
            case ToolRequest(name, arguments):
                lines.append(f"{labels.request}: {call_format.render([Call(name, arguments)])}")
            case ToolResponse(_, value):
                lines.append(f"{labels.response}: {json.dumps(value, ensure_ascii=False)}")
    return lines


def documented_tools(turns: Sequence[Turn]) -> list[Mapping[str, Any]]:
    """Return documentation that API-Bank's ToolSearcher returned in the dialogue, in order of first mention.

    A tool that is returned again counts once, with its last documentation. ``desc_for_search`` is a key of the search,
    not of the tool, and is left out.
    """
    found: dict[Any, Mapping[str, Any]] = {}
    for turn in turns:
        if isinstance(turn, ToolResponse) and turn.name == TOOL_SEARCH:
            for tool in turn.value if isinstance(turn.value, list) else [turn.value]:
                if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                    found[tool["name"]] = {k: v for k, v in tool.items() if k != "desc_for_search"}
    return list(found.values())


def _one_line(text: str) -> str:
    return re.sub(r"[\r\n]+", " ", text.strip("\r\n"))


def _found(row: Mapping[str, Any], key: str) -> str:
    return short_repr(row[key]) if key in row else f"only {', '.join(map(repr, row)) or 'an empty object'}"
