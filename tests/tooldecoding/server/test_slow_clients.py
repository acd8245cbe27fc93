"""Clients that are slow to send or to read, and too many of them: each is bounded, and the others are served."""

import contextlib
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from running_server import HELLO, PATIENCE, Running, running, wait_until
from tooldecoding.decoder import ToolDecoder

HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
WORDY = "m" * 20_000
"""A name of the model that makes each answer, and each piece of a stream, long."""
LONG = {"model": WORDY, "messages": HELLO, "tools": None, "max_tokens": 320}


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


def trickle(connection: socket.socket, sent: bytes) -> None:
    """Send a text again and again, slowly, until nobody takes it any more."""
    end = time.monotonic() + PATIENCE
    with contextlib.suppress(ConnectionError):
        while True:
            assert time.monotonic() < end, "the server listens for ever"
            connection.sendall(sent)
            time.sleep(0.05)


@pytest.mark.parametrize("begun", [b"", HEAD, HEAD + b"\r\n"], ids=["nothing", "headers", "a second request"])
def test_headers_must_come_in_time(impatient: Running, begun: bytes) -> None:
    with closing(impatient.connect()) as connection, closing(impatient.connect()) as silent:
        connection.sendall(begun)
        trickle(connection, b"X" if begun else b"G")
        assert rest(silent) == b""
        assert (b"200 OK" in rest(connection)) == begun.endswith(b"\r\n\r\n")
    impatient.assert_served()


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_nobody_reads_is_given_up(impatient: Running, stream: bool) -> None:
    state: Any = impatient.web.server_state
    with closing(impatient.unread(**LONG, stream=stream)) as connection:
        wait_until(lambda: asked(impatient) == 1)
        impatient.assert_served()
        wait_until(lambda: asked(impatient) == 0 and len(state.connections) == 1)  # that of the other client
        assert not rest(connection).endswith((b"}", b"0\r\n\r\n"))
    wait_until(lambda: not state.tasks)


def test_what_waits_for_a_client_is_bounded(reference: ToolDecoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooldecoding.server.scheduler._MOST_UNREAD", 20)
    with (
        running(reference, served_model_name=(WORDY,)) as server,
        closing(server.unread(**LONG, stream=True)) as connection,
    ):
        wait_until(lambda: server.figure("cancelled_total") == 1)
        assert asked(server) == 0
        received = rest(connection)
    assert received.count(b"data: ") < 200 and b'"the stream is not read"' in received and b"[DONE]" not in received


def asked(server: Running) -> int:
    """Requests that run or wait."""
    return int(server.figure("running") + server.figure("waiting"))


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
