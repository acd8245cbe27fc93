"""``tooldecoding/MODEL`` as a model of inspect_ai; found through the entry point ``inspect_ai``."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import anyio
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    Content,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    StopReason,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction, ToolInfo

from tooldecoding.chat.chat import chat_request, reply_to
from tooldecoding.chat.messages import read_messages
from tooldecoding.chat.reply import ChatMessage as Reply
from tooldecoding.chat.tools import read_tool_choice, read_tools
from tooldecoding.decoder import ToolDecoder
from tooldecoding.errors import ConfigError, PromptError
from tooldecoding.models.loading import load_quietly
from tooldecoding.options import changed
from tooldecoding.server.details import details

_HELD: Final = {"max_tokens": "max_tokens", "temperature": "temperature", "top_p": "top_p", "top_k": "top_k"}
"""What a configuration asks for -> the field of ``DecodeOptions``."""
_ELSEWHERE: Final = {
    "max_retries", "timeout", "attempt_timeout", "stream_idle_timeout", "max_connections", "adaptive_connections",
    "system_message", "seed", "stop_seqs", "max_tool_output", "cache_prompt", "fallback_models", "fail_on_refusal",
    "extra_headers", "cache", "batch", "reasoning_history", "internal_tools", "modalities",
}  # fmt: skip
"""Of no concern to a model on this machine, or read elsewhere."""
_STOP_REASONS: Final[Mapping[str, StopReason]] = {"tool_calls": "tool_calls", "stop": "stop", "length": "max_tokens"}


class ToolDecodingAPI(ModelAPI):
    """A model on this machine. Decodes one request at a time.

    Parameters
    ----------
    model_name : str
        Folder or hub id behind ``tooldecoding/``; ``reference`` is the model of the package.
    config : GenerateConfig
        Of the task. What a decode cannot honour is refused.
    device, dtype : str, optional
        As for ``ToolDecoder.from_pretrained``.
    **fields
        Fields of ``DecodeOptions``, such as ``order_limit`` (``-M order_limit=12``).

    Raises
    ------
    ToolDecodingError
        If the model cannot be loaded, or a field is unknown.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - the harness' own signature
        device: str | None = None,
        dtype: str | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if base_url is not None:
            raise ConfigError("tooldecoding/… runs on this machine and takes no base URL")
        model, tokenizer = load_quietly(model_name, device, dtype)
        self._decoder = ToolDecoder(model, tokenizer, **fields)

    def max_connections(self) -> int:
        """Return 1: requests are decoded one at a time."""
        return 1

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Answer a conversation.

        Raises
        ------
        ToolDecodingError
            If the configuration asks for what a decode cannot honour, a message has other content than text, or as
            ``ToolDecoder.chat``.
        """
        options = replace(
            changed(self._decoder.options, decode_fields(config)), tool_choice=read_tool_choice(_choice(tool_choice))
        )
        conversation = read_messages([openai_message(message) for message in input])
        documentation = read_tools([openai_tool(tool) for tool in tools])
        request = chat_request(conversation, documentation, options, self._decoder.tokenizer)
        [result] = await anyio.to_thread.run_sync(self._decoder.run, [request])
        read = len(self._decoder.prompt_ids(request))
        return self._output(reply_to(conversation, result, self._decoder.tokenizer), read)

    def _output(self, reply: Reply, read: int) -> ModelOutput:
        calls = [
            ToolCall(id=piece.id, function=piece.call.name, arguments=dict(piece.call.arguments))
            for piece in reply.call_pieces
        ]
        content: list[Content] = [ContentText(text=reply.content or "")]
        if reply.result.thinking:
            content.insert(0, ContentReasoning(reasoning=reply.result.thinking))
        message = ChatMessageAssistant(
            content=content if len(content) > 1 else reply.content or "",
            tool_calls=calls or None,
            model=self.model_name,
            source="generate",
            metadata={"tooldecoding": details(reply.result, self._decoder.table, False, ())},
        )
        written = len(reply.result.token_ids)
        return ModelOutput(
            model=self.model_name,
            choices=[ChatCompletionChoice(message=message, stop_reason=_STOP_REASONS[reply.finish_reason])],
            usage=ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written),
        )


@modelapi(name="tooldecoding")  # type: ignore[untyped-decorator]
def tooldecoding() -> type[ModelAPI]:
    """Return the provider."""
    return ToolDecodingAPI


def decode_fields(config: GenerateConfig) -> dict[str, Any]:
    """Return fields of ``DecodeOptions``; ConfigError, naming it, for a setting that cannot be honoured."""
    asked = {name: value for name, value in config.model_dump(exclude_none=True).items() if value not in ([], {}, "")}
    known = _HELD.keys() | _ELSEWHERE | {"parallel_tool_calls", "num_choices"}
    if asked.pop("num_choices", 1) != 1:
        raise ConfigError("num_choices: a decode gives one answer; order_limit sets how many orders vote")
    for name in asked.keys() - known:
        raise ConfigError(f"{name} cannot be honoured by tooldecoding; leave it out")
    fields = {field: asked[name] for name, field in _HELD.items() if name in asked}
    if "seed" in asked:
        fields["seed"] = asked["seed"]
    if "stop_seqs" in asked:
        fields["stop"] = tuple(asked["stop_seqs"])
    if asked.get("parallel_tool_calls") is False:
        fields["max_calls"] = 1
    return fields


def openai_message(message: ChatMessage) -> dict[str, Any]:
    """Return a message in OpenAI's shape; PromptError for images and other content that is no text."""
    row: dict[str, Any] = {"role": message.role, "content": _text(message.content)}
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        row["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function, "arguments": json.dumps(call.arguments)},
            }
            for call in message.tool_calls
        ]
        row["content"] = row["content"] or None
    if isinstance(message, ChatMessageTool):
        row["tool_call_id"] = message.tool_call_id
        if message.error is not None:
            row["content"] = f"Error: {message.error.message}"
    return row


def _text(content: str | list[Content]) -> str:
    if isinstance(content, str):
        return content
    parts = []
    for part in content:
        if isinstance(part, ContentText):
            parts.append(part.text)
        elif not isinstance(part, ContentReasoning):
            raise PromptError(f"a message has content of type {part.type!r}; tooldecoding takes text")
    return "".join(parts)


def openai_tool(tool: ToolInfo) -> dict[str, Any]:
    """Return a tool in OpenAI's shape."""
    parameters = tool.parameters.model_dump(exclude_none=True, by_alias=True)
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    }


def _choice(choice: ToolChoice) -> str | dict[str, Any]:
    if isinstance(choice, ToolFunction):
        return {"type": "function", "function": {"name": choice.name}}
    return "required" if choice == "any" else choice
