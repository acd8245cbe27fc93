"""What goes wrong around a request: queues, time, memory, engines, and clients, who may be slow or too many.

The next request is served right, and no client changes the answer of another.
"""

import contextlib
import json
import pkgutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import pytest
import torch

from running_server import HELLO, Running, error_of, lines_of, running, tool, wait_until
from tooldecoding.decoder import ToolDecoder

LONG = {"messages": HELLO, "tools": None, "max_tokens": 320}
HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
WORDY = "m" * 20_000
"""A name of the model that makes each answer, and each piece of a stream, long."""


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


GREEDY = "tooldecoding.tokens.token_choice.ValueChoice.greedy"
REFUSES = "{% if 'Zebra' in messages[-1].content %}{{ raise_exception('not ' ~ messages[-1].content) }}{% endif %}"


@pytest.mark.parametrize(
    ("content", "patched", "value", "said"),
    [
        ("Zebra", GREEDY, lambda *given, **named: None, "can go on with the call"),
        ("Zebra \ud800", "", None, "lone surrogate"),
        ({"Zebra": 1}, "", None, "found dict"),
        ("Zebra", "chat_template", REFUSES, "refuses the dialogue"),
    ],
)
def test_no_error_shows_the_prompt_or_a_path(
    server: Running,
    reference: ToolDecoder,
    monkeypatch: pytest.MonkeyPatch,
    content: Any,
    patched: str,
    value: Any,
    said: str,
) -> None:
    if patched == "chat_template":
        monkeypatch.setattr(reference.tokenizer, patched, value + reference.tokenizer.chat_template)
    elif patched:
        monkeypatch.setattr(patched, value)
    answer = server.ask(messages=[{"role": "user", "content": content}], tool_choice="required", max_tokens=None)
    assert said in error_of(answer, 400)["message"]
    assert "Zebra" not in answer.text and "reference" not in answer.text and "/" not in answer.text


def test_an_error_behind_the_first_piece_ends_the_stream_as_an_event(server: Running) -> None:
    written = threading.Event()

    def fail(extend: Callable[[Any], Any], feeds: Any) -> Any:
        if written.is_set():
            raise torch.OutOfMemoryError
        return extend(feeds)

    with server.passing(fail), server.streamed(**LONG) as answer:
        lines = lines_of(answer)
        while "content" not in next(lines):
            pass
        written.set()
        events = [*lines]
    assert answer.status_code == 200
    assert json.loads(events[-1].removeprefix("data: "))["error"]["code"] == "out_of_memory"
    assert "data: [DONE]" not in events


@pytest.mark.parametrize(
    "work",
    [
        "tooldecoding.decoder.ToolDecoder.begin",
        "tooldecoding.decoding.prompt_decoder.grounded_vote",
        "tooldecoding.decoding.decoded_call.ResultStream.take",
        "tooldecoding.result.RequestRun.result",
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
        asked = [getattr(each, "__dict__", each) for each in given if not isinstance(each, ToolDecoder)]
        if "get_paris" in repr(asked):
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
            one = {"tool_choice": "required", "parallel_tool_calls": False}  # it fails before anything is streamed
            bad = clients.submit(server.ask, tools=theirs, stream=True, **one)
            wait_until(lambda: server.asked == len(ours) + 1)
        assert error_of(bad.result(), 500)["message"] == "internal error"
        assert [each.result() for each in together] == alone
    server.wait_until_idle()


def test_a_full_queue_is_told_and_who_gives_up_in_it_is_never_decoded(reference: ToolDecoder) -> None:
    with running(reference, max_batch=1, queue=1) as small, ThreadPoolExecutor(1) as clients:
        with small.held():
            first = clients.submit(small.ask)
            wait_until(lambda: len(small.answerer.scheduler._jobs) == 1)
            with closing(small.unread()):
                wait_until(lambda: small.asked == 2)
                for stream in (False, True):
                    answer = small.ask(stream=stream)
                    told = error_of(answer, 429)
                    assert (told["type"], told["code"]) == ("rate_limit_error", "queue_full")
                    assert int(answer.headers["retry-after"]) >= 1
            wait_until(lambda: small.answerer.scheduler._waiting[0].cancelled)
        assert first.result().status_code == 200
        small.wait_until_idle()
        assert small.figure("refused_total") == 2
        wait_until(lambda: small.figure("cancelled_total") == 1)
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
        impatient.wait_until_idle()


@pytest.mark.parametrize("begun", [False, True])
def test_a_client_that_hangs_up_frees_its_place(server: Running, begun: bool) -> None:
    """If its answer has not begun, log and figures have status 499."""
    gone = 'answers_total{status="499"}'
    cancelled, unanswered = server.figure("cancelled_total"), server.figure(gone)
    with server.held() as go:
        with closing(server.unread(**LONG, stream=begun)) as connection:
            wait_until(lambda: server.asked == 1)
            if begun:
                go.set()
                connection.recv(1)
        wait_until(lambda: begun or server.figure(gone) == unanswered + 1)
    wait_until(lambda: server.figure("cancelled_total") == cancelled + 1)
    assert server.figure(gone) == unanswered + (not begun)
    server.wait_until_idle()


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


def test_other_hosts_on_loopback_and_other_routes_are_refused(server: Running, reference: ToolDecoder) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example:8000", "localhost.evil.example", "[::2]", "0.0.0.0"):
        for path in ("/", "/health", "/v1/models", "/metrics"):
            assert error_of(server.http.get(path, headers={"Host": host}), 403)["code"] == "unknown_host"
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:9", "[::1]:8000", "[::1]"):
        assert server.http.get("/health", headers={"Host": host}).status_code == 200
    with running(reference, host="0.0.0.0", api_key="k") as public:
        assert public.http.get("/health", headers={"Host": "model.example"}).status_code == 200
    for path in ("/v1/chat/completions", "/v1/responses"):
        error_of(server.http.get(path), 405)
    for path in ("/v1/completions", "/openapi.json", "/../../etc/passwd"):
        error_of(server.http.get(path), 404)


@pytest.fixture
def impatient(reference: ToolDecoder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """A server whose patience with clients is short."""
    monkeypatch.setattr("tooldecoding.server.web_server._PATIENCE_S", 0.5)
    with running(reference, served_model_name=(WORDY, "reference")) as server:
        yield server


def rest(connection: socket.socket) -> bytes:
    """What comes until the connection is closed."""
    received = b""
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65536):
            received += piece
    return received


@pytest.mark.parametrize("begun", [b"", HEAD, HEAD + b"\r\n"], ids=["nothing", "headers", "a second request"])
def test_headers_must_come_in_time(impatient: Running, begun: bytes) -> None:
    with closing(impatient.connect()) as connection, closing(impatient.connect()) as silent:
        connection.sendall(begun)
        with contextlib.suppress(ConnectionError):
            wait_until(lambda: not connection.send(b"X" if begun else b"G"))
        assert rest(silent) == b""
        assert (b"200 OK" in rest(connection)) == begun.endswith(b"\r\n\r\n")
    impatient.assert_served()


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_nobody_reads_is_given_up(impatient: Running, stream: bool) -> None:
    state: Any = impatient.web.server_state
    with closing(impatient.unread(**LONG, model=WORDY, stream=stream)) as connection:
        wait_until(lambda: impatient.asked == 1)
        impatient.assert_served()
        wait_until(lambda: not impatient.figure("running") and len(state.connections) == 1)  # that of the other client
        assert not rest(connection).endswith((b"}", b"0\r\n\r\n"))
    wait_until(lambda: not state.tasks)


def test_what_waits_for_a_client_is_bounded(reference: ToolDecoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooldecoding.server.scheduler._MOST_UNREAD", 20)
    with (
        running(reference, served_model_name=(WORDY,)) as server,
        closing(server.unread(**LONG, model=WORDY, stream=True)) as connection,
    ):
        wait_until(lambda: server.figure("cancelled_total") == 1)
        assert server.asked == 0
        received = rest(connection)
    assert received.count(b"data: ") < 200 and b'"the stream is not read"' in received and b"[DONE]" not in received


def test_connections_are_bounded(reference: ToolDecoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooldecoding.server.web_server._SPARE", 6)
    with running(reference, max_batch=1, queue=1) as server, ExitStack() as stack:
        open_ones = [stack.enter_context(closing(server.connect())) for _ in range(9)]
        open_ones[0].sendall(HEAD + b"\r\n")
        assert open_ones[0].recv(12) == b"HTTP/1.1 200"
        open_ones += [stack.enter_context(closing(server.connect())) for _ in range(11)]
        wait_until(lambda: len(server.web.server_state.connections) == 20)
        open_ones[1].sendall(HEAD + b"\r\n")
        assert rest(open_ones[1]).startswith(b"HTTP/1.1 503 ")  # and it is closed
        late = [stack.enter_context(closing(server.connect())) for _ in range(5)]
        assert [rest(each) for each in late[1:]] == [b""] * 4
        stack.close()
        wait_until(lambda: server.http.get("/health").status_code == 200)
        server.assert_served()


KEYS = ["city", "street", "email", "topic", "month"]
MANY, TWO = ([tool("send_note", **{key: {"type": "string"} for key in KEYS[:count]})] for count in (5, 2))
REQUESTS: list[dict[str, Any]] = [
    {"tools": tools, "tool_choice": choice, "tooldecoding": {"order_limit": orders}}
    for tools, orders, choice in [(MANY, 1, "auto"), (MANY, 4, "required"), (MANY, 12, "required"), (TWO, 12, "auto")]
] + [{"messages": HELLO, "tools": None, "max_tokens": 60}]


@pytest.mark.parametrize(("strategy", "megabytes"), [("packed", 16), ("batched", 120)])
def test_what_runs_together_stays_within_the_bound(strategy: Any, megabytes: int) -> None:
    decoder = ToolDecoder.from_pretrained("reference", device="cpu", strategy=strategy)
    seen: list[tuple[int, int]] = []
    small = {"tools": TWO, "tool_choice": "required", "tooldecoding": {"order_limit": 1}}
    with running(decoder, kv_cache_mb=megabytes) as server, ThreadPoolExecutor(len(REQUESTS)) as clients:

        def watch(extend: Callable[[Any], Any], feeds: Any) -> Any:
            while server.asked < 4 and not seen:
                time.sleep(0.01)
            answers = extend(feeds)
            scheduler = server.answerer.scheduler
            seen.append((len(scheduler._jobs), scheduler._batch.engine.allocated_bytes))
            return answers

        with server.passing(watch):
            answers = clients.map(lambda fields: server.ask(**fields), [small] * 4)  # at least these fit in together
            assert {answer.status_code for answer in answers} == {200}
            answers = clients.map(lambda fields: server.ask(**fields), REQUESTS)
            assert {answer.status_code for answer in answers} == {200}
    together = [size for jobs, size in seen if jobs > 1]
    assert together and max(together) <= megabytes << 20  # a request may always run alone
