"""The server in a thread of this process, or as a process, and what its tests send."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import httpx
import uvicorn

from call_ids import without_ids
from tooldecoding.decoder import ToolDecoder
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.app import application
from tooldecoding.server.chat_completions import ChatCompletions
from tooldecoding.server.exchange import Answerer
from tooldecoding.server.web_server import web_server
from tools import documented

MODEL = "reference"
PATH = "/v1/chat/completions"
RESPONSES = "/v1/responses"
PATIENCE = 120
"""Seconds after which a test gives up; nothing is measured with it."""


def tool(name: str, required: list[str] | None = None, description: str = "", **properties: Any) -> dict[str, Any]:
    """A tool in OpenAI's shape; all keys are required unless said otherwise."""
    return {"type": "function", "function": documented(name, required, description, **properties)}


def called(identifier: str, name: str, arguments: str) -> dict[str, Any]:
    """A call in a message of the assistant."""
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def in_schema(schema: Mapping[str, Any], strict: bool | None = None) -> dict[str, Any]:
    """The ``response_format`` of answers that fit a schema."""
    return {"type": "json_schema", "json_schema": {"name": "x", "schema": schema, "strict": strict}}


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
class Server:
    """A server that answers; ``http`` asks it."""

    http: httpx.Client

    @property
    def url(self) -> str:
        return str(self.http.base_url).rstrip("/")

    def ask(self, **fields: Any) -> httpx.Response:
        """Send a request for the weather in Rome, changed."""
        return self.send(json.dumps(body(**fields)))

    def send(self, content: Any, headers: Mapping[str, str] | None = None, path: str = PATH) -> httpx.Response:
        """Send any content, a text, bytes or pieces."""
        given = {"Content-Type": "application/json"} | dict(headers or {})
        return self.http.post(path, content=content, headers=given)

    def chunks(self, **fields: Any) -> list[dict[str, Any]]:
        """Send a request for a stream; returns its events, of which the last must be ``[DONE]``."""
        answer = self.ask(**fields | {"stream": True})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith("text/event-stream")
        *events, last, rest = answer.text.split("\n\n")
        assert (last, rest) == ("data: [DONE]", "")
        return [json.loads(event.removeprefix("data: ")) for event in events]

    def streamed(self, **fields: Any) -> AbstractContextManager[httpx.Response]:
        """Send a request for a stream, whose lines come behind its head."""
        return self.http.stream("POST", PATH, json=body(**fields | {"stream": True}))

    def answered(self, **fields: Any) -> Any:
        """What a client sees, without ids, times, cost, and numbers that rounding changes."""
        answers = self.chunks(**fields) if fields.get("stream") else [self.ask(**fields).json()]
        found = answers[-1]["tooldecoding"]
        assert found.pop("counters")["forward_passes"] > 0
        for call in found["calls"]:
            assert 0 < call.pop("confidence") < 1 and 0 < (call.pop("name_confidence") or 1) <= 1
            for parameter in call["parameters"]:
                assert parameter.pop("logprob") <= 0 < parameter.pop("confidence")
                (parameter["runner_up"] or {}).pop("confidence", None)
        return without_ids([answer["choices"] for answer in answers]), found

    def assert_served(self) -> None:
        """A request for the weather in Rome is answered right."""
        [choice] = self.ask(tool_choice="required", tooldecoding={"order_limit": 1}).json()["choices"]
        arguments = choice["message"]["tool_calls"][0]["function"]["arguments"]
        assert json.loads(arguments) == {"city": "Rome", "days": 3}

    def figure(self, name: str) -> float:
        """A figure of ``/metrics``, 0 if there is none yet."""
        lines = self.http.get("/metrics").text.splitlines()
        starts = f"tooldecoding_{name} ", f"tooldecoding_{name}{{"
        return sum(float(line.split()[-1]) for line in lines if line.startswith(starts))


@dataclass(frozen=True)
class Running(Server):
    """A server in this process: ``answerer`` is what answers, and ``web`` what serves it."""

    answerer: Any
    web: uvicorn.Server

    @property
    def asked(self) -> int:
        """Requests that run or wait."""
        scheduler = self.answerer.scheduler
        return len(scheduler._jobs) + len(scheduler._waiting)

    def wait_until_idle(self) -> None:
        """Return when nothing runs or waits, and the engine has no branch left."""
        wait_until(lambda: not self.asked)
        assert len(self.answerer.scheduler._batch) == 0

    def unread(self, sent: int | None = None, **fields: Any) -> socket.socket:
        """Send a request, or its first bytes, and read nothing; returns the connection."""
        content = json.dumps(body(**fields)).encode()
        connection = self.connect()
        head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content[:sent])
        return connection

    def connect(self) -> socket.socket:
        """A connection with a small buffer."""
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(PATIENCE)
        connection.connect((self.http.base_url.host, self.http.base_url.port))
        return connection

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
        engine: Any = self.answerer.scheduler._batch.engine
        extend = engine.extend
        engine.extend = lambda feeds: change(extend, feeds)
        try:
            yield
        finally:
            del engine.extend


@contextmanager
def running(answers: ToolDecoder | Answerer, **options: Any) -> Iterator[Running]:
    """A server on a free port."""
    settings = ServeCommand(**{"model": MODEL} | options)
    answerer = ChatCompletions(answers, settings) if isinstance(answers, ToolDecoder) else answers
    web = web_server(application(answerer, settings), settings)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # slow readers are noticed soon
        port = listening.getsockname()[1]
        thread = threading.Thread(target=web.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        wait_until(lambda: web.started)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as http:
            try:
                yield Running(http, answerer, web)
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


def lines_of(stream: httpx.Response) -> Iterator[str]:
    """The lines of a stream that are not empty, as they come."""
    return filter(None, stream.iter_lines())


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


@dataclass(frozen=True)
class Process(Server):
    """A server that is a process; ``lines`` are its log."""

    process: subprocess.Popen[str]
    lines: list[dict[str, Any]]

    def logged(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == event]

    def assert_what_runs_is_finished(self) -> None:
        """Told to stop, it finishes a stream and an answer, and ends with the documented exit code."""
        text = {"messages": HELLO, "tools": None, "max_tokens": 320}
        with ThreadPoolExecutor(1) as clients, self.streamed(**text) as stream:
            events = lines_of(stream)
            assert "assistant" in next(events)
            whole = clients.submit(self.ask, **text)
            wait_until(lambda: self.figure("running") == 2)
            self.process.send_signal(signal.SIGTERM)
            assert [*events][-1] == "data: [DONE]"
            assert whole.result().json()["usage"]["completion_tokens"] > 0
        assert self.process.wait(PATIENCE) == 128 + signal.SIGTERM
        wait_until(lambda: self.lines[-1]["event"] == "stopped")


@contextmanager
def serving(*command: object) -> Iterator[Process]:
    """Inside the block, Python serves as a command says."""
    paths = os.pathsep.join(map(str, (Path(__file__).parent, Path(__file__).parents[1])))
    environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    lines: list[dict[str, Any]] = []
    with subprocess.Popen(
        [sys.executable, *map(str, command)], stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stderr is not None
        reader = threading.Thread(target=_read, args=(process.stderr, lines))
        reader.start()
        try:
            wait_until(lambda: any(line["event"] == "ready" for line in lines) or process.poll() is not None)
            assert process.poll() is None, lines
            [port] = [line["port"] for line in lines if line["event"] == "listening"]
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as http:
                yield Process(http, process, lines)
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)
        finally:
            process.kill()
            reader.join(PATIENCE)


def _read(stream: IO[str], lines: list[dict[str, Any]]) -> None:
    for line in stream:
        lines.append(json.loads(line) if line.startswith("{") else {"event": "text", "text": line})
