"""What goes wrong around a request: queues, time, memory, engines and clients; the next request is served right."""

import json
import pkgutil
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
import torch

from running_server import HELLO, Running, body, error_of, running, tool, wait_until
from tooldecoding.decoder import ToolDecoder

LONG = {"messages": HELLO, "tools": None, "max_tokens": 320, "stream": True}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(autouse=True)
def _serves_the_next(server: Running) -> Iterator[None]:
    yield
    server.assert_served()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB"), 503, "out_of_memory"),
        (MemoryError(), 503, "out_of_memory"),
        (RuntimeError("secret of engine.py"), 500, None),
    ],
    ids=["out of memory on the GPU", "out of memory", "any other error"],
)
def test_a_failing_pass_is_told(server: Running, error: Exception, status: int, code: str | None, stream: bool) -> None:
    def fail(extend: Callable[[Any], Any], feeds: Any) -> Any:
        raise error

    with server.passing(fail):
        answer = server.ask(stream=stream)
    told = error_of(answer, status)
    assert (told["type"], told["code"]) == ("server_error", code)
    assert "secret" not in answer.text and "CUDA" not in answer.text
    assert ("retry-after" in answer.headers) == (status == 503)


def test_an_error_behind_the_first_piece_ends_the_stream_as_an_event(server: Running) -> None:
    written = threading.Event()

    def fail(extend: Callable[[Any], Any], feeds: Any) -> Any:
        if written.is_set():
            raise torch.OutOfMemoryError
        return extend(feeds)

    content = json.dumps(body(**LONG))
    with (
        server.passing(fail),
        server.http.stream("POST", "/v1/chat/completions", content=content, headers=JSON) as answer,
    ):
        lines = answer.iter_lines()
        while "content" not in next(lines):
            pass
        written.set()
        events = [line for line in lines if line]
    assert answer.status_code == 200
    assert json.loads(events[-1].removeprefix("data: "))["error"]["code"] == "out_of_memory"
    assert "data: [DONE]" not in events


@pytest.mark.parametrize(
    "work",
    [
        "tooldecoding.decoder.ToolDecoder.begin",
        "tooldecoding.calls.prompt_decoder.merge",
        "tooldecoding.text_stream.ResultStream.take",
        "tooldecoding.request_run.RequestRun.result",
    ],
)
def test_a_request_that_fails_by_itself_leaves_the_others(
    server: Running, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    ours: list[dict[str, Any]] = [
        {"messages": HELLO, "tools": None, "stream": True},
        {"tool_choice": "required"},
        {"tool_choice": "required", "stream": True},
    ]
    alone = [server.answered(**fields) for fields in ours]
    own = pkgutil.resolve_name(work)

    def fail(*given: Any) -> Any:
        if any("get_paris" in repr(getattr(each, "__dict__", each)) for each in given):
            raise RuntimeError
        return own(*given)

    theirs = [tool("get_paris", city={"type": "string"})]
    with monkeypatch.context() as patch, ThreadPoolExecutor(4) as clients:
        patch.setattr(work, fail)
        with server.held():
            together = []
            for number, fields in enumerate(ours, 1):
                together.append(clients.submit(server.answered, **fields))
                wait_until(lambda number=number: server.asked == number)  # type: ignore[misc]
            bad = clients.submit(server.ask, tools=theirs, tool_choice="required", stream=True)
            wait_until(lambda: server.asked == len(ours) + 1)
        assert error_of(bad.result(), 500)["message"] == "internal error"
        assert [each.result() for each in together] == alone
    wait_until(lambda: server.asked == 0)
    assert len(server.answerer.scheduler._batch) == 0


def test_a_full_queue_is_told(reference: ToolDecoder) -> None:
    with running(reference, max_batch=1, queue=1) as small, ThreadPoolExecutor(2) as clients:
        with small.held():
            waiting = [clients.submit(small.ask)]
            wait_until(lambda: len(small.answerer.scheduler._jobs) == 1)
            waiting.append(clients.submit(small.ask))
            wait_until(lambda: small.asked == 2)
            for stream in (False, True):
                answer = small.ask(stream=stream)
                told = error_of(answer, 429)
                assert (told["type"], told["code"]) == ("rate_limit_error", "queue_full")
                assert int(answer.headers["retry-after"]) >= 1
        assert all(each.result().status_code == 200 for each in waiting)
        assert small.figure("refused_total") == 2
        small.assert_served()


@pytest.mark.parametrize("stream", [False, True])
def test_the_time_limit_counts_while_decoding_and_in_the_queue(reference: ToolDecoder, stream: bool) -> None:
    with running(reference, max_batch=1, timeout=0.5) as impatient, ThreadPoolExecutor(2) as clients:
        with impatient.held() as go:
            both = [clients.submit(impatient.ask, stream=stream) for _ in range(2)]
            wait_until(lambda: impatient.asked == 2)
            threading.Event().wait(0.6)
            go.set()
            for each in both:
                assert error_of(each.result(), 504)["code"] == "timeout"
        wait_until(lambda: impatient.asked == 0)


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_hangs_up_frees_its_place(server: Running, stream: bool) -> None:
    before = server.figure("cancelled_total")
    with server.held(), closing(server.unread(**LONG | {"stream": stream})):
        wait_until(lambda: server.asked == 1)
    wait_until(lambda: server.asked == 0)
    wait_until(lambda: server.figure("cancelled_total") == before + 1)


def test_a_client_that_gives_up_in_the_queue_is_never_decoded(reference: ToolDecoder) -> None:
    with running(reference, max_batch=1) as small, ThreadPoolExecutor(1) as clients:
        with small.held():
            first = clients.submit(small.ask)
            wait_until(lambda: len(small.answerer.scheduler._jobs) == 1)
            with closing(small.unread()):
                wait_until(lambda: small.asked == 2)
            wait_until(lambda: small.answerer.scheduler._waiting[0].cancelled)
        assert first.result().status_code == 200
        wait_until(lambda: small.asked == 0)
        wait_until(lambda: small.figure("cancelled_total") == 1)


def test_half_a_body_holds_nobody(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(server.unread(20)) as silent:
        server.assert_served()
        silent.shutdown(socket.SHUT_WR)
        server.assert_served()
    monkeypatch.setattr("tooldecoding.server.exchange._SECONDS", 0.1)
    with closing(server.unread(20)) as silent:
        answer = b""
        while b"timeout" not in answer:
            answer += silent.recv(10_000) or pytest.fail("no answer")
    assert answer.startswith(b"HTTP/1.1 408 ") and b'"type": "invalid_request_error"' in answer


def test_other_hosts_are_refused_on_loopback(server: Running, reference: ToolDecoder) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example:8000", "localhost.evil.example", "[::2]", "0.0.0.0"):
        for path in ("/", "/health", "/v1/models", "/metrics"):
            assert error_of(server.http.get(path, headers={"Host": host}), 403)["code"] == "unknown_host"
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:9", "[::1]:8000", "[::1]"):
        assert server.http.get("/health", headers={"Host": host}).status_code == 200
    with running(reference, host="0.0.0.0", api_key="k") as public:
        assert public.http.get("/health", headers={"Host": "model.example"}).status_code == 200


def test_other_routes_are_refused(server: Running) -> None:
    for path in ("/v1/chat/completions", "/v1/responses"):
        error_of(server.http.get(path), 405)
    for path in ("/v1/completions", "/openapi.json", "/../../etc/passwd"):
        error_of(server.http.get(path), 404)
