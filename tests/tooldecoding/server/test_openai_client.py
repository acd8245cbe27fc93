"""The openai package against the server: what its users count on, streamed and not."""

import json
from typing import Annotated, Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from running_server import HELLO, MODEL, ROME, TOOLS, in_schema, running, tool
from tooldecoding.decoder import ToolDecoder
from tools import documented

openai = pytest.importorskip("openai", reason="openai is not installed")

NAMED = {"type": "function", "function": {"name": "book_table"}}
ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [NAMED]}}
PROPERTIES = {"city": {"type": "string", "maxLength": 8}, "unit": {"enum": ["celsius", "fahrenheit"]}}
AS_SCHEMA = in_schema(documented("x", **PROPERTIES)["parameters"])

TWO = [{"role": "user", "content": "What is the weather in Rome for 3 days? And in Paris for 2 days?"}]
REQUESTS: dict[str, dict[str, Any]] = {
    "auto": {"tools": TOOLS},
    "required": {"tools": TOOLS, "tool_choice": "required"},
    "named": {"tools": TOOLS, "tool_choice": NAMED},
    "allowed": {"tools": TOOLS, "tool_choice": ALLOWED},
    "one call": {"tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": False},
    "none": {"tools": TOOLS, "tool_choice": "none", "max_tokens": 12},
    "text": {"messages": HELLO, "max_tokens": 12},
    "sampled": {"messages": HELLO, "max_tokens": 12, "temperature": 1.0, "top_p": 0.9, "seed": 7},
    "stopped": {"messages": HELLO, "max_tokens": 12, "stop": ["[", "a"]},
    "cut call": {"tools": TOOLS, "tool_choice": "required", "max_tokens": 3},
    "cut text": {"messages": HELLO, "max_tokens": 1},
    "schema": {"response_format": AS_SCHEMA},
    "cut schema": {"response_format": AS_SCHEMA, "max_tokens": 2},
    "several calls": {"messages": TWO, "tools": TOOLS, "tool_choice": "required"},
    "optional": {"tools": [tool("get_time", [], zone={"type": "string"})], "tool_choice": "required"},
}
"""Every kind of request; unless it says otherwise, it asks for the weather in Rome."""


def ask(client: Any, **fields: Any) -> Any:
    return client.chat.completions.create(**{"model": MODEL, "messages": ROME} | fields)


def only_call(answer: Any) -> Any:
    [call] = answer.choices[0].message.tool_calls
    return call


@pytest.mark.parametrize("name", REQUESTS)
def test_a_stream_adds_up_to_the_whole_answer(client: Any, name: str) -> None:
    request = REQUESTS[name]
    [whole] = ask(client, **request).choices
    chunks = list(ask(client, **request, stream=True))

    assert len({(chunk.id, chunk.created, chunk.model) for chunk in chunks}) == 1
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
    choices = [choice for chunk in chunks for choice in chunk.choices]
    assert {choice.index for choice in choices} == {0}
    assert [choice.delta.role for choice in choices] == ["assistant", *[None] * (len(choices) - 1)]
    assert [c.finish_reason for c in choices] == [*[None] * (len(choices) - 1), whole.finish_reason]
    contents = [choice.delta.content for choice in choices if choice.delta.content is not None]
    assert ("".join(contents) if contents else None) == whole.message.content
    assert streamed_calls(choices) == [
        (call.function.name, call.function.arguments) for call in whole.message.tool_calls or []
    ]


def streamed_calls(choices: list[Any]) -> list[tuple[str, str]]:
    """Name and arguments of the calls in a stream: id, type and name come once and whole, then the arguments."""
    calls: list[tuple[str, str]] = []
    for choice in choices:
        for delta in choice.delta.tool_calls or []:
            if delta.id is not None:
                assert delta.index == len(calls) and delta.type == "function" and delta.function.name
                calls.append((delta.function.name, ""))
            else:
                assert delta.type is None and delta.function.name is None
            assert delta.index == len(calls) - 1
            called, arguments = calls[-1]
            calls[-1] = (called, arguments + (delta.function.arguments or ""))
    return calls


@pytest.mark.parametrize("name", ["auto", "required", "named", "allowed", "one call"])
def test_a_call_is_whole_and_fits_its_schema(client: Any, name: str) -> None:
    answer = ask(client, **REQUESTS[name])
    assert answer.object == "chat.completion" and answer.id.startswith("chatcmpl-") and answer.model == MODEL
    [choice] = answer.choices
    assert (choice.message.role, choice.message.content, choice.finish_reason) == ("assistant", None, "tool_calls")
    call = only_call(answer)
    assert len(call.id) >= 9 and call.type == "function"
    called = TOOLS[name in ("named", "allowed")]["function"]
    assert called["name"] == call.function.name
    Draft202012Validator(called["parameters"]).validate(json.loads(call.function.arguments))


@pytest.mark.parametrize("name", ["cut call", "cut text", "cut schema"])
def test_what_is_cut_says_so_and_shows_no_broken_call(client: Any, name: str) -> None:
    answer, limit = ask(client, **REQUESTS[name]), REQUESTS[name]["max_tokens"]
    [choice] = answer.choices
    assert choice.finish_reason == "length" and choice.message.tool_calls is None
    assert answer.usage.completion_tokens <= limit
    newer = ask(client, **REQUESTS[name] | {"max_tokens": openai.omit, "max_completion_tokens": limit})
    assert newer.choices[0].message.content == choice.message.content


def test_a_seed_repeats_an_answer(client: Any) -> None:
    sampled = {"messages": HELLO, "max_tokens": 12, "temperature": 1.5}
    texts = [ask(client, **sampled, seed=seed).choices[0].message.content for seed in (1, 1, 2, 3, 4)]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 1
    for sampling, differs in (({}, False), ({"temperature": 0, "top_p": 0.9}, False), ({"temperature": 2}, True)):
        texts = [ask(client, messages=HELLO, max_tokens=12, **sampling).choices[0].message.content for _ in range(3)]
        assert (len(set(texts)) > 1) == differs


def test_usage_counts_the_tokens_of_the_prompt_and_the_answer(client: Any, reference: ToolDecoder) -> None:
    text = reference.tokenizer.apply_chat_template(ROME, TOOLS, add_generation_prompt=True, tokenize=False)
    prompt = len(reference.tokenizer(text, add_special_tokens=False).input_ids)
    request = REQUESTS["required"]
    usage = ask(client, **request).usage
    assert usage.prompt_tokens == prompt and usage.completion_tokens > 0
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert 0 <= usage.prompt_tokens_details.cached_tokens <= prompt

    *chunks, last = ask(client, **request, stream=True, stream_options={"include_usage": True})
    assert all(chunk.usage is None and chunk.choices for chunk in chunks)
    assert last.choices == []
    assert (last.usage.prompt_tokens, last.usage.completion_tokens) == (prompt, usage.completion_tokens)
    assert all(chunk.usage is None for chunk in ask(client, **request, stream=True))


def test_a_result_is_sent_back(client: Any) -> None:
    answer = ask(client, **REQUESTS["required"])
    call = only_call(answer)
    result = {"role": "tool", "tool_call_id": call.id, "content": '{"sky": "sunny", "degrees": 31}'}
    said = answer.choices[0].message
    for message in (said, said.to_dict(), said.model_dump()):
        history = [*ROME, message, result, {"role": "assistant", "content": "Sunny."}, *ROME]
        assert only_call(ask(client, messages=history, **REQUESTS["required"])).id != call.id


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
    extension = {"order_limit": 2, "min_confidence": 1.0, "tokens": True}
    request = {**REQUESTS["required"], "extra_body": {"tooldecoding": extension}}
    whole = ask(client, **request).tooldecoding
    *_, last = ask(client, **request, stream=True)
    last.tooldecoding["counters"] = whole["counters"]  # seconds, and what the prefix cache has, differ
    assert last.tooldecoding == whole
    [call] = whole["calls"]
    assert call["orders_used"] == call["orders_possible"] == 2
    assert {p["name"]: p["value"] for p in call["parameters"]}.keys() == {"city", "days"}
    for parameter in call["parameters"]:
        assert 0 <= parameter["share"] <= 1 and parameter["needs_confirmation"] == (parameter["confidence"] < 1)
    for candidate in whole["candidates"]:
        assert "".join(token["text"] for token in candidate["tokens"]).find(candidate["text"]) >= 0
        assert {token["label"] for token in candidate["tokens"]} <= {"free", "forced", "constrained"}
    assert whole["valid"] and whole["errors"] == []


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


def test_a_pydantic_model_is_parsed(client: Any) -> None:
    class Forecast(BaseModel):
        city: Annotated[str, Field(max_length=8)]
        days: int

    parsed = client.chat.completions.parse(model=MODEL, messages=ROME, response_format=Forecast)
    assert isinstance(parsed.choices[0].message.parsed, Forecast)
    with client.chat.completions.stream(model=MODEL, messages=ROME, response_format=Forecast) as stream:
        for _ in stream:
            pass
        assert stream.get_final_completion().choices[0].message.parsed == parsed.choices[0].message.parsed
