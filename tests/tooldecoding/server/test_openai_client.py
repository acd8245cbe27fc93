"""The openai package against the server: what its users count on, streamed and not."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from running_server import HELLO, MODEL, ROME, TOOLS, in_schema, running, tool
from tooldecoding.decoder import ToolDecoder
from tooldecoding.options import DecodeOptions
from tooldecoding.server.chat_body import Extension
from tools import documented

openai = pytest.importorskip("openai", reason="openai is not installed")
streaming = pytest.importorskip("openai.lib.streaming.chat", reason="openai is not installed")

NAMED = {"type": "function", "function": {"name": "book_table"}}
ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [NAMED]}}
PLACE = documented("x", city={"type": "string", "pattern": "^[a-z]{1,6}$"}, zip={"type": "integer", "minimum": 10000})
CLOSED = {"additionalProperties": False}
PARTS = {
    "place": PLACE["parameters"] | CLOSED,
    "value": {"anyOf": [{"type": "boolean"}, {"type": "integer", "minimum": 0}]},
    "city": {"type": "string", "maxLength": 8},
    "naïve key": {"type": "boolean"},
    'a"b': {"enum": [1, 2, 3]},
}
SCHEMA = documented("x", ["place", "value", "city", 'a"b'], **PARTS)["parameters"] | CLOSED
AS_SCHEMA, AS_OBJECT = in_schema(SCHEMA, strict=True), {"type": "json_object"}
NODE = documented("x", ["city"], city={"type": "string", "maxLength": 8}, next={"$ref": "#/$defs/Node"})["parameters"]
REFERRED: list[dict[str, Any]] = [  # as pydantic writes a recursive model, zod a named schema
    {"$defs": {"Node": NODE | CLOSED}, "$ref": "#/$defs/Node"},
    {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"x": SCHEMA}, "$ref": "#/definitions/x"},
    {"$defs": {"Node": NODE}, "allOf": [{"$ref": "#/$defs/Node"}, {"properties": {"days": {"type": "integer"}}}]},
]
SMALL = documented("x", ["city"], city={"type": "string", "maxLength": 8})["parameters"] | CLOSED
IN_JSON = [{"role": "user", "content": "The weather in Rome for 3 days, as JSON with the keys city and days."}]

TWO = [{"role": "user", "content": "What is the weather in Rome for 3 days? And in Paris for 2 days?"}]
CALLING = {"tools": TOOLS, "tool_choice": "required"}
REQUESTS: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "auto": ({"tools": TOOLS}, "tool_calls", ["get_weather"]),
    "required": (CALLING, "tool_calls", ["get_weather"]),
    "named": ({"tools": TOOLS, "tool_choice": NAMED}, "tool_calls", ["book_table"]),
    "allowed": ({"tools": TOOLS, "tool_choice": ALLOWED}, "tool_calls", ["book_table"]),
    "one call": (CALLING | {"messages": TWO, "parallel_tool_calls": False}, "tool_calls", ["get_weather"]),
    "several calls": (CALLING | {"messages": TWO}, "tool_calls", ["get_weather"] * 2),
    "optional": (CALLING | {"tools": [tool("get_time", [], zone={"type": "string"})]}, "tool_calls", ["get_time"]),
    "none": ({"tools": TOOLS, "tool_choice": "none", "max_tokens": 12}, "length", []),
    "sampled": ({"messages": HELLO, "max_tokens": 12, "temperature": 1.0, "top_p": 0.9, "seed": 7}, "length", []),
    "stopped": ({"messages": HELLO, "max_tokens": 12, "stop": ["[", "a"]}, "stop", []),
    "cut call": (CALLING | {"max_tokens": 3}, "length", []),
    "cut text": ({"messages": HELLO, "max_completion_tokens": 1}, "length", []),
    "schema": ({"response_format": AS_SCHEMA}, "length", []),  # the model writes a number without end, and then objects
    **{f"referred {n}": ({"response_format": in_schema(each, True)}, "length", []) for n, each in enumerate(REFERRED)},
    "small schema": ({"response_format": in_schema(SMALL, strict=True)}, "stop", []),
    "cut schema": ({"response_format": AS_SCHEMA, "max_tokens": 2}, "length", []),
    "cut object": ({"messages": IN_JSON, "response_format": AS_OBJECT, "max_tokens": 20}, "length", []),
    "object": (CALLING | {"messages": IN_JSON, "response_format": AS_OBJECT, "tool_choice": "none"}, "length", []),
}
"""Every kind of request, how its answer ends, and what it calls; unless it says otherwise, it asks for the weather."""


def ask(client: Any, **fields: Any) -> Any:
    return client.chat.completions.create(**{"model": MODEL, "messages": ROME} | fields)


def shape(calls: Any) -> list[tuple[str, str, str, int]]:
    """Of each call all but its id, which is another one in each answer."""
    return [(call.type, call.function.name, call.function.arguments, len(call.id)) for call in calls or []]


@pytest.mark.parametrize("name", REQUESTS)
def test_an_answer_is_as_asked_for_and_its_stream_adds_up_to_it(client: Any, reference: ToolDecoder, name: str) -> None:
    request, reason, names = REQUESTS[name]
    answer = ask(client, **request)
    assert answer.object == "chat.completion" and answer.id.startswith("chatcmpl-") and answer.model == MODEL
    [whole] = answer.choices
    assert (whole.message.role, whole.finish_reason) == ("assistant", reason)
    calls, content = whole.message.tool_calls or [], whole.message.content
    assert [call.function.name for call in calls] == names
    assert len({call.id for call in calls}) == len(calls)
    for call in calls:
        assert len(call.id) >= 9 and call.type == "function" and content is None
        [asked] = [each["function"] for each in request["tools"] if each["function"]["name"] == call.function.name]
        Draft202012Validator(asked["parameters"]).validate(json.loads(call.function.arguments))
    if "response_format" in request and name != "cut schema":
        schema = request["response_format"].get("json_schema", {"schema": {"type": "object"}})["schema"]
        Draft202012Validator(schema).validate(json.loads(content))
    most = request.get("max_tokens") or request.get("max_completion_tokens")
    assert most is None or answer.usage.completion_tokens <= most

    # where no call may be made, no tool is printed
    given = request.get("messages", ROME), None if request.get("tool_choice") == "none" else request.get("tools")
    text = reference.tokenizer.apply_chat_template(*given, add_generation_prompt=True, tokenize=False)
    prompt = len(reference.tokenizer(text, add_special_tokens=False).input_ids)
    assert answer.usage.prompt_tokens == prompt and answer.usage.total_tokens == prompt + answer.usage.completion_tokens

    for counted in (False, True):
        options = {"stream_options": {"include_usage": True}} if counted else {}
        chunks, state = [*ask(client, **request, stream=True, **options)], streaming.ChatCompletionStreamState()
        for chunk in chunks:
            state.handle_chunk(chunk)
        [streamed] = state.current_completion_snapshot.choices
        assert (streamed.finish_reason, streamed.message.content) == (reason, content)
        assert shape(streamed.message.tool_calls) == shape(calls)
        assert len({(chunk.id, chunk.created, chunk.model) for chunk in chunks}) == 1
        assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
        choices = [choice for chunk in chunks for choice in chunk.choices]
        assert {choice.index for choice in choices} == {0}
        assert [choice.delta.role for choice in choices] == ["assistant", *[None] * (len(choices) - 1)]
        assert [choice.finish_reason for choice in choices] == [*[None] * (len(choices) - 1), reason]
        usages = [chunk.usage for chunk in chunks if chunk.usage is not None]
        assert [usage.completion_tokens for usage in usages] == [answer.usage.completion_tokens] * counted
        assert not counted or (chunks[-1].usage.prompt_tokens, chunks[-1].choices) == (prompt, [])


def test_a_seed_repeats_an_answer(client: Any) -> None:
    sampled = {"messages": HELLO, "max_tokens": 12, "temperature": 1.5}
    texts = [ask(client, **sampled, seed=seed).choices[0].message.content for seed in (1, 1, 2, 3, 4)]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 1
    for sampling, differs in (({}, False), ({"temperature": 0, "top_p": 0.9}, False), ({"temperature": 2}, True)):
        texts = [ask(client, messages=HELLO, max_tokens=12, **sampling).choices[0].message.content for _ in range(3)]
        assert (len(set(texts)) > 1) == differs


def test_a_result_is_sent_back(client: Any) -> None:
    said = ask(client, **CALLING).choices[0].message
    [call] = said.tool_calls
    result = {"role": "tool", "tool_call_id": call.id, "content": '{"sky": "sunny", "degrees": 31}'}
    for message in (said, said.to_dict(), said.model_dump()):
        history = [*ROME, message, result, {"role": "assistant", "content": "Sunny."}, *ROME]
        [again] = ask(client, messages=history, **CALLING).choices[0].message.tool_calls
        assert again.id != call.id


def test_a_key_is_wanted(reference: ToolDecoder) -> None:
    with running(reference, api_key="secret-é") as guarded:
        assert guarded.http.get("/health").status_code == 200
        for key, known in (("Bearer secret-é", True), ("Bearer secret", False), ("Bearer", False), ("secret-é", False)):
            answer = guarded.http.get("/v1/models", headers={"Authorization": key.encode()})
            assert answer.status_code == (200 if known else 401)
        client = openai.OpenAI(base_url=f"{guarded.url}/v1", api_key="wrong", max_retries=0)
        with pytest.raises(openai.AuthenticationError) as told:
            ask(client)
        assert told.value.code == "invalid_api_key"


def test_the_extension_goes_in_and_comes_out(client: Any) -> None:
    extension = {"order_limit": 2, "min_confidence": 0.001, "tokens": True}
    request = CALLING | {"extra_body": {"tooldecoding": extension}}
    whole = ask(client, **request).tooldecoding
    *_, last = ask(client, **request, stream=True)
    last.tooldecoding["counters"] = whole["counters"]  # seconds, and what the prefix cache has, differ
    assert last.tooldecoding == whole
    [call] = whole["calls"]
    assert call["orders_used"] == 2
    assert {p["name"]: p["value"] for p in call["parameters"]}.keys() == {"city", "days"}
    for parameter in call["parameters"]:
        assert 0 <= parameter["share"] <= 1 and not parameter["needs_confirmation"]
    assert 0.001 < call["confidence"] < 1 and not call["needs_confirmation"]
    for candidate in whole["candidates"]:
        assert "".join(token["text"] for token in candidate["tokens"]).find(candidate["text"]) >= 0
        assert {token["label"] for token in candidate["tokens"]} <= {"free", "forced", "constrained"}
    assert whole["valid"] and whole["errors"] == []


def test_a_request_asks_for_more_than_the_server_and_not_for_less() -> None:
    for served, given, ask in [
        ("never", {}, "never"),
        (None, {}, "ungrounded"),
        (None, {"min_confidence": 0.5}, "both"),
        (None, {"require_grounded": False}, "never"),
        ("ungrounded", {"min_confidence": 0.5}, "both"),
        ("unsure", {"require_grounded": False}, "unsure"),
        ("both", {"require_grounded": False}, "unsure"),
    ]:
        assert Extension(**given).options(DecodeOptions(ask=served))["ask"] == ask
    assert Extension().options(DecodeOptions(tool_choice="required"))["ask"] == "never"


def test_a_call_becomes_a_question_where_it_must_be_grounded(client: Any) -> None:
    request = CALLING | {"messages": HELLO, "extra_body": {"tooldecoding": {"require_grounded": True}}}
    answer, chunks = ask(client, **request), [*ask(client, **request, stream=True)]
    [whole] = answer.choices
    [asked] = [answer.tooldecoding["asked"]]
    assert (whole.finish_reason, whole.message.tool_calls) == ("stop", None)
    assert whole.message.content.endswith("?")
    assert all(key.replace("_", " ") in whole.message.content for key in asked["ungrounded"])
    assert "".join(c.delta.content or "" for chunk in chunks for c in chunk.choices) == whole.message.content
    assert chunks[-1].tooldecoding["asked"]["ungrounded"] == asked["ungrounded"] != []
    assert ask(client, **request | {"messages": ROME}).choices[0].finish_reason == "tool_calls"
    assert ask(client, **request, max_tokens=3).choices[0].finish_reason == "length"


@pytest.mark.parametrize(
    ("options", "shown", "also"),
    [
        ({"model": "models/Qwen3-0.6B"}, ["Qwen3-0.6B"], ["models/Qwen3-0.6B"]),
        ({"model": "/srv/v7/", "served_model_name": ("gpt-4o", "chat/small")}, ["gpt-4o", "chat/small"], ["/srv/v7/"]),
    ],
)
def test_a_model_has_short_names(
    reference: ToolDecoder, options: dict[str, Any], shown: list[str], also: list[str]
) -> None:
    with running(reference, **options) as named:
        client = openai.OpenAI(base_url=f"{named.url}/v1", api_key="any", max_retries=0)
        assert [model.id for model in client.models.list()] == shown
        for name in (*shown, *also):
            assert client.models.retrieve(name).id == name
            assert client.chat.completions.create(model=name, messages=HELLO, max_tokens=1).model == shown[0]
        for name in ("other", "", "models"):
            with pytest.raises(openai.NotFoundError, match=shown[-1]) as told:
                client.chat.completions.create(model=name, messages=HELLO, max_tokens=1)
            assert (told.value.param, told.value.code) == ("model", "model_not_found")
            assert told.value.type and told.value.request_id
