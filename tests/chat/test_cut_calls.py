"""A call that a limit cuts: every door says so, and nobody runs it."""

import json
from typing import Any

import pytest
from chat_models import HERMES, call, decoder_of, says

from running_server import MODEL, running
from tooldecoding.agents.agent import Agent
from tooldecoding.chat.reply import CallPiece, ChatMessage
from tooldecoding.testing import SyntheticDecoder
from tools import documented

IDS = list(range(4800, 4960, 13))
CUT = 12
"""Tokens of a value, fewer than the ids take."""
DELETE = documented("delete_rows", ids={"type": "array", "items": {"type": "integer"}})
TOOL = {"type": "function", "function": DELETE}
USER = {"role": "user", "content": f"Delete the rows {', '.join(map(str, IDS))}."}


def deleting(**options: Any) -> SyntheticDecoder:
    decoder = decoder_of(HERMES, **{"max_value_tokens": CUT} | options)
    says(decoder, lambda prompt: "It was too much." if "[tool]" in prompt else call("delete_rows", ids=IDS))
    return decoder


def are_whole(ids: Any) -> bool:
    return ids == IDS[: len(ids)] and len(ids) < len(IDS)


@pytest.mark.parametrize("choice", ["auto", "required", "delete_rows"])
def test_chat_and_its_stream_say_so(choice: str) -> None:
    decoder = deleting()
    reply = decoder.chat([USER], [DELETE], choice)
    [made] = reply.calls
    assert (reply.finish_reason, reply.valid, made.cut, made.voted.valid) == ("length", False, True, False)
    assert are_whole(made.arguments["ids"]) and "limit of tokens" in reply.errors[0]
    *_, piece, last = decoder.stream([USER], [DELETE], choice)
    assert isinstance(piece, CallPiece) and isinstance(last, ChatMessage)
    assert (last.finish_reason, piece.call.arguments) == ("length", made.arguments)
    told = {"role": "tool", "tool_call_id": reply.ids[0], "content": "cut"}
    again = decoder.chat([USER, reply.message, told], [DELETE])
    assert again.content == "It was too much."


def test_an_agent_does_not_run_it_and_tells_the_model() -> None:
    ran: list[Any] = []

    def delete_rows(ids: list[int]) -> str:
        """Delete rows."""
        ran.append(ids)
        return "deleted"

    agent = Agent(deleting(), [delete_rows])
    _, returned, said, end = agent.run(USER["content"])
    assert not ran and returned.failed and "did not run" in returned.content and "limit of tokens" in returned.content
    assert (said.content, end.content) == ("It was too much.", "answer")


@pytest.mark.parametrize("limit", [{}, {"max_tokens": 40}])
def test_the_server_says_so_in_both_protocols_and_their_streams(limit: dict[str, int]) -> None:
    decoder = deleting(max_value_tokens=None) if limit else deleting()
    with running(decoder) as made:
        limits = {"max_tokens": 400} | limit
        [whole] = made.ask(messages=[USER], tools=[TOOL], **limits).json()["choices"]
        chunks = made.chunks(messages=[USER], tools=[TOOL], **limits)
        asked = {"model": MODEL, "input": USER["content"], "tools": [{"type": "function", **DELETE}]}
        asked |= {"max_output_tokens": limit["max_tokens"]} if limit else {}
        answer = made.http.post("/v1/responses", json=asked).json()
        stream = made.http.post("/v1/responses", json=asked | {"stream": True}).text
    assert whole["finish_reason"] == "length" == [c["finish_reason"] for k in chunks for c in k["choices"]][-1]
    for made_call in whole["message"].get("tool_calls", []):
        assert are_whole(json.loads(made_call["function"]["arguments"])["ids"])
    assert answer["status"] == "incomplete" and answer["incomplete_details"] == {"reason": "max_output_tokens"}
    assert all(item["status"] == "incomplete" for item in answer["output"] if item["type"] == "function_call")
    assert "event: response.incomplete" in stream and "response.completed" not in stream
    assert not answer["tooldecoding"]["valid"] or answer["tooldecoding"]["errors"]


def test_a_batch_says_so() -> None:
    rows = deleting().chat([[USER], [USER]], [DELETE])
    assert [(row.finish_reason, row.valid) for row in rows] == [("length", False)] * 2
    shown = rows[0].to_json("1")
    assert (shown["finish_reason"], shown["valid"], shown["cut"]) == ("length", False, True)
    assert shown["calls"][0]["cut"] == ["ids"]


def test_calls_beyond_max_calls_are_told_over_http() -> None:
    decoder = decoder_of(HERMES, max_calls=3)
    says(decoder, lambda prompt: "\n".join(call("f", x=n) for n in range(5)))
    tool = {"type": "function", "function": documented("f", x={"type": "integer"})}
    with running(decoder) as made:
        messages = [{"role": "user", "content": "Go: 0, 1, 2, 3, 4"}]
        answer = made.ask(messages=messages, tools=[tool], tool_choice="required", max_tokens=400).json()
    [choice] = answer["choices"]
    assert choice["finish_reason"] == "length" and len(choice["message"]["tool_calls"]) == 3
    assert answer["tooldecoding"]["too_many"] and "max_calls" in answer["tooldecoding"]["errors"][0]
