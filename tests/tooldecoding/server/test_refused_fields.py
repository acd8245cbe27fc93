"""Every field of OpenAI's chat completions is supported, or refused by name; none is ignored in silence."""

import json
from typing import Any

import pytest

from running_server import ROME, TOOLS, Running, body, error_of

params = pytest.importorskip("openai.types.chat.completion_create_params", reason="openai is not installed")

NONE = {"tool_choice": "none", "max_tokens": 2}
TAKEN: dict[str, list[Any]] = {
    "frequency_penalty": [0, 0.0],
    "logit_bias": [{}],
    "logprobs": [False],
    "max_completion_tokens": [2],
    "max_tokens": [2],
    "messages": [ROME],
    "metadata": [{}],
    "modalities": [["text"]],
    "model": ["reference"],
    "n": [1],
    "parallel_tool_calls": [False],
    "presence_penalty": [0, 0.0],
    "response_format": [{"type": "text"}],
    "safety_identifier": ["someone"],
    "seed": [1],
    "service_tier": ["auto", "default"],
    "stop": ["x"],
    "store": [False],
    "stream": [False],
    "stream_options": [None],
    "temperature": [0.5],
    "tool_choice": ["none"],
    "tools": [TOOLS],
    "top_logprobs": [0],
    "top_p": [0.5],
    "user": ["someone"],
}
"""Values that pass, as they are supported or ask for nothing."""
REFUSED: dict[str, list[Any]] = {
    "frequency_penalty": [0.5, True],
    "functions": [[], [{"name": "get_weather"}]],
    "logit_bias": [{"50256": -100}, []],
    "logprobs": [True, 0],
    "metadata": [{"a": "b"}],
    "modalities": [["audio"], ["text", "audio"], []],
    "n": [2, 0, True, "1"],
    "presence_penalty": [-0.5],
    "service_tier": ["flex"],
    "store": [True],
    "top_logprobs": [5],
}
"""Values that ask for something that is not supported; of a field that no table has, every value but null does."""


@pytest.mark.parametrize("name", sorted(params.CompletionCreateParamsBase.__annotations__.keys() | {"stream"}))
def test_a_field_is_supported_or_refused_by_name(server: Running, name: str) -> None:
    supported = name in TAKEN and name not in REFUSED
    for value in TAKEN.get(name, []) + ([] if supported else [None]):
        assert server.ask(**NONE | {name: value}).status_code == 200, value
    for value in REFUSED.get(name, [] if supported else ["something"]):
        told = error_of(server.ask(**NONE, **{name: value}), 400)
        assert (told["type"], told["param"], told["code"]) == ("invalid_request_error", name, "unsupported_parameter")
        assert name in told["message"]


UNKNOWN: list[tuple[dict[str, Any], str]] = [
    ({"best_of": 2}, "best_of"),
    ({"guided_json": {}}, "guided_json"),
    ({"tooldecoding": {"votes": 3}}, "tooldecoding.votes"),
    ({"stream": True, "stream_options": {"include_all": True}}, "stream_options.include_all"),
    ({"x" * 10_000: 1}, "x" * 60),
    ({"\ud800": 1}, "\ud800"),
    ({"__proto__": {}}, "__proto__"),
]
WRONG: list[tuple[dict[str, Any], str]] = [
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
]
MISSING: list[tuple[dict[str, Any], str]] = [({"model": ...}, "model"), ({"messages": ...}, "messages")]


@pytest.mark.parametrize(
    ("fields", "param", "code"),
    [
        *((*each, "unknown_parameter") for each in UNKNOWN),
        *((*each, "invalid_value") for each in WRONG),
        *((*each, "missing_required_parameter") for each in MISSING),
    ],
)
def test_what_is_wrong_is_told_with_its_field(server: Running, fields: dict[str, Any], param: str, code: str) -> None:
    given = {name: value for name, value in body(**fields).items() if value is not ...}
    told = error_of(server.send(json.dumps(given)), 400)
    assert (told["type"], told["code"]) == ("invalid_request_error", code)
    assert told["param"] == param or (code == "invalid_value" and told["param"].startswith(f"{param}."))
    assert len(told["message"]) < 300
