"""The dialogue of a sample as messages in OpenAI's shape, for the chat template of a model."""

import json
from collections.abc import Sequence
from typing import Any

from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.harmony import HARMONY
from tooldecoding.formats.thinking import is_open
from tooldecoding.prompts.dialogue import ToolRequest, ToolResponse, Turn, Utterance


def openai_messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Return the messages of a dialogue.

    What a speaker says in several turns is one message, for many templates want user and assistant to alternate. Calls
    belong to what the assistant said right before.
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
    """Return the message for a result, of the first unanswered call of this name; takes the call off the list."""
    call = next((call for call in unanswered if call["function"]["name"] == name), None)
    content = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    message = {"role": "tool", "name": name, "content": content}
    if call is not None:
        unanswered.remove(call)
        message["tool_call_id"] = call["id"]
    return message
