"""``tooldecoding bench serve``: a stub as the server, and the reference model under load."""

import asyncio
import re
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from command_line import Cli
from eval.commands.bench_serve import Answer, ask_all, draw_request, serving
from eval.errors import EvalError
from running_server import running
from tooldecoding.server.app import Answerer
from tooldecoding.server.chat_body import read_chat_body
from tooldecoding.server.exchange import Head, Parts, Row

CALL = {"name": "get_weather", "arguments": '{"city": "Rome"}'}
HEAD = {"id": "1", "created": 1, "model": "stub"}


def choice(part: str, finish: str | None, **said: Any) -> dict[str, Any]:
    """An answer with the message, or the delta, that is said."""
    kind = "chat.completion" if part == "message" else "chat.completion.chunk"
    return HEAD | {"object": kind, "choices": [{"index": 0, part: said, "finish_reason": finish}]}


class Stub(Answerer):
    """Answers as the user message says."""

    async def answer(self, given: Row, request_id: str) -> Parts:
        kind = given["messages"][0]["content"]
        if kind == "whole":
            calls = [{"id": "1", "type": "function", "function": CALL}]
            yield Head(200, choice("message", "tool_calls", role="assistant", content="Hi", tool_calls=calls))
        elif kind == "full":
            yield Head(429, {"error": {"message": "the queue is full"}})
        else:
            yield Head(200, choice("delta", None, content="H"), streamed=True)
            yield choice("delta", None, content="i")
            begun = {"index": 0, "id": "1", "function": {"name": CALL["name"], "arguments": ""}}
            for call in (begun, {"index": 0, "function": {"arguments": CALL["arguments"]}}):
                yield choice("delta", None, tool_calls=[call])
            if kind == "failed stream":
                yield {"error": {"message": "out of memory"}}
            if kind == "whole stream":
                yield choice("delta", "tool_calls")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running(Stub()) as server:
        yield server.url


def ask(url: str, *kinds: str, clients: int = 1) -> list[Answer]:
    requests = [
        {"model": "stub", "messages": [{"role": "user", "content": kind}], "stream": "stream" in kind} for kind in kinds
    ]
    return asyncio.run(ask_all(url, requests, clients, lambda count: None))


@pytest.mark.parametrize(
    ("kind", "ending", "reason"),
    [
        ("whole", "answered", ""),
        ("whole stream", "answered", ""),
        ("cut stream", "lost", "the stream was cut"),
        ("full", "refused", "the queue is full"),
        ("failed stream", "refused", "out of memory"),
    ],
)
def test_how_a_request_ends(url: str, kind: str, ending: str, reason: str) -> None:
    [found] = ask(url, kind)
    assert found.ending == ending and reason in found.reason
    if ending == "answered":
        assert (found.content, found.finish) == ("Hi", "tool_calls")
        assert found.calls == [["get_weather", '{"city": "Rome"}']]


def test_each_request_is_sent_once_and_another_answer_than_alone_is_mixed_up(url: str) -> None:
    answers = ask(url, *["whole", "whole stream"] * 6, clients=4)
    assert [found.ending for found in answers] == ["answered"] * 12
    assert Answer(content="x").differs(answers[0]) and not answers[1].differs(answers[0])
    [lost] = ask("http://127.0.0.1:9", "whole")  # nobody answers there
    assert lost.ending == "lost" and "Error" in lost.reason and not lost.differs(answers[0])


def test_drawn_requests() -> None:
    random, same = Random(3), Random(3)
    drawn = [draw_request("reference", random) for _ in range(60)]
    assert drawn == [draw_request("reference", same) for _ in range(60)]
    assert {each["tool_choice"] for each in drawn} == {"required", "auto", "none"}
    for each in drawn:
        read_chat_body(each)


def test_a_server_that_does_not_start_is_told_in_its_own_words() -> None:
    script = "import sys; print('error: no such model', file=sys.stderr); sys.exit(2)"
    with pytest.raises(EvalError, match=r"ended before it was ready: no such model"):  # noqa: SIM117
        with serving([sys.executable, "-c", script]):
            raise AssertionError


@pytest.mark.slow
def test_the_reference_model_under_load(cli: Cli) -> None:
    ran = cli("bench", "serve", "--requests", "10", "--clients", "4")
    assert ran.code == 0, ran
    for name in ("one after the other", "4"):
        assert f"│ {name} │ 10 │ 0 │ 0 │ 0 │" in re.sub(" +", " ", ran.out), ran
