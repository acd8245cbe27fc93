"""Every field of OpenAI's chat completions is supported, or refused by name; none is ignored in silence."""

from typing import Any

import pytest

from running_server import ROME, TOOLS, Running, error_of

params = pytest.importorskip("openai.types.chat.completion_create_params", reason="openai is not installed")

FIELDS = sorted(params.CompletionCreateParamsBase.__annotations__.keys() | {"stream"})
NONE = {"tool_choice": "none", "max_tokens": 2}

SUPPORTED: dict[str, Any] = {
    "max_completion_tokens": 2,
    "max_tokens": 2,
    "messages": ROME,
    "model": "reference",
    "parallel_tool_calls": False,
    "response_format": {"type": "text"},
    "safety_identifier": "someone",
    "seed": 1,
    "stop": "x",
    "stream": False,
    "stream_options": None,
    "temperature": 0.5,
    "tool_choice": "none",
    "tools": TOOLS,
    "top_p": 0.5,
    "user": "someone",
}
"""A value that each supported field takes."""

ASKING: dict[str, list[Any]] = {
    "audio": [{"voice": "alloy", "format": "mp3"}],
    "frequency_penalty": [0.5, True],
    "function_call": ["auto", {"name": "get_weather"}],
    "functions": [[], [{"name": "get_weather"}]],
    "logit_bias": [{"50256": -100}, []],
    "logprobs": [True, 0],
    "metadata": [{"a": "b"}],
    "modalities": [["audio"], ["text", "audio"], []],
    "n": [2, 0, True, "1"],
    "presence_penalty": [-0.5],
    "reasoning_effort": ["low"],
    "service_tier": ["flex"],
    "store": [True],
    "top_logprobs": [5],
}
"""Values that ask for something that is not supported; of any other field every value does."""

NEUTRAL: dict[str, list[Any]] = {
    "frequency_penalty": [0, 0.0],
    "logit_bias": [{}],
    "logprobs": [False],
    "metadata": [{}],
    "modalities": [["text"]],
    "n": [1],
    "presence_penalty": [0, 0.0],
    "service_tier": ["auto", "default"],
    "store": [False],
    "top_logprobs": [0],
}
"""Values that ask for nothing; null asks for nothing anywhere."""


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_is_supported_or_refused_by_name(server: Running, name: str) -> None:
    if name in SUPPORTED:
        assert server.ask(**NONE | {name: SUPPORTED[name]}).status_code == 200
        return
    for value in ASKING.get(name, ["something"]):
        told = error_of(server.ask(**NONE, **{name: value}), 400)
        assert (told["type"], told["param"], told["code"]) == ("invalid_request_error", name, "unsupported_parameter")
        assert name in told["message"]


def test_a_value_that_asks_for_nothing_passes(server: Running) -> None:
    nulls: dict[str, Any] = dict.fromkeys(FIELDS)
    assert server.ask(**NONE, **{name: None for name in nulls if name not in SUPPORTED}).status_code == 200
    for name, values in NEUTRAL.items():
        for value in values:
            assert server.ask(**NONE, **{name: value}).status_code == 200, (name, value)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"best_of": 2}, "best_of"),
        ({"guided_json": {}}, "guided_json"),
        ({"tooldecoding": {"votes": 3}}, "tooldecoding.votes"),
        ({"stream": True, "stream_options": {"include_all": True}}, "stream_options.include_all"),
        ({"x" * 10_000: 1}, "x" * 60),
        ({"\ud800": 1}, "\ud800"),
        ({"__proto__": {}}, "__proto__"),
    ],
)
def test_an_unknown_field_is_refused_by_name(server: Running, fields: dict[str, Any], param: str) -> None:
    told = error_of(server.ask(**fields), 400)
    assert (told["param"], told["code"]) == (param, "unknown_parameter")
    assert len(told["message"]) < 300


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"temperature": 3}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"max_completion_tokens": -1}, "max_completion_tokens"),
        ({"stop": ["a", "b", "c", "d", "e"]}, "stop"),
        ({"seed": 2**70}, "seed"),
        ({"stream": "yes"}, "stream"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        ({"stream": True, "stream_options": {"include_obfuscation": True}}, "stream_options.include_obfuscation"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "messages"),
        ({"tools": {}}, "tools"),
        ({"tools": [{"type": "web_search"}]}, "tools"),
        ({"tools": ["def get_weather(city: str): ..."]}, "tools"),
        ({"tools": [TOOLS[0]["function"]]}, "tools"),
        ({"tools": [*TOOLS, TOOLS[0]]}, "tools"),
        ({"tools": [*TOOLS, {"type": "custom", "custom": {"name": "code"}}]}, "tools"),
        ({"tools": None, "tool_choice": "required"}, "tool_choice"),
        ({"tool_choice": {"type": "function", "function": {"name": "unknown"}}}, "tool_choice"),
        ({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}}, "tool_choice"),
        ({"tool_choice": 7}, "tool_choice"),
        ({"response_format": {"type": "json_object", "strict": True}}, "response_format"),
        ({"response_format": {"type": "json_schema", "json_schema": {"strict": "yes"}}}, "response_format"),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "array"}}}}, "response_format"),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}}, "response_format"),
        ({"tooldecoding": {"order_limit": "4"}}, "tooldecoding.order_limit"),
        ({"tooldecoding": {"stopping": "never"}}, "tooldecoding.stopping"),
        ({"tooldecoding": []}, "tooldecoding"),
    ],
)
def test_a_wrong_value_is_told_with_its_field(server: Running, fields: dict[str, Any], param: str) -> None:
    told = error_of(server.ask(**fields), 400)
    assert told["type"] == "invalid_request_error" and told["code"] == "invalid_value"
    assert told["param"] == param or told["param"].startswith(f"{param}.")


@pytest.mark.parametrize("name", ["model", "messages"])
def test_a_missing_field_is_told(server: Running, name: str) -> None:
    content = {"model": "reference", "messages": ROME}
    del content[name]
    answer = server.http.post("/v1/chat/completions", json=content)
    told = error_of(answer, 400)
    assert (told["param"], told["code"]) == (name, "missing_required_parameter")
