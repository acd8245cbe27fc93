"""The fields of ``POST /v1/responses`` (Open Responses, 2026-04-24) -> a request for chat completions."""

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, ValidationError

from tooldecoding.server.chat_body import Strict, wrong_field
from tooldecoding.server.exchange import ApiError

_PARAMS: Final = {"messages": "input", "response_format": "text.format", "max_completion_tokens": "max_output_tokens"}
"""Fields of a chat completion -> what they are called here."""

_SAME: Final = {"model", "parallel_tool_calls", "temperature", "top_p", "safety_identifier", "user", "stream"}
"""Fields that are called and mean the same."""


class _Lenient(BaseModel):
    """Items come back as a response had them, with fields that only a response needs."""

    model_config = ConfigDict(strict=True, extra="ignore")


class _Text(_Lenient):
    type: Literal["input_text", "output_text", "text", "reasoning_text", "summary_text", "refusal"]
    text: str = Field(validation_alias=AliasChoices("text", "refusal"))


def _as_parts(content: Any) -> Any:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


_Content = Annotated[list[_Text], BeforeValidator(_as_parts)]


class _Message(_Lenient):
    role: Literal["user", "system", "developer", "assistant"]
    content: _Content


class _FunctionCall(_Lenient):
    call_id: Annotated[str, Field(min_length=1)]
    name: str
    arguments: str


class _FunctionCallOutput(_Lenient):
    call_id: str
    output: _Content


class _Reasoning(_Lenient):
    summary: list[_Text] = []
    content: list[_Text] | None = None
    encrypted_content: None = None

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.content or self.summary)


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


class _TextOptions(Strict):
    format: _Format | None = None
    verbosity: Literal["medium"] | None = None


class _ReasoningOptions(Strict):
    effort: Literal["none"] | None = None
    summary: None = None


class ResponsesBody(Strict):
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
    include: list[Literal["reasoning.encrypted_content"]] | None = None
    store: bool | None = None
    metadata: Annotated[dict[str, str], Field(max_length=16)] | None = None
    truncation: Literal["auto", "disabled"] | None = None
    service_tier: Literal["auto", "default"] | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    user: str | None = None
    background: Literal[False] | None = None
    previous_response_id: None = None
    max_tool_calls: None = None
    top_logprobs: Literal[0] | None = None
    presence_penalty: Annotated[float, Field(ge=0, le=0)] | None = None
    frequency_penalty: Annotated[float, Field(ge=0, le=0)] | None = None
    tooldecoding: dict[str, Any] = Field(default_factory=dict)

    @property
    def chat(self) -> dict[str, Any]:
        """The same request for chat completions."""
        extension = dict(self.tooldecoding)
        if self.reasoning is not None and self.reasoning.effort == "none":
            extension.setdefault("max_thinking_tokens", 0)
        fields = self.model_dump(include=_SAME) | {
            "messages": _with_instructions(self.instructions, _messages(self.input)),
            "tools": [tool.chat for tool in self.tools] if self.tools is not None else None,
            "tool_choice": self.tool_choice if isinstance(self.tool_choice, str | None) else self.tool_choice.chat,
            "response_format": self.text.format.chat if self.text and self.text.format else None,
            "max_completion_tokens": self.max_output_tokens,
            "stream_options": {"include_usage": True} if self.stream else None,
        }
        return {name: value for name, value in fields.items() if value is not None} | {"tooldecoding": extension}


def _messages(items: Sequence[_Item]) -> list[dict[str, Any]]:
    """Messages for items: calls join the assistant's text before them, thoughts what follows them."""
    messages: list[dict[str, Any]] = []
    thoughts: dict[str, Any] = {}
    for item in items:
        match item:
            case _Reasoning():
                thoughts = {"reasoning_content": item.text} if item.text else {}
            case _FunctionCall():
                if not messages or messages[-1]["role"] != "assistant" or thoughts:
                    messages.append({"role": "assistant", "content": None, **thoughts})
                    thoughts = {}
                function = {"name": item.name, "arguments": item.arguments}
                call = {"id": item.call_id, "type": "function", "function": function}
                messages[-1].setdefault("tool_calls", []).append(call)
            case _FunctionCallOutput():
                messages.append({"role": "tool", "tool_call_id": item.call_id, "content": _text(item.output)})
            case _Message(role="assistant"):
                messages.append({"role": "assistant", "content": _text(item.content), **thoughts})
                thoughts = {}
            case _Message():
                messages.append({"role": item.role, "content": _text(item.content)})
    return messages


def _with_instructions(instructions: str | None, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put instructions and the system messages behind them into one, for most chat templates take no more."""
    if not instructions:
        return messages
    behind = list(itertools.takewhile(lambda message: message["role"] in ("system", "developer"), messages))
    texts = [instructions, *(message["content"] for message in behind)]
    return [{"role": "system", "content": "\n\n".join(texts)}, *messages[len(behind) :]]


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
        wrong.param = re.sub(r"\.[a-z-]+\[.*", "", wrong.param or "")  # without the name of a union's branch
        raise wrong from None


def renamed(error: dict[str, Any]) -> dict[str, Any]:
    """Return the error of a chat completion with the field's name of this interface."""
    inner = error["error"]
    first, dot, rest = (inner.get("param") or "").partition(".")
    return {"error": {**inner, "param": f"{_PARAMS.get(first, first)}{dot}{rest}" or None}}
