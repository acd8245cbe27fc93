"""Open Responses: the compliance runner, the openai package, items in and out, and what is refused."""

import importlib.util
import json
from typing import Any

import pytest
from pydantic import BaseModel

from data import DATA
from running_server import MODEL, Running, error_of, running
from tooldecoding.server.app import Answerer
from tooldecoding.server.exchange import Head, Parts, event
from tools import documented

RUNNER = DATA.parent / "judges" / "openresponses" / "run.py"
needs_runner = pytest.mark.skipif(not RUNNER.is_file(), reason=f"the runner is not at {RUNNER}")

ABOUT = documented("get_weather", description="Get the weather of a city.", city={"type": "string"}) | {"strict": True}
WEATHER = {"type": "function"} | ABOUT
ROME = "What is the weather in Rome?"
COUNTS = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
USAGE = COUNTS | {"prompt_tokens_details": {"cached_tokens": 1}, "completion_tokens_details": {"reasoning_tokens": 2}}


@pytest.fixture(scope="module")
def judge() -> Any:
    spec = importlib.util.spec_from_file_location("openresponses_runner", RUNNER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ask(client: Any, **fields: Any) -> Any:
    return client.responses.create(**{"model": MODEL, "input": ROME, "tools": [WEATHER]} | fields)


class Scripted(Answerer):
    """Answers with the chunks of a chat completion; keeps what it was asked."""

    def __init__(self, *deltas: dict[str, Any], finish: str = "stop", error: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.deltas, self.finish, self.error = deltas, finish, error
        self.asked: dict[str, Any] = {}

    async def answer(self, body: bytes, request_id: str) -> Parts:
        self.asked = json.loads(body)
        if not self.asked.get("stream"):
            message = {"role": "assistant", "content": None} | {k: v for d in self.deltas for k, v in d.items()}
            choice = {"index": 0, "message": message, "finish_reason": self.finish}
            yield Head(200, json.dumps({"choices": [choice], "usage": USAGE, "tooldecoding": {"valid": True}}))
            return
        begun = {"choices": [{"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}]}
        yield Head(200, event(begun), streamed=True)
        for delta in self.deltas:
            yield event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        if self.error is not None:
            yield event({"error": self.error})
            return
        yield event({"choices": [{"index": 0, "delta": {}, "finish_reason": self.finish}]})
        yield event({"choices": [], "usage": USAGE, "tooldecoding": {"valid": True}})
        yield "data: [DONE]\n\n"


def scripted(answerer: Scripted, **fields: Any) -> Any:
    """The JSON of a response, or the text of a stream."""
    with running(answerer) as made:
        answer = made.http.post("/v1/responses", json={"model": MODEL, "input": "Go."} | fields)
    assert answer.status_code == 200, answer.text
    return answer.text if fields.get("stream") else answer.json()


@needs_runner
@pytest.mark.parametrize(
    "test",
    [
        *("basic-response", "assistant-phase", "streaming-response", "system-prompt", "tool-calling", "multi-turn"),
        *("sequence", "tool-sequence"),
    ],
)
def test_the_compliance_runner_passes(judge: Any, server: Running, test: str) -> None:
    assert judge.run(test, f"{server.url}/v1", MODEL, "none", 300) == []


THOUGHT = [{"reasoning_content": "Let me "}, {"reasoning_content": "see."}]
CALLS = [
    {"tool_calls": [{"index": n, "id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": ""}}]}
    for n, name in enumerate(("f", "g"))
]
ARGUMENTS = {"tool_calls": [{"index": 0, "function": {"arguments": '{"x": 1}'}}]}


@needs_runner
@pytest.mark.parametrize(
    ("deltas", "finish", "kinds", "status"),
    [
        ([*THOUGHT, {"content": "Hi"}, {"content": " you."}], "stop", ["reasoning", "message"], "completed"),
        ([{"content": "I call."}, CALLS[0], ARGUMENTS, CALLS[1], ARGUMENTS], "tool_calls",
         ["message", "function_call", "function_call"], "completed"),
        ([{"content": "Too lo"}], "length", ["message"], "incomplete"),
        ([{"content": ""}], "stop", ["message"], "completed"),
    ],
)  # fmt: skip
def test_a_stream_of_anything_is_valid_and_in_order(
    judge: Any, deltas: list[dict[str, Any]], finish: str, kinds: list[str], status: str
) -> None:
    text = scripted(Scripted(*deltas, finish=finish), stream=True, max_output_tokens=16)
    assert text.endswith("data: [DONE]\n\n")
    events = judge.read_events(text)
    assert judge.check_order(events) == []
    for _, data in events:
        assert judge.problems(judge.EVENTS[data["type"]], data) == []
    final = events[-1][1]["response"]
    assert [item["type"] for item in final["output"]] == kinds and final["status"] == status
    assert final["incomplete_details"] == ({"reason": "max_output_tokens"} if status == "incomplete" else None)
    assert final["usage"]["output_tokens_details"] == {"reasoning_tokens": 2}
    assert final["tooldecoding"] == {"valid": True, "cut": finish == "length"}


@needs_runner
def test_an_error_in_a_stream_fails_the_response(judge: Any) -> None:
    error = {"message": "the replica is gone", "type": "server_error", "param": None, "code": "replica_lost"}
    events = judge.read_events(scripted(Scripted({"content": "Hel"}, error=error), stream=True))
    assert judge.check_order(events) == []
    final = events[-1][1]
    assert final["type"] == "response.failed" and judge.problems("ResponseFailedStreamingEvent", final) == []
    assert final["response"]["error"] == {"code": "replica_lost", "message": "the replica is gone"}


@needs_runner
def test_a_whole_response_has_thoughts_text_and_calls(judge: Any) -> None:
    calls = [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    answerer = Scripted({"reasoning_content": "Hm.", "content": "I call.", "tool_calls": calls}, finish="tool_calls")
    row = scripted(answerer, tools=[WEATHER], tool_choice="required", text={"format": {"type": "text"}})
    assert judge.problems("ResponseResource", row) == []
    thoughts, message, call = row["output"]
    assert thoughts["content"][0]["text"] == "Hm." and message["content"][0]["text"] == "I call."
    assert (call["call_id"], call["name"], call["arguments"]) == ("call_1", "f", "{}")


def test_items_become_messages() -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}", "id": "x", "status": "completed"}
    items = [
        {"role": "developer", "content": "Be brief."},
        {"type": "message", "role": "user",
         "content": [{"type": "input_text", "text": "Go"}, {"type": "input_text", "text": "!"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
        {"type": "message", "id": "m", "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": "I go.", "annotations": [], "logprobs": []}]},
        call, {**call, "call_id": "c2"},
        {"type": "function_call_output", "call_id": "c1", "output": "done"},
        {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "done, too"}]},
    ]  # fmt: skip
    answerer = Scripted({"content": "Yes."})
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "get_weather"}]}
    scripted(
        answerer, input=items, instructions="You are a clock.", tools=[WEATHER], tool_choice=allowed, store=True,
        reasoning={"effort": "none"}, max_output_tokens=20, tooldecoding={"order_limit": 2},
        text={"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}, "strict": True}},
    )  # fmt: skip
    function = {"name": "f", "arguments": "{}"}
    assert answerer.asked["messages"] == [
        {"role": "system", "content": "You are a clock."},
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "Go!"},
        {"role": "assistant", "content": "I go.", "reasoning_content": "Hm.",
         "tool_calls": [{"id": name, "type": "function", "function": function} for name in ("c1", "c2")]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "tool", "tool_call_id": "c2", "content": "done, too"},
    ]  # fmt: skip
    named = {"type": "function", "function": {"name": "get_weather"}}
    assert answerer.asked | {"messages": None} == {
        "model": MODEL,
        "messages": None,
        "tools": [{"type": "function", "function": ABOUT}],
        "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [named]}},
        "response_format": {"type": "json_schema",
                            "json_schema": {"name": "a", "schema": {"type": "object"}, "strict": True}},
        "max_completion_tokens": 20,
        "tooldecoding": {"order_limit": 2, "max_thinking_tokens": 0},
    }  # fmt: skip


def test_two_turns_with_the_openai_package(client: Any) -> None:
    first = ask(client, tool_choice="required", parallel_tool_calls=False)
    [call] = first.output
    assert call.type == "function_call" and json.loads(call.arguments) == {"city": "Rome"}
    [parameter] = first.tooldecoding["calls"][0]["parameters"]
    assert parameter["votes"] == 1 and 0 < parameter["confidence"] <= 1
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}
    second = ask(client, input=[{"role": "user", "content": ROME}, *first.output, output], max_output_tokens=16)
    assert second.status in ("completed", "incomplete") and second.usage.input_tokens > first.usage.input_tokens


def test_the_openai_package_streams_and_parses(client: Any) -> None:
    class Trip(BaseModel):
        city: str
        days: int

    with client.responses.stream(model=MODEL, input=ROME, tools=[WEATHER], tool_choice="required") as stream:
        pieces = [each.delta for each in stream if each.type == "response.function_call_arguments.delta"]
        final = stream.get_final_response()
    assert "".join(pieces) == final.output[0].arguments
    parsed = client.responses.parse(model=MODEL, input="A trip to Oslo for 3 days.", text_format=Trip).output_parsed
    assert isinstance(parsed, Trip) and "Oslo" in parsed.city


REFUSED: list[tuple[dict[str, Any], str | None, str]] = [
    ({"previous_response_id": "resp_1"}, "previous_response_id", "previous_response_not_found"),
    ({"background": True}, "background", "invalid_value"),
    ({"inputs": "x"}, "inputs", "unknown_parameter"),
    ({"model": None}, "model", "invalid_value"),
    ({"model": "other"}, "model", "model_not_found"),
    ({"input": []}, "input", "invalid_value"),
    ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]},
     "input.0.message.content.0.type", "invalid_value"),
    ({"input": [{"type": "item_reference", "id": "x"}]}, "input.0", "invalid_value"),
    ({"input": [{"type": "function_call_output", "call_id": "x", "output": "y"}]}, "input", "invalid_value"),
    ({"tools": [{"type": "web_search"}]}, "tools.0.type", "invalid_value"),
    ({"tool_choice": {"type": "function", "name": "nope"}}, "tool_choice", "invalid_value"),
    ({"max_output_tokens": 3}, "max_output_tokens", "invalid_value"),
    ({"text": {"format": {"type": "json_schema", "name": "a"}}}, "text.format", "invalid_value"),
    ({"tooldecoding": {"orders": "none"}}, "tooldecoding.orders", "invalid_value"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "param", "code"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_is_refused_is_named(server: Running, fields: dict[str, Any], param: str | None, code: str) -> None:
    given = {"model": MODEL, "input": ROME, "tools": [WEATHER]} | fields
    answer = server.http.post("/v1/responses", json={key: value for key, value in given.items() if value is not None})
    error = error_of(answer, 404 if code == "model_not_found" else 400)
    expected = "missing_required_parameter" if fields == {"model": None} else code
    assert (error["param"], error["code"]) == (param, expected), error


def test_another_content_type_is_refused_as_elsewhere(server: Running) -> None:
    error_of(server.http.post("/v1/responses", content="x"), 415)
    error_of(server.http.post("/v1/responses", content="{", headers={"Content-Type": "application/json"}), 400)
