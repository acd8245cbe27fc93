"""Every field of OpenAI's chat completions is supported, or refused by name, as those of Open Responses are."""

import json
from typing import Any

import pytest

from running_server import MODEL, PATH, RESPONSES, ROME, TOOLS, Running, body, error_of, in_schema

params = pytest.importorskip("openai.types.chat.completion_create_params", reason="openai is not installed")

FIELDS = params.CompletionCreateParamsBase.__annotations__.keys() | {"stream"}
TAKEN: dict[str, list[Any]] = {
    "frequency_penalty": [0, 0.0], "logit_bias": [{}], "logprobs": [False], "max_completion_tokens": [2],
    "max_tokens": [2], "messages": [ROME], "metadata": [{}, {"a": "b"}], "modalities": [["text"]],
    "model": ["reference"], "n": [1],
    "parallel_tool_calls": [False], "presence_penalty": [0, 0.0], "response_format": [{"type": "text"}],
    "prediction": [{"type": "content", "content": "x"}], "prompt_cache_key": ["x"], "prompt_cache_options": [{}],
    "prompt_cache_retention": ["24h"], "reasoning_effort": ["none", "minimal", "high"],
    "safety_identifier": ["someone"], "seed": [1], "service_tier": ["auto", "default", "flex", "priority"],
    "stop": ["x"], "store": [False, True],
    "stream": [False], "stream_options": [None], "temperature": [0.5], "tool_choice": ["none"], "tools": [TOOLS],
    "top_logprobs": [0], "top_p": [0.5], "user": ["someone"], "verbosity": ["low"],
}  # fmt: skip
"""Values that pass, as they are supported or ask for nothing."""
UNSUPPORTED: dict[str, list[Any]] = {
    "frequency_penalty": [0.5, True], "functions": [[], [{"name": "get_weather"}]], "logit_bias": [{"50256": -100}, []],
    "logprobs": [True, 0], "modalities": [["audio"], ["text", "audio"], []], "n": [2, 0, True, "1"],
    "presence_penalty": [-0.5], "top_logprobs": [5],
} | {name: ["something"] for name in FIELDS - TAKEN.keys() - {"functions"}}  # fmt: skip
"""Values that ask for something that is not supported; of a field that no table has, every value but null does."""
WRONG: dict[str, dict[str, list[Any]]] = {
    "unsupported_parameter": UNSUPPORTED,
    "unknown_parameter": {
        "best_of": [2],
        "guided_json": [{}],
        "tooldecoding.votes": [3],
        "stream_options.include_all": [True],
        "x" * 10_000: [1],
        "\ud800": [1],
        "__proto__": [{}],
    },
    "invalid_value": {
        "temperature": [3],
        "top_p": [0],
        "max_tokens": [1.5, True],
        "max_completion_tokens": [-1],
        "stop": [["a", "b", "c", "d", "e"]],
        "seed": [2**70],
        "store": ["yes"],
        "metadata": ["x"],
        "verbosity": [1],
        "stream": ["yes"],
        "stream_options": [{"include_usage": True}],
        "stream_options.include_obfuscation": [True],
        "messages": [[], [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]],
        "tools": [
            {},
            [{"type": "web_search"}],
            [{"type": "function", "function": {"name": "get_weather", "paramters": {}}}],
            [{**TOOLS[0], "strict": True}],
            ["def get_weather(city: str): ..."],
            [TOOLS[0]["function"]],
            [*TOOLS, TOOLS[0]],
            [*TOOLS, {"type": "custom", "custom": {"name": "code"}}],
        ],
        "tool_choice": [
            {"type": "function", "function": {"name": "unknown"}},
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}},
            7,
        ],
        "response_format": [
            {"type": "json_object", "strict": True},
            {"type": "json_schema", "json_schema": {"strict": "yes"}},
            in_schema({"type": "array"}),
            in_schema({"type": "array", "properties": {"a": {}}}),
            in_schema({"$defs": {"a": {"type": "array"}}, "$ref": "#/$defs/a"}),
            in_schema({}),
        ],
        "tooldecoding": [[]],
        "tooldecoding.order_limit": ["4"],
        "tooldecoding.orders": ["never"],
    },
}
"""Code of an error -> field -> values; a point leads into an object."""
OF_RESPONSES: dict[str, dict[str, list[Any]]] = {
    "previous_response_not_found": {"previous_response_id": ["resp_1"]},
    "model_not_found": {"model": ["other"]},
    "unknown_parameter": {"inputs": ["x"]},
    "invalid_value": {
        "background": [True],
        "input": [
            [],
            [{"type": "item_reference", "id": "x"}],
        ],
        "tools": [[{"type": "web_search"}]],
        "tool_choice": [{"type": "function", "name": "nope"}],
        "max_output_tokens": [3],
        "text.format": [{"type": "json_schema", "name": "a"}],
        "tooldecoding.orders": ["none"],
    },
}
ASKED = {
    PATH: body(),
    RESPONSES: {"model": MODEL, "input": "Hi.", "tools": [{"type": "function"} | tool["function"] for tool in TOOLS]},
}
CASES = [(PATH, code, param) for code in WRONG for param in sorted(WRONG[code])]
CASES += [(RESPONSES, code, param) for code in OF_RESPONSES for param in OF_RESPONSES[code]]


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_what_is_supported_or_asks_for_nothing_is_taken(server: Running, name: str) -> None:
    for value in TAKEN.get(name, []) + [None] * (name in UNSUPPORTED):
        assert server.ask(**{"tool_choice": "none", "max_tokens": 2, name: value}).status_code == 200, value


@pytest.mark.parametrize(("path", "code", "param"), CASES, ids=lambda each: each[:30])
def test_what_is_wrong_is_told_with_its_field(server: Running, path: str, code: str, param: str) -> None:
    name, _, inner = param.partition(".")
    for value in (WRONG if path == PATH else OF_RESPONSES)[code][param]:
        content = json.dumps(ASKED[path] | {name: {inner: value} if inner else value})
        told = error_of(server.send(content, path=path), 404 if code == "model_not_found" else 400)
        assert (told["type"] == "invalid_request_error" or code == "model_not_found") and told["code"] == code, value
        assert told["param"] == param[:60] or (code == "invalid_value" and told["param"].startswith(f"{param}."))
        assert len(told["message"]) < 300 and (name in told["message"] or code != "unsupported_parameter")


def test_of_a_field_with_several_types_the_given_one_is_told(server: Running) -> None:
    told = error_of(server.ask(stop=["a", "b", "c", "d", "e"]), 400)
    assert told["param"] == "stop" and "at most 4" in told["message"]


@pytest.mark.parametrize(("path", "name"), [(PATH, "model"), (PATH, "messages"), (RESPONSES, "model")])
def test_what_is_missing_is_told(server: Running, path: str, name: str) -> None:
    content = json.dumps({key: value for key, value in ASKED[path].items() if key != name})
    told = error_of(server.send(content, path=path), 400)
    assert (told["param"], told["code"]) == (name, "missing_required_parameter")
    told = error_of(server.ask(tools=None, tool_choice="required"), 400)
    assert (told["param"], told["code"]) == ("tool_choice", "invalid_value")
