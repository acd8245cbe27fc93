"""The fields of ``POST /v1/responses`` (Open Responses, 2026-04-24) -> a request for chat completions."""

import itertools
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, ValidationError

from tooldecoding.files.json_lines import short_repr
from tooldecoding.server.chat_body import Hints, Strict, wrong_field
from tooldecoding.server.exchange import ApiError

_PARAMS: Final = {"messages": "input", "response_format": "text.format", "max_completion_tokens": "max_output_tokens"}
"""Fields of a chat completion -> what they are called here."""

_SAME: Final = {"model", "parallel_tool_calls", "temperature", "top_p", "safety_identifier", "user", "stream"}
"""Fields that are called and mean the same."""

_TEXTS: Final = ("input_text", "output_text", "text", "reasoning_text", "summary_text", "refusal")
"""Types of the parts of a content."""

_KIND: Final = re.compile(r"(?<=\binput\.)(\d+)\.(message|function_call_output|function_call|reasoning)\b")
"""The kind of an item, which pydantic writes behind the item's number."""

_PLACE: Final = re.compile(r"messages\[(\d+)\](?:\['tool_calls'\]\[(\d+)\](?:\['function'\])?)?((?:\['?\w+'?\])*)")
"""The place of an error in messages: the message, its call, and the keys inside."""


class _Lenient(BaseModel):
    """Items come back as a response had them, with fields that only a response needs."""

    model_config = ConfigDict(strict=True, extra="ignore")


def _text_part(kind: Any) -> Any:
    if kind not in _TEXTS:
        raise ValueError(f"expected {', '.join(_TEXTS)}, for nothing else is supported, found {short_repr(kind)}")
    return kind


class _Text(_Lenient):
    type: Annotated[str, BeforeValidator(_text_part)]
    text: str = Field(validation_alias=AliasChoices("text", "refusal"))


def _as_parts(content: Any) -> Any:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


_Content = Annotated[list[_Text], BeforeValidator(_as_parts)]


class _Message(_Lenient):
    role: Literal["user", "system", "developer", "assistant"]
    content: _Content


class _FunctionCall(_Lenient):
    call_id: str
    name: str
    arguments: str | None


class _FunctionCallOutput(_Lenient):
    call_id: str
    output: _Content | None


def _not_encrypted(given: Any) -> None:
    if given not in (None, ""):
        raise ValueError("what another server has encrypted cannot be read here; leave it out")


class _Reasoning(_Lenient):
    summary: list[_Text] | None = None
    content: list[_Text] | None = None
    encrypted_content: Annotated[None, BeforeValidator(_not_encrypted)] = None

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.content or self.summary or ())


def _kind(item: Any) -> Any:
    """A message may come without ``type``."""
    if not isinstance(item, Mapping):
        return None
    return item.get("type", "message" if "role" in item else None)


_Item = Annotated[
    Annotated[_Message, Tag("message")]
    | Annotated[_FunctionCall, Tag("function_call")]
    | Annotated[_FunctionCallOutput, Tag("function_call_output")]
    | Annotated[_Reasoning, Tag("reasoning")],
    Discriminator(_kind),
]


def _as_items(given: Any) -> Any:
    for number, item in enumerate(given if isinstance(given, list) else ()):
        if isinstance(item, Mapping) and item.get("type") == "item_reference":
            raise ValueError(f"item {number}: nothing is stored here: give the item itself, not a reference to it")
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


class _Named(Strict):
    type: Literal["function"]
    name: str

    @property
    def chat(self) -> dict[str, Any]:
        return {"type": "function", "function": self.model_dump(exclude_none=True, exclude={"type"})}


class _Function(_Named):
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class _AllowedTools(Strict):
    type: Literal["allowed_tools"]
    tools: Annotated[list[_Named], Field(min_length=1)]
    mode: Literal["auto", "required"] = "auto"

    @property
    def chat(self) -> dict[str, Any]:
        allowed = {"mode": self.mode, "tools": [tool.chat for tool in self.tools]}
        return {"type": "allowed_tools", "allowed_tools": allowed}


class _Format(Strict):
    type: Literal["text", "json_object", "json_schema"]
    name: str | None = None
    description: str | None = None
    schema_: dict[str, Any] | None = Field(None, alias="schema")
    strict: bool | None = None

    @property
    def chat(self) -> dict[str, Any]:
        inner = self.model_dump(exclude_none=True, exclude={"type"}, by_alias=True)
        return {"type": self.type} | ({"json_schema": inner} if self.type == "json_schema" else {})


_Include = Literal[
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
    "file_search_call.results",
    "message.input_image.image_url",
    "reasoning.encrypted_content",
    "web_search_call.action.sources",
    "web_search_call.results",
]
"""What belongs to items that no response has here."""


class _TextOptions(Strict):
    format: _Format | None = None
    verbosity: str | None = None


class _ReasoningOptions(Strict):
    """No summary is made, and of the efforts ``none`` alone changes an answer."""

    effort: str | None = None
    summary: str | None = None
    generate_summary: str | None = None


class ResponsesBody(Hints):
    """A request. Fields of the specification that a text model without storage does not have take only what is neutral.

    ``store`` is taken: the response says ``store: false``.
    """

    model: str
    input: Annotated[list[_Item], BeforeValidator(_as_items), Field(min_length=1)]
    instructions: str | None = None
    tools: list[_Function] | None = None
    tool_choice: (
        Literal["auto", "required", "none"] | Annotated[_Named | _AllowedTools, Field(discriminator="type")] | None
    ) = None
    parallel_tool_calls: bool | None = None
    text: _TextOptions | None = None
    max_output_tokens: Annotated[int, Field(ge=16, le=1 << 20)] | None = None
    temperature: float | None = None
    top_p: float | None = None
    stream: bool | None = None
    stream_options: dict[Literal["include_obfuscation"], bool] | None = None
    reasoning: _ReasoningOptions | None = None
    include: list[_Include] | None = None
    truncation: Literal["auto", "disabled"] | None = None
    background: Literal[False] | None = None
    conversation: None = None
    prompt: None = None
    previous_response_id: None = None
    max_tool_calls: Annotated[int, Field(ge=1)] | None = None
    top_logprobs: Literal[0] | None = None
    presence_penalty: Annotated[float, Field(ge=0, le=0)] | None = None
    frequency_penalty: Annotated[float, Field(ge=0, le=0)] | None = None
    tooldecoding: dict[str, Any] = Field(default_factory=dict)

    @cached_property
    def messages(self) -> "list[_Placed]":
        """The messages of the conversation, with the items that they were made of."""
        return _with_instructions(self.instructions, _messages(self.input))

    @property
    def chat(self) -> dict[str, Any]:
        """The same request for chat completions."""
        extension = dict(self.tooldecoding)
        if self.reasoning is not None and self.reasoning.effort == "none":
            extension.setdefault("max_thinking_tokens", 0)
        fields = self.model_dump(include=_SAME) | {
            "messages": [each.message for each in self.messages],
            "tools": [tool.chat for tool in self.tools] if self.tools is not None else None,
            "tool_choice": self.tool_choice if isinstance(self.tool_choice, str | None) else self.tool_choice.chat,
            "response_format": self.text.format.chat if self.text and self.text.format else None,
            "max_completion_tokens": self.max_output_tokens,
            "stream_options": {"include_usage": True} if self.stream else None,
        }
        return {name: value for name, value in fields.items() if value is not None} | {"tooldecoding": extension}


class _Placed(NamedTuple):
    """A message, and the places in the request of what it and its calls were made of."""

    message: dict[str, Any]
    place: str
    calls: list[str]


def _messages(items: Sequence[_Item]) -> list[_Placed]:
    """Messages for items: calls join the assistant's text before them, thoughts what follows them.

    Calls join the calls before them, too, whatever was thought between. Thoughts behind which the assistant says
    nothing are left out.
    """
    messages: list[_Placed] = []
    thoughts: list[str] = []

    def thought() -> dict[str, Any]:
        taken = "\n".join(thoughts)
        thoughts.clear()
        return {"reasoning_content": taken} if taken else {}

    for number, item in enumerate(items):
        place = f"input.{number}"
        last = messages[-1].message if messages else {}
        match item:
            case _Reasoning():
                thoughts += [item.text] if item.text else []
            case _FunctionCall():
                if last.get("tool_calls"):
                    thoughts[:0] = filter(None, [last.get("reasoning_content")])
                    last.update(thought())
                elif last.get("role") != "assistant" or thoughts:
                    last = {"role": "assistant", "content": None, **thought()}
                    messages.append(_Placed(last, place, []))
                function = {"name": item.name, "arguments": item.arguments}
                call = {"id": item.call_id, "type": "function", "function": function}
                last.setdefault("tool_calls", []).append(call)
                messages[-1].calls.append(place)
            case _FunctionCallOutput():
                result = {"role": "tool", "tool_call_id": item.call_id, "content": _text(item.output or [])}
                messages.append(_Placed(result, place, []))
            case _Message(role="assistant"):
                said = {"role": "assistant", "content": _text(item.content), **thought()}
                messages.append(_Placed(said, place, []))
            case _Message():
                thoughts.clear()  # nothing was said behind them
                messages.append(_Placed({"role": item.role, "content": _text(item.content)}, place, []))
    return messages


def _with_instructions(instructions: str | None, messages: list[_Placed]) -> list[_Placed]:
    """Put instructions and the system messages behind them into one, for most chat templates take no more."""
    if not instructions:
        return messages
    behind = list(itertools.takewhile(lambda each: each.message["role"] in ("system", "developer"), messages))
    texts = [instructions, *(each.message["content"] for each in behind)]
    return [_Placed({"role": "system", "content": "\n\n".join(texts)}, "instructions", []), *messages[len(behind) :]]


def _text(content: _Content) -> str:
    return "".join(part.text for part in content)


def read_responses_body(given: Mapping[str, Any]) -> ResponsesBody:
    """Return the request.

    Raises
    ------
    ApiError
        400 with the name of the field that is unknown, not supported, or has a wrong value; what is named
        ``previous_response_id`` is not found, for nothing is stored.
    """
    if given.get("previous_response_id") is not None:
        message = "nothing is stored here: give the whole conversation as input"
        raise ApiError(400, message, "previous_response_id", "previous_response_not_found")
    try:
        return ResponsesBody.model_validate(given)
    except ValidationError as error:
        wrong = wrong_field(error)
        wrong.message = _KIND.sub(r"\1", wrong.message)
        wrong.param = _KIND.sub(r"\1", re.sub(r"\.[a-z-]+\[.*", "", wrong.param or ""))  # without names of branches
        raise wrong from None


def renamed(error: dict[str, Any], asked: ResponsesBody) -> dict[str, Any]:
    """Return the error of a chat completion with the names and places of this interface."""
    inner = error["error"]
    first, dot, rest = (inner.get("param") or "").partition(".")
    param, message = f"{_PARAMS.get(first, first)}{dot}{rest}", inner["message"]
    found = _PLACE.match(message)
    if found and int(found[1]) < len(asked.messages):
        made = asked.messages[int(found[1])]
        place = made.calls[int(found[2])] if found[2] else made.place
        param = ".".join([place, *re.findall(r"\w+", found[3])])
        message = param + message[found.end() :]
    return {"error": {**inner, "message": message, "param": param or None}}
