"""The server in a thread of this process, and what its tests send."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn

from tooldecoding.decoder import ToolDecoder
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.app import Server
from tooldecoding.server.run import web_server

MODEL = "reference"
PATIENCE = 120
"""Seconds after which a test gives up; nothing is measured with it."""


def tool(name: str, required: list[str] | None = None, description: str = "", **properties: Any) -> dict[str, Any]:
    """A tool in OpenAI's shape; all keys are required unless said otherwise."""
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
    }
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


WEATHER = tool(
    "get_weather",
    description="Get the weather of a city for some days.",
    city={"type": "string", "description": "The city."},
    days={"type": "integer", "description": "How many days."},
)
TABLE = tool(
    "book_table",
    description="Book a table in a restaurant.",
    restaurant={"type": "string", "description": "The restaurant."},
    people={"type": "integer", "description": "How many people."},
)
TOOLS = [WEATHER, TABLE]
ROME = [{"role": "user", "content": "What is the weather in Rome for 3 days?"}]
HELLO = [{"role": "user", "content": "Hello, who are you?"}]


def body(**fields: Any) -> dict[str, Any]:
    """A request for the weather in Rome, changed."""
    return {"model": MODEL, "messages": ROME, "tools": TOOLS, "max_tokens": 40} | fields


@dataclass(frozen=True)
class Running:
    """A server that answers.

    ``http`` asks it; ``server`` is what runs, and ``web`` what serves it.
    """

    server: Server
    web: uvicorn.Server
    port: int
    http: httpx.Client

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, **fields: Any) -> httpx.Response:
        """Send a request for the weather in Rome, changed."""
        return self.send(json.dumps(body(**fields)))

    def send(self, content: str | bytes, headers: Mapping[str, str] | None = None) -> httpx.Response:
        """Send any content to chat completions."""
        given = {"Content-Type": "application/json"} | dict(headers or {})
        return self.http.post("/v1/chat/completions", content=content, headers=given)

    def chunks(self, **fields: Any) -> list[dict[str, Any]]:
        """Send a request for a stream; returns its events, of which the last must be ``[DONE]``."""
        answer = self.ask(**fields | {"stream": True})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith("text/event-stream")
        *events, last, rest = answer.text.split("\n\n")
        assert (last, rest) == ("data: [DONE]", "")
        return [json.loads(event.removeprefix("data: ")) for event in events]

    def unread(self, **fields: Any) -> socket.socket:
        """Send a request and read nothing; returns the connection."""
        content = json.dumps(body(**fields)).encode()
        connection = self.connect()
        head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        return connection

    def connect(self) -> socket.socket:
        """A connection with a small buffer."""
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(PATIENCE)
        connection.connect(("127.0.0.1", self.port))
        return connection

    def figure(self, name: str) -> float:
        """A figure of ``/metrics``."""
        lines = self.http.get("/metrics").text.splitlines()
        return next(float(line.split()[-1]) for line in lines if line.split()[0] == f"tooldecoding_{name}")

    @contextmanager
    def held(self) -> Iterator[threading.Event]:
        """Forward passes wait until the block ends, or the event is set."""
        go = threading.Event()

        def hold(extend: Callable[[Any], Any], feeds: Any) -> Any:
            assert go.wait(PATIENCE)
            return extend(feeds)

        with self.passing(hold):
            try:
                yield go
            finally:
                go.set()

    @contextmanager
    def passing(self, change: Callable[[Callable[[Any], Any], Any], Any]) -> Iterator[None]:
        """Each forward pass of the engine that runs is ``change(extend, feeds)``."""
        engine: Any = self.server.scheduler._batch.engine
        extend = engine.extend
        engine.extend = lambda feeds: change(extend, feeds)
        try:
            yield
        finally:
            del engine.extend


@contextmanager
def running(decoder: ToolDecoder, **options: Any) -> Iterator[Running]:
    """A server on a free port."""
    settings = ServeCommand(**{"model": MODEL} | options)
    served = Server(decoder, settings)
    web = web_server(served.app(), settings)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # slow readers are noticed soon
        port = listening.getsockname()[1]
        thread = threading.Thread(target=web.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        wait_until(lambda: web.started)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as http:
            try:
                yield Running(served, web, port, http)
            finally:
                web.should_exit = True
                thread.join(PATIENCE)
        assert not thread.is_alive()


def wait_until(happened: Callable[[], bool]) -> None:
    """Return when something has happened."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


def error_of(answer: httpx.Response, status: int) -> dict[str, Any]:
    """OpenAI's error object, of which every key is there; nothing of the program's inside is told."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"]
    assert "Traceback" not in answer.text and ".py" not in answer.text
    [(name, error)] = answer.json().items()
    assert name == "error" and set(error) == {"message", "type", "param", "code"}
    assert isinstance(error["message"], str) and error["message"]
    return dict(error)
