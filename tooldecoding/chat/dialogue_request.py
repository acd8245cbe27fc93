"""A dialogue of turns -> a request in the model's chat template."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from transformers import PreTrainedTokenizerBase

from tooldecoding.chat.chat import chat_request
from tooldecoding.chat.dialogue import ToolRequest, ToolResponse, Turn, Utterance
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import read_messages
from tooldecoding.errors import PromptError
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.harmony import HARMONY
from tooldecoding.formats.thinking import is_open
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request


def dialogue_request(
    turns: Sequence[Turn], documentation: Documentation, options: DecodeOptions, tokenizer: PreTrainedTokenizerBase
) -> Request:
    """Return the request for a dialogue; the model goes on with what the assistant said last.

    Raises
    ------
    ToolDecodingError
        As ``chat_request``, and if a result is of no call or a call has no result.
    """
    messages, begun = openai_messages(turns), ""
    if messages and messages[-1]["role"] == "assistant" and "tool_calls" not in messages[-1]:
        begun = messages.pop()["content"]
    request = chat_request(read_messages(messages, "the dialogue's messages"), documentation, options, tokenizer)
    if not begun:
        return request
    return replace(request, prompt=continued(str(request.prompt), begun, request.options.call_format))


def openai_messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Return the messages of a dialogue in OpenAI's shape.

    What a speaker says in several turns is one message, for many templates want user and assistant to alternate. Calls
    belong to what the assistant said right before. A result is of the first call of its name, or of any name if it has
    none, that has no result yet.

    Raises
    ------
    PromptError
        For a result of no call.
    """
    messages: list[dict[str, Any]] = []
    unanswered: list[dict[str, Any]] = []
    for turn in turns:
        last: dict[str, Any] = messages[-1] if messages else {"role": None}
        match turn:
            case Utterance(speaker, text) if speaker == last["role"] and "tool_calls" not in last:
                last["content"] += f"\n{text}"
            case Utterance(speaker, text):
                messages.append({"role": speaker, "content": text})
            case ToolRequest():
                call = _call(turn, f"call_{len(messages)}_{len(last.get('tool_calls', ()))}")
                unanswered.append(call)
                if last["role"] != "assistant":
                    messages.append({"role": "assistant", "content": ""})
                messages[-1].setdefault("tool_calls", []).append(call)
            case ToolResponse(name, value):
                messages.append(_result(name, value, unanswered))
    return messages


def continued(prompt: str, begun: str, call_format: CallFormat) -> str:
    """Return a prompt of a chat template with what the assistant has said already in the turn that it opens."""
    if call_format is HARMONY:
        return f"{prompt}<|channel|>commentary<|message|>{begun}<|end|><|start|>assistant"
    thinking = is_open(prompt)
    return prompt + (thinking.closing + thinking.behind if thinking else "") + begun


def _call(request: ToolRequest, identifier: str) -> dict[str, Any]:
    arguments = json.dumps(dict(request.arguments), ensure_ascii=False, default=list)
    return {"id": identifier, "type": "function", "function": {"name": request.name, "arguments": arguments}}


def _result(name: str, value: Any, unanswered: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the message for a result; takes its call off the list."""
    call = next((call for call in unanswered if name in ("", call["function"]["name"])), None)
    if call is None:
        raise PromptError(f"the dialogue has a result of {name!r:.60} without a call before that it answers")
    unanswered.remove(call)
    content = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {"role": "tool", "name": call["function"]["name"], "content": content, "tool_call_id": call["id"]}
