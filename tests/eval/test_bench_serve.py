"""``tooldecoding bench serve``: a stub as the server, and the reference model under load."""

import asyncio
import json
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

import pytest

from command_line import Ran
from eval.commands.bench_serve import Answer, ask_all, draw_request, serving
from eval.errors import EvalError
from tooldecoding.server.chat_body import read_chat_body

Cli = Callable[..., Ran]
CALL = {"name": "get_weather", "arguments": '{"city": "Rome"}'}
HEAD = {"id": "1", "created": 1, "model": "stub"}


class Stub(BaseHTTPRequestHandler):
    """Answers as the user message says."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        kind = body["messages"][0]["content"]
        if body["stream"]:
            self._stream(kind)
            return
        status, answer = 200, HEAD | {"object": "chat.completion", "choices": [self._choice()]}
        if kind == "full":
            status, answer = 429, {"error": {"message": "the queue is full"}}
        data = json.dumps(answer).encode()
        self._begin(status, {"Content-Length": str(len(data) + (9 if kind == "cut" else 0))})
        self.wfile.write(data)

    def _choice(self) -> dict[str, Any]:
        calls = [{"id": "1", "type": "function", "function": CALL}]
        message = {"role": "assistant", "content": "Hi", "tool_calls": calls}
        return {"index": 0, "message": message, "finish_reason": "tool_calls"}

    def _stream(self, kind: str) -> None:
        self._begin(200, {"Content-Type": "text/event-stream"})
        begun = {"index": 0, "id": "1", "function": {"name": CALL["name"], "arguments": ""}}
        rest = {"index": 0, "function": {"arguments": CALL["arguments"]}}
        for delta in ({"content": "H"}, {"content": "i"}, {"tool_calls": [begun]}, {"tool_calls": [rest]}):
            self._event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        if kind == "failed":
            self._event({"error": {"message": "out of memory"}})
        if kind == "whole":
            self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
            self.wfile.write(b"data: [DONE]\n\n")

    def _begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Connection": "close", "Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True

    def _event(self, row: Mapping[str, Any]) -> None:
        whole = row if "error" in row else HEAD | {"object": "chat.completion.chunk", **row}
        self.wfile.write(f"data: {json.dumps(whole)}\n\n".encode())

    def log_message(self, *_: Any) -> None:
        """Keep the tests' output clean."""


@contextmanager
def stub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients hang up on purpose
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def request(kind: str, stream: bool = False) -> dict[str, Any]:
    return {"model": "stub", "messages": [{"role": "user", "content": kind}], "stream": stream}


def ask(url: str, *requests: Mapping[str, Any], clients: int = 1) -> list[Answer]:
    return asyncio.run(ask_all(url, requests, clients, lambda count: None))


@pytest.mark.parametrize(
    ("kind", "stream", "ending", "reason"),
    [
        ("whole", False, "answered", ""),
        ("whole", True, "answered", ""),
        ("cut", False, "lost", "Error"),
        ("cut", True, "lost", "the stream was cut"),
        ("full", False, "refused", "the queue is full"),
        ("failed", True, "refused", "out of memory"),
    ],
)
def test_how_a_request_ends(kind: str, stream: bool, ending: str, reason: str) -> None:
    with stub() as url:
        [answer] = ask(url, request(kind, stream=stream))
    assert answer.ending == ending and reason in answer.reason
    if ending == "answered":
        assert (answer.content, answer.finish) == ("Hi", "tool_calls")
        assert answer.calls == [["get_weather", '{"city": "Rome"}']]


def test_each_request_is_sent_once_and_another_answer_than_alone_is_mixed_up() -> None:
    with stub() as url:
        answers = ask(url, *(request("whole", number % 2 == 0) for number in range(12)), clients=4)
    assert [answer.ending for answer in answers] == ["answered"] * 12
    assert Answer(content="x").differs(answers[0]) and not answers[1].differs(answers[0])
    [lost] = ask(url, request("whole"))  # nobody answers any more
    assert lost.ending == "lost" and not lost.differs(answers[0])


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
