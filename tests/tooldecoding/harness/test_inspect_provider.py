"""The model provider of inspect_ai. Runs where inspect_ai is installed (extra ``inspect``)."""

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="needs the extra inspect")

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    GenerateConfig,
    Model,
    get_model,
)
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import ToolCall, ToolFunction, ToolInfo, tool
from inspect_ai.tool._tool_params import ToolParams
from inspect_ai.util import JSONSchema

from tooldecoding import ToolDecoder
from tooldecoding.errors import ConfigError, ModelError, PromptError
from tooldecoding.harness.inspect_provider import ToolDecodingAPI, decode_fields, openai_message

WEATHER = ToolInfo(
    name="get_weather",
    description="The weather in a city.",
    parameters=ToolParams(
        properties={"city": JSONSchema(type="string"), "days": JSONSchema(type="integer")}, required=["city", "days"]
    ),
)
OPENAI = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city", "days"],
            "additionalProperties": False,
        },
    },
}
ASKED = "What is the weather in Rome for the next 3 days?"


@pytest.fixture(scope="module")
def model() -> Model:
    return get_model("tooldecoding/reference", order_limit=2, max_text_tokens=16)


def ask(model: Model, *messages: Any, choice: Any = "any", **config: Any) -> Any:
    tools = [WEATHER]
    return asyncio.run(model.generate(list(messages), tools, choice, GenerateConfig(**config)))


def test_the_same_call_as_the_decoder(model: Model) -> None:
    output = ask(model, ChatMessageUser(content=ASKED))
    assert isinstance(model.api, ToolDecodingAPI)
    decoder: ToolDecoder = model.api._decoder
    wanted = decoder.chat([{"role": "user", "content": ASKED}], [OPENAI], "required")
    [call] = output.message.tool_calls
    assert (call.function, call.arguments) == (wanted.calls[0].name, wanted.calls[0].arguments)
    assert call.id == wanted.ids[0] and output.stop_reason == "tool_calls"
    [votes] = output.message.metadata["tooldecoding"]["calls"]
    assert [p["name"] for p in votes["parameters"]] == ["city", "days"]
    assert output.usage.input_tokens + output.usage.output_tokens == output.usage.total_tokens
    assert output.usage.output_tokens == len(wanted.result.token_ids)


def test_choices(model: Model) -> None:
    asked = ChatMessageUser(content=ASKED)
    assert ask(model, asked, choice=ToolFunction("get_weather")).message.tool_calls
    text = ask(model, asked, choice="none", max_tokens=4)
    assert not text.message.tool_calls and text.stop_reason == "max_tokens"
    assert 0 < text.usage.output_tokens <= 4


def test_a_conversation_goes_on(model: Model) -> None:
    call = ToolCall(id="call_0000", function="get_weather", arguments={"city": "Rome", "days": 3})
    messages = [
        ChatMessageUser(content=ASKED),
        ChatMessageAssistant(content="", tool_calls=[call]),
        ChatMessageTool(content="sunny", tool_call_id="call_0000", function="get_weather"),
        ChatMessageUser(content="And in Paris?"),
    ]
    [second] = ask(model, *messages).message.tool_calls
    assert second.id != "call_0000"
    shown = openai_message(messages[1])
    assert json.loads(shown["tool_calls"][0]["function"]["arguments"]) == {"city": "Rome", "days": 3}


@pytest.mark.parametrize(
    "config", [{"logprobs": True}, {"num_choices": 2}, {"logit_bias": {1: 1.0}}, {"reasoning_effort": "low"}]
)
def test_what_cannot_be_honoured_is_refused(config: Any) -> None:
    with pytest.raises(ConfigError, match=next(iter(config))):
        decode_fields(GenerateConfig(**config))


def test_what_is_honoured() -> None:
    config = GenerateConfig(
        max_tokens=5, temperature=0.5, top_p=0.9, top_k=3, seed=7, stop_seqs=["x"], parallel_tool_calls=False, timeout=9
    )
    wanted = {"max_tokens": 5, "temperature": 0.5, "top_p": 0.9, "top_k": 3, "seed": 7, "stop": ("x",), "max_calls": 1}
    assert decode_fields(config) == wanted


def test_wrong_inputs() -> None:
    with pytest.raises(PromptError, match="image"):
        openai_message(ChatMessageUser(content=[ContentImage(image="data:image/png;base64,AA==")]))
    with pytest.raises(ModelError, match="no model folder"):
        get_model("tooldecoding/./none")
    with pytest.raises(ConfigError, match="ordres"):
        get_model("tooldecoding/reference", ordres=3)


@tool
def get_weather() -> Any:
    async def execute(city: str, days: int) -> str:
        """The weather in a city.

        Args:
            city: The city.
            days: How many days.
        """
        return f"sunny in {city}"

    return execute


def test_a_task(model: Model, tmp_path: Any) -> None:
    task = Task(
        dataset=[Sample(input=ASKED, target="sunny in")],
        solver=[use_tools([get_weather()], tool_choice=ToolFunction("get_weather")), generate(tool_calls="single")],
        scorer=includes(),
    )
    [log] = eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "success" and log.samples
    assert any(message.role == "tool" and "sunny in" in message.text for message in log.samples[0].messages)
