"""An answer is a message in OpenAI's shape whatever the model wants, and the chat template takes it back."""

import json
import warnings
from typing import Any

import pytest
from chat_models import ORIGINALS, decoder_of, original, random_logits

from prompts.own_templates import CALLS, template
from tooldecoding.chat.messages import read_messages
from tooldecoding.chat.reply import ChatMessage
from tooldecoding.chat.template_habits import habits_of
from tooldecoding.errors import ChatWarning
from tooldecoding.prompts.detect_format import detect_format
from tooldecoding.testing import SyntheticDecoder

TURNS = 3
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "book_table",
            "description": "Book a table.",
            "parameters": {
                "type": "object",
                "properties": {
                    "place": {"type": "string", "description": "Where."},
                    "people": {"type": "integer", "description": "How many."},
                    "outside": {"type": "boolean", "description": "Whether outside."},
                    "wishes": {"type": "array", "items": {"type": "string"}, "description": "More."},
                },
                "required": ["place", "people"],
            },
        },
    },
    {
        "type": "function",
        "function": {"name": "stop", "description": "Stop.", "parameters": {"type": "object", "properties": {}}},
    },
]
REQUIRED = {"book_table": {"place", "people"}, "stop": set()}

TEMPLATES = [
    *(pytest.param(lambda name=name: original(name), id=name) for name in ORIGINALS),
    *(pytest.param(lambda spelling=spelling: template(CALLS[spelling]), id=spelling) for spelling in CALLS),
]


def demand_message(reply: ChatMessage, names: set[str]) -> None:
    """The message has OpenAI's shape, and says what the votes say."""
    message = json.loads(json.dumps(reply.message))
    assert message["role"] == "assistant"
    assert message["content"] is None or isinstance(message["content"], str)
    assert message["content"] is not None or reply.calls
    calls = message.get("tool_calls", [])
    assert bool(calls) == bool(reply.calls) == (reply.finish_reason == "tool_calls")
    for given, call in zip(calls, reply.calls, strict=True):
        assert set(given) == {"id", "type", "function"} and given["type"] == "function"
        arguments = json.loads(given["function"]["arguments"], parse_constant=pytest.fail)
        assert given["function"]["name"] == call.name in names
        assert arguments == call.arguments and REQUIRED[call.name] <= arguments.keys()


def converse(decoder: SyntheticDecoder, seed: int) -> list[dict[str, Any]]:
    """Let a random model answer three times, with results for its calls; returns the conversation."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": 'Do <it> & "go"'}]
    for turn in range(TURNS):
        random_logits(decoder, TURNS * seed + turn)
        reply = decoder.chat(messages, TOOLS, ("required", "auto", "required")[turn])
        demand_message(reply, {*REQUIRED})
        assert reply.valid, reply.errors
        messages.append(reply.message)
        for call in reply.message.get("tool_calls", []):
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": f"result of {call['id']}"})
        if not reply.calls:
            messages.append({"role": "user", "content": f"More, after {turn}?"})
    return messages


@pytest.mark.parametrize("chat_template", TEMPLATES)
def test_answers_go_back_through_every_template(chat_template: Any) -> None:
    decoder = decoder_of(chat_template(), max_text_tokens=8, max_calls=2)
    for seed in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ChatWarning)  # DeepSeek V3 prints no tools
            messages = converse(decoder, seed)
            reply = decoder.chat(messages, TOOLS, "none")
        assert reply.finish_reason in ("stop", "length")
        ids = [call["id"] for message in messages for call in message.get("tool_calls", [])]
        assert len(ids) == len({*ids}) >= 2
        assert all(str(message["content"]) for message in messages)


@pytest.mark.parametrize("chat_template", TEMPLATES)
def test_the_template_writes_the_call_as_it_was_decoded(chat_template: Any) -> None:
    """The reader of the format finds the same call in the prompt of the next turn."""
    decoder = decoder_of(chat_template(), format=detect_format(decoder_of(chat_template()).tokenizer).name)
    random_logits(decoder, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChatWarning)
        reply = decoder.chat([{"role": "user", "content": "Stop."}], TOOLS, "book_table", max_calls=1)
    [call] = reply.calls
    messages = [{"role": "user", "content": "Stop."}, reply.message]
    messages.append({"role": "tool", "tool_call_id": reply.ids[0], "content": "ok"})
    from tooldecoding.chat.rendering import conversation_prompt

    habits = habits_of(decoder.tokenizer)
    text = conversation_prompt(read_messages(messages), TOOLS, habits, decoder.tokenizer)
    assert "&#34;" not in text and "&quot;" not in text
    assert call.name in text and all(key in text for key in call.arguments)


FOREIGN = [
    {"role": "user", "content": "Two of them."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": f"toolu_{n}", "type": "function", "function": {"name": "stop", "arguments": "{}"}} for n in (1, 2)
        ],
    },
    {"role": "tool", "tool_call_id": "toolu_2", "content": "second result"},
    {"role": "tool", "tool_call_id": "toolu_1", "content": "first result"},
]


@pytest.mark.parametrize("name", [name for name in ORIGINALS if not name.startswith(("llama", "gptoss"))])
def test_ids_of_others_are_written_in_the_form_of_the_template(name: str) -> None:
    decoder = decoder_of(original(name), format="hermes")
    random_logits(decoder, 1)
    before = json.dumps(FOREIGN)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChatWarning)
        decoder.chat(FOREIGN, TOOLS, "none", max_text_tokens=1)
    assert json.dumps(FOREIGN) == before, "the user's messages do not change"
