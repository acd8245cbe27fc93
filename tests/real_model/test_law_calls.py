"""Law: under default options a real model makes as many calls as it writes freely, read by a lenient reader."""

import json

import pytest

from real_model.models import MODELS, model_name, real_model
from tooldecoding.chat.chat import chat_request
from tooldecoding.chat.messages import read_messages
from tooldecoding.chat.tools import read_tools
from tooldecoding.decoder import ToolDecoder
from tooldecoding.options import DecodeOptions
from tools import documented

TOOLS = [
    documented("get_weather", ["city"], city={"type": "string"}, days={"type": "integer"}),
    documented("set_timer", ["minutes"], minutes={"type": "integer"}),
    documented("send_message", ["to", "text"], to={"type": "string"}, text={"type": "string"}),
]
QUESTIONS = [
    "What is the weather in Rome for the next 3 days?",
    "Timer for 5 minutes, please.",
    "Tell Bob that I will be late.",
    "Timers for 5 and for 7 minutes, please.",
    "What is the weather in Rome, and what in Oslo?",
    "Hello, how are you?",
    "What is 2+2?",
    "Write a haiku about rain.",
]
LONGEST = 128


def leniently_read(text: str) -> int:
    """How many calls of the tools stand in a text, as JSON objects in whatever surrounds them."""
    names, count, place = {tool["name"] for tool in TOOLS}, 0, text.find("{")
    while place >= 0:
        try:
            found, end = json.JSONDecoder().raw_decode(text, place)
            count += found.get("name") in names and isinstance(found.get("arguments", found.get("parameters")), dict)
        except json.JSONDecodeError:
            end = place + 1
        place = text.find("{", end)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("path", MODELS, ids=model_name)
def test_as_many_calls_as_the_model_writes_freely(path: str) -> None:
    model, tokenizer = real_model(path)
    decoder, called = ToolDecoder(model, tokenizer), 0
    for question in QUESTIONS:
        messages = [{"role": "user", "content": question}]
        prompt = str(chat_request(read_messages(messages), read_tools(TOOLS), DecodeOptions(), tokenizer).prompt)
        asked = tokenizer(prompt, add_special_tokens=False, return_tensors="pt").to(model.device)
        [out] = model.generate(**asked, do_sample=False, max_new_tokens=LONGEST)
        free = tokenizer.decode(out[asked["input_ids"].shape[1] :])
        reply = decoder.chat(messages, TOOLS, max_text_tokens=LONGEST, order_limit=1)
        assert reply.valid and len(reply.calls) == leniently_read(free), (question, free, str(reply))
        called += len(reply.calls)
        required = decoder.chat(messages, TOOLS, "required", order_limit=1)
        assert required.valid and len(required.calls) == max(1, leniently_read(free)), (question, free, str(required))
    assert called or "smollm2" in path  # it opens no call by itself
