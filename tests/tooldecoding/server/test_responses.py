"""Open Responses: the compliance runner, the openai package, items in and out."""

import runpy
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from data import DATA
from running_server import MODEL, Running, called, error_of, running
from tooldecoding.server.exchange import Answerer, ResponseStart, ResponseStream, Row
from tools import documented

RUNNER = DATA.parent / "judges" / "openresponses" / "run.py"
SLOW = ["assistant-phase", "streaming-response", "system-prompt", "multi-turn"]
"""Texts of a whole context, like those of ``sequence``."""

ABOUT = documented("get_weather", description="Get the weather of a city.", city={"type": "string"}) | {"strict": True}
WEATHER = {"type": "function"} | ABOUT
ROME = "What is the weather in Rome?"
COUNTS = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
USAGE = COUNTS | {"prompt_tokens_details": {"cached_tokens": 1}, "completion_tokens_details": {"reasoning_tokens": 2}}


@pytest.fixture(scope="module")
def judge() -> Any:
    if not RUNNER.is_file():
        pytest.skip(f"the runner is not at {RUNNER}")
    return SimpleNamespace(**runpy.run_path(str(RUNNER)))


class Scripted(Answerer):
    """Answers with the message of a chat completion, whole or in pieces; keeps what it was asked."""

    def __init__(self, message: dict[str, Any], finish: str = "stop", error: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.message, self.finish, self.error = {"role": "assistant", "content": None} | message, finish, error
        self.asked: dict[str, Any] = {}

    async def answer(self, given: Row, request_id: str) -> ResponseStream:
        self.asked = given
        about = {"usage": USAGE, "tooldecoding": {"valid": True}}
        if not self.asked.get("stream"):
            choice = {"index": 0, "message": self.message, "finish_reason": self.finish}
            yield ResponseStart(200, {"choices": [choice]} | about)
            return
        begun, *pieces = ({"index": 0, "delta": delta, "finish_reason": None} for delta in deltas(self.message))
        yield ResponseStart(200, {"choices": [begun]}, streamed=True)
        for piece in pieces:
            yield {"choices": [piece]}
        if self.error is not None:
            yield {"error": self.error}
            return
        yield {"choices": [{"index": 0, "delta": {}, "finish_reason": self.finish}]}
        yield {"choices": []} | about


def deltas(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the pieces of a message add: its role, its texts in two pieces each, then its calls."""
    yield {"role": "assistant"}
    for name in ("reasoning_content", "content"):
        if (text := message.get(name)) is not None:
            yield {name: text[:3]}
            yield {name: text[3:]}
    for index, call in enumerate(message.get("tool_calls", [])):
        arguments = {"arguments": call["function"]["arguments"]}
        yield {"tool_calls": [call | {"index": index, "function": call["function"] | {"arguments": ""}}]}
        yield {"tool_calls": [{"index": index, "function": arguments}]}


def scripted(answerer: Scripted, **fields: Any) -> Any:
    """The JSON of a response, or the text of a stream."""
    with running(answerer) as made:
        answer = made.http.post("/v1/responses", json={"model": MODEL, "input": "Go."} | fields)
    assert answer.status_code == 200, answer.text
    return answer.text if fields.get("stream") else answer.json()


@pytest.mark.parametrize(
    "test",
    [
        *("basic-response", "tool-calling", "sequence", "tool-sequence"),
        *(pytest.param(test, marks=pytest.mark.slow) for test in SLOW),
    ],
)
def test_the_compliance_runner_passes(judge: Any, server: Running, test: str) -> None:
    assert judge.run(test, f"{server.url}/v1", MODEL, "none", 300) == []


CALLS = [called(f"call_{name}", name, '{"x": 1}') for name in "fg"]


@pytest.mark.parametrize(
    ("message", "finish", "kinds"),
    [
        ({"reasoning_content": "Let me see.", "content": "Hi you."}, "stop", ["reasoning", "message"]),
        ({"reasoning_content": "Hm.", "tool_calls": CALLS[:1]}, "tool_calls", ["reasoning", "function_call"]),
        ({"content": "I call.", "tool_calls": CALLS}, "tool_calls", ["message", "function_call", "function_call"]),
        ({"content": "Too lo"}, "length", ["message"]),
        ({"content": ""}, "stop", ["message"]),
    ],
)
def test_a_response_is_valid_and_its_stream_in_order(
    judge: Any, message: dict[str, Any], finish: str, kinds: list[str]
) -> None:
    asked = {"tools": [WEATHER], "tool_choice": "required", "max_output_tokens": 16}
    text = scripted(Scripted(message, finish), **asked, stream=True)
    assert text.endswith("data: [DONE]\n\n")
    events = judge.read_events(text)
    assert judge.check_order(events) == []
    for _, data in events:
        assert judge.problems(judge.EVENTS[data["type"]], data) == []
    whole = scripted(Scripted(message, finish), **asked, text={"format": {"type": "text"}})
    assert judge.problems("ResponseResource", whole) == []
    for response in (whole, events[-1][1]["response"]):
        items = response["output"]
        assert [item["type"] for item in items] == kinds
        texts = [item["content"][0]["text"] for item in items if item["type"] != "function_call"]
        assert texts == [message[name] for name in ("reasoning_content", "content") if name in message]
        calls = [(item["call_id"], item["name"], item["arguments"]) for item in items if "call_id" in item]
        assert calls == [(call["id"], *call["function"].values()) for call in message.get("tool_calls", [])]
        assert response["status"] == ("incomplete" if finish == "length" else "completed")
        assert response["incomplete_details"] == ({"reason": "max_output_tokens"} if finish == "length" else None)
        assert response["usage"]["output_tokens_details"] == {"reasoning_tokens": 2}
        assert response["tooldecoding"] == {"valid": True, "cut": finish == "length"}


def test_an_error_in_a_stream_fails_the_response(judge: Any) -> None:
    error = {"message": "the replica is gone", "type": "server_error", "param": None, "code": "replica_lost"}
    events = judge.read_events(scripted(Scripted({"content": "Hel"}, error=error), stream=True))
    assert judge.check_order(events) == []
    final = events[-1][1]
    assert final["type"] == "response.failed" and judge.problems("ResponseFailedStreamingEvent", final) == []
    assert final["response"]["error"] == {"code": "replica_lost", "message": "the replica is gone"}


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
        reasoning={"effort": "none"}, max_output_tokens=20, parallel_tool_calls=False, tooldecoding={"order_limit": 2},
        text={"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}, "strict": True}},
    )  # fmt: skip
    function = {"name": "f", "arguments": "{}"}
    assert answerer.asked["messages"] == [
        {"role": "system", "content": "You are a clock.\n\nBe brief."},
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
        "parallel_tool_calls": False,
        "max_completion_tokens": 20,
        "tooldecoding": {"order_limit": 2, "max_thinking_tokens": 0},
    }  # fmt: skip


CALL = {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": ""}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "Sunny."}
ASKED = {"role": "user", "content": ROME}


@pytest.mark.parametrize("blank", ["", " ", None])
def test_what_is_empty_in_the_history_asks_for_nothing(server: Running, blank: str | None) -> None:
    thoughts = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": blank and blank.strip()}
    items = [ASKED, thoughts, CALL | {"arguments": blank}, OUTPUT]
    answer = server.http.post("/v1/responses", json={"model": MODEL, "input": items, "max_output_tokens": 16})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    ("items", "place", "said"),
    [
        ([ASKED, CALL | {"arguments": "{"}, OUTPUT], "input.1.arguments", "malformed JSON"),
        ([ASKED, CALL, CALL | {"call_id": "c2", "arguments": "[]"}, OUTPUT], "input.2.arguments", "a JSON object"),
        ([{"role": "system", "content": "x"}, ASKED, CALL, OUTPUT, OUTPUT], "input.4", "call that lacks a result"),
        ([ASKED, {"type": "reasoning", "encrypted_content": "gA=="}], "input.1.encrypted_content", "leave it out"),
        ([{"role": "user", "content": [{"type": "input_image"}]}], "input.0.content.0.type", "found 'input_image'"),
        ([ASKED, CALL, OUTPUT | {"output": [{"type": "input_file"}]}], "input.2.output.0.type", "'input_file'"),
    ],
)
def test_an_error_names_the_item_that_was_sent(server: Running, items: list[Any], place: str, said: str) -> None:
    asked = {"model": MODEL, "input": items, "instructions": "Be brief."}
    told = error_of(server.http.post("/v1/responses", json=asked), 400)
    assert told["param"] == place and place in told["message"] and said in told["message"]
    assert "messages" not in told["message"]


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
