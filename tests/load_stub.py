"""A server that answers as a request's user message says, and notes what its clients do."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from eval.load.requests import LoadRequest

CALL = {"name": "get_weather", "arguments": '{"city": "Rome"}'}
USAGE = {"prompt_tokens": 5, "completion_tokens": 3}


def request(kind: str, number: int = 0, **settings: Any) -> LoadRequest:
    """A request for one kind of answer: ``whole``, ``stream``, ``cut``, ``cut stream``, ``full``, ``failed stream``."""
    body = {"messages": [{"role": "user", "content": kind}], "stream": "stream" in kind}
    return LoadRequest(number, body, **settings)


class Stub(ThreadingHTTPServer):
    """Listens on a free port of this machine.

    Attributes
    ----------
    together : int
        Requests that wait for each other before they are answered.
    left : threading.Event
        Set when a client is gone before its stream ends.
    """

    daemon_threads = True

    def __init__(self, together: int = 1) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.meeting = threading.Barrier(together, timeout=10)
        self.left = threading.Event()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def handle_error(self, *_: Any) -> None:
        """Say nothing: clients hang up on purpose."""


class _Handler(BaseHTTPRequestHandler):
    server: Stub
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        kind = body["messages"][0]["content"]
        self.server.meeting.wait()
        if kind == "slow":
            time.sleep(0.3)
        if kind == "full":
            self._send(429, {"error": {"message": "the queue is full"}})
        elif body["stream"]:
            self._stream(kind)
        else:
            self._send(200, _whole(), len(kind) if kind == "cut" else 0)

    def _send(self, status: int, row: dict[str, Any], missing: int = 0) -> None:
        data = json.dumps(row).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data) + missing))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = True

    def _stream(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for row in _chunks():
            if row["choices"] and row["choices"][0]["finish_reason"]:
                if kind == "cut stream":
                    return
                if kind == "failed stream":
                    self._event({"error": {"message": "out of memory"}})
                    return
            self._event(row)
            if kind == "endless stream":
                self._go_on(row)
                return
        self.wfile.write(b"data: [DONE]\n\n")

    def _go_on(self, row: dict[str, Any]) -> None:
        try:
            for _ in range(1000):
                self._event(row)
                time.sleep(0.01)
        except OSError:
            self.server.left.set()

    def _event(self, row: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(row)}\n\n".encode())

    def log_message(self, *_: Any) -> None:
        """Keep the tests' output clean."""


def _whole() -> dict[str, Any]:
    message = {"role": "assistant", "content": "Hi there", "tool_calls": [{"id": "1", "function": CALL}]}
    return {"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": USAGE}


def _chunks() -> Iterator[dict[str, Any]]:
    begun = {"index": 0, "function": {"name": CALL["name"], "arguments": ""}}
    rest = {"index": 0, "function": {"arguments": CALL["arguments"]}}
    for delta in ({"content": "Hi"}, {"content": " there"}, {"tool_calls": [begun]}, {"tool_calls": [rest]}):
        yield {"choices": [{"delta": delta, "finish_reason": None}]}
    yield {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}
    yield {"choices": [], "usage": USAGE}


@contextmanager
def stub(together: int = 1) -> Iterator[Stub]:
    """Inside the block, the stub answers."""
    with Stub(together) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
