"""Open Responses: the compliance runner, the openai package, items in and out."""

import runpy
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from call_ids import OPENAI
from chat.chat_models import HERMES, call, decoder_of, says
from data import DATA
from running_server import MODEL, Running, error_of, running
from synthetic import ScriptedEngine
from tooldecoding.decoder import ToolDecoder
from tooldecoding.server.responses_body import read_responses_body
from tooldecoding.testing import SyntheticDecoder
from tools import documented

RUNNER = DATA.parent / "judges" / "openresponses" / "run.py"
COMPLIANCE = [
    "basic-response", "tool-calling", "sequence", "tool-sequence", "assistant-phase", "streaming-response",
    "system-prompt", "multi-turn",
]  # fmt: skip

ABOUT = documented("get_weather", description="Get the weather of a city.", city={"type": "string"}) | {"strict": True}
WEATHER = {"type": "function"} | ABOUT
ROME = "What is the weather in Rome?"


@pytest.fixture(scope="module")
def judge() -> Any:
    if not RUNNER.is_file():
        pytest.skip(f"the runner is not at {RUNNER}")
    return SimpleNamespace(**runpy.run_path(str(RUNNER)))


def answered(decoder: SyntheticDecoder, **fields: Any) -> Any:
    """The JSON of a response, or the text of a stream."""
    with running(decoder) as made:
        answer = made.http.post("/v1/responses", json={"model": MODEL, "input": "Go: 1, 123456789."} | fields)
    assert answer.status_code == 200, answer.text
    return answer.text if fields.get("stream") else answer.json()


def test_the_compliance_runner_passes(judge: Any) -> None:
    with running(ToolDecoder.from_pretrained("reference", device="cpu", max_text_tokens=30)) as brief:
        for test in COMPLIANCE:
            assert judge.run(test, f"{brief.url}/v1", MODEL, "none", 300) == [], test


CALLS = [call(name, x=1) for name in "fg"]


@pytest.mark.parametrize(
    ("said", "kinds", "texts"),
    [
        ("<think>\nLet me see.\n</think>\n\nHi you.", ["reasoning", "message"], ["Let me see.", "Hi you."]),
        (f"<think>\nHm.\n</think>\n\n{CALLS[0]}", ["reasoning", "function_call"], ["Hm."]),
        ("I call.\n" + "\n".join(CALLS), ["message", "function_call", "function_call"], ["I call."]),
        ("x" * 200, ["message"], ["x" * 100]),
        ("", ["message"], ["0"]),
    ],
)
def test_a_response_is_valid_and_its_stream_in_order(judge: Any, said: str, kinds: list[str], texts: list[str]) -> None:
    decoder = decoder_of(HERMES, ("<think>", "</think>"))
    says(decoder, lambda prompt: said)
    tools = [{"type": "function"} | documented(name, x={"type": "integer"}) for name in "fg"]
    asked = {"tools": tools, "tool_choice": "auto", "max_output_tokens": 100}
    text = answered(decoder, **asked, stream=True)
    assert text.endswith("data: [DONE]\n\n")
    events = judge.read_events(text)
    assert judge.check_order(events) == []
    for _, data in events:
        assert judge.problems(judge.EVENTS[data["type"]], data) == []
    whole = answered(decoder, **asked, text={"format": {"type": "text"}})
    assert judge.problems("ResponseResource", whole) == []
    cut = len(said) > 150
    for response in (whole, events[-1][1]["response"]):
        items = response["output"]
        assert [item["type"] for item in items] == kinds
        assert [item["content"][0]["text"] for item in items if item["type"] != "function_call"] == texts
        calls = [(item["name"], item["arguments"]) for item in items if OPENAI.fullmatch(item.get("call_id", ""))]
        assert calls == [(name, '{"x": 1}') for name in "fg"[: kinds.count("function_call")]]
        assert response["status"] == ("incomplete" if cut else "completed")
        assert response["incomplete_details"] == ({"reason": "max_output_tokens"} if cut else None)
        thought = response["usage"]["output_tokens_details"]["reasoning_tokens"]
        assert (thought > 0) == ("reasoning" in kinds)
        assert response["tooldecoding"]["valid"] and response["tooldecoding"]["cut"] == cut


def test_an_error_in_a_stream_fails_the_response(judge: Any) -> None:
    decoder = decoder_of(HERMES)

    def breaks_off(text: str) -> str:
        if "Hel" in text:
            raise MemoryError
        return "Hel"[len(text.rpartition("[assistant]")[2]) :]

    decoder.engine = ScriptedEngine(decoder.table.texts, breaks_off)
    events = judge.read_events(answered(decoder, stream=True))
    assert judge.check_order(events) == []
    final = events[-1][1]
    assert final["type"] == "response.failed" and judge.problems("ResponseFailedStreamingEvent", final) == []
    assert final["response"]["error"]["code"] == "out_of_memory" and "prompt" in final["response"]["error"]["message"]


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
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "get_weather"}]}
    asked = read_responses_body({
        "model": MODEL, "input": items, "instructions": "You are a clock.", "tools": [WEATHER], "tool_choice": allowed,
        "store": True, "reasoning": {"effort": "none"}, "max_output_tokens": 20, "parallel_tool_calls": False,
        "text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}, "strict": True}},
        "tooldecoding": {"order_limit": 2},
    }).chat  # fmt: skip
    function = {"name": "f", "arguments": "{}"}
    assert asked["messages"] == [
        {"role": "system", "content": "You are a clock.\n\nBe brief."},
        {"role": "user", "content": "Go!"},
        {"role": "assistant", "content": "I go.", "reasoning_content": "Hm.",
         "tool_calls": [{"id": name, "type": "function", "function": function} for name in ("c1", "c2")]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "tool", "tool_call_id": "c2", "content": "done, too"},
    ]  # fmt: skip
    named = {"type": "function", "function": {"name": "get_weather"}}
    assert asked | {"messages": None} == {
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


def test_thoughts_and_calls_of_one_turn_are_one_message() -> None:
    def thought(text: str) -> dict[str, Any]:
        return {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": text}]}

    user = {"role": "user", "content": "Go."}
    calls = [{"type": "function_call", "call_id": name, "name": "f", "arguments": "{}"} for name in ("c1", "c2")]
    results = [{"type": "function_call_output", "call_id": name, "output": "x"} for name in ("c1", "c2")]
    items = [
        user, thought("a"), thought("b"), calls[0], thought("c"), calls[1], *results, thought("lost"), user,
        {"role": "assistant", "content": "Done."}, user,
    ]  # fmt: skip
    _, said, *tools, _, done, _ = read_responses_body({"model": MODEL, "input": items}).chat["messages"]
    assert said["reasoning_content"] == "a\nb\nc" and [each["id"] for each in said["tool_calls"]] == ["c1", "c2"]
    assert [each["tool_call_id"] for each in tools] == ["c1", "c2"]
    assert done == {"role": "assistant", "content": "Done."}


def test_a_whole_call_is_completed_though_a_later_one_is_left_out() -> None:
    decoder = decoder_of(HERMES, max_value_tokens=40)
    says(decoder, lambda prompt: f"{call('f', x=1)}\n{call('f', x=123456789)}")
    tools = [{"type": "function"} | documented("f", x={"type": "integer"})]
    whole = answered(decoder, tools=tools, max_output_tokens=60)
    [item] = whole["output"]
    assert (whole["status"], item["status"], item["arguments"]) == ("incomplete", "completed", '{"x": 1}')


CALL = {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": ""}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "Sunny."}
ASKED = {"role": "user", "content": ROME}


@pytest.mark.parametrize("blank", ["", " ", None])
def test_what_is_empty_in_the_history_asks_for_nothing(server: Running, blank: str | None) -> None:
    thoughts = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": blank and blank.strip()}
    items = [ASKED, thoughts, CALL | {"arguments": blank}, OUTPUT]
    for output in (OUTPUT, OUTPUT | {"output": blank}):
        asked = {"model": MODEL, "input": [*items[:-1], output], "max_output_tokens": 16}
        answer = server.http.post("/v1/responses", json=asked)
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    ("items", "place", "said"),
    [
        ([ASKED, CALL | {"arguments": []}, OUTPUT], "input.1.arguments", "a valid string"),
        ([ASKED, CALL, CALL | {"call_id": "c2", "name": ""}, OUTPUT], "input.2.name", "at least 1 character"),
        ([{"role": "system", "content": "x"}, ASKED, CALL, OUTPUT, OUTPUT], "input.4", "call that lacks a result"),
        ([ASKED, {"type": "reasoning", "encrypted_content": "gA=="}], "input.1.encrypted_content", "leave it out"),
        ([ASKED, {"type": "item_reference", "id": "rs_1"}], "input", "item 1: nothing is stored here"),
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
