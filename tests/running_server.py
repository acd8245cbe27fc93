"""The server in a thread of this process, or with replicas as a process; what its tests send, and stubs that answer.

As a program it is the command line whose replicas load no model if it is called ``stub``.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import httpx
import uvicorn

from call_ids import without_ids
from tooldecoding.decoder import ToolDecoder
from tooldecoding.errors import ModelError
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.app import Answerer, application
from tooldecoding.server.completions import Completions
from tooldecoding.server.exchange import Head, Parts, event
from tooldecoding.server.web_server import web_server
from tools import documented

MODEL = "reference"
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


def every_kind() -> list[dict[str, Any]]:
    """Calls, text and answers in JSON, with prompts of many lengths, streamed and not."""
    asked: list[dict[str, Any]] = []
    for number, city in enumerate(["Rome", "Paris", "New York"]):
        said = f"{'Well, let me see. ' * 5**number}What is the weather in {city} for {number + 2} days?"
        asked.append({"messages": [{"role": "user", "content": said}], "tool_choice": "required"})
    extra = [tool(f"other_{number}", x={"type": "string"}) for number in range(8)]
    asked.append({"tools": TOOLS + extra})
    asked.append({"messages": HELLO, "tools": None, "max_tokens": 15})
    schema = documented("x", days={"type": "integer"})["parameters"]
    asked.append({"tools": None, "response_format": in_schema(schema), "max_tokens": 15})
    return [{"stream": stream, "tooldecoding": {"order_limit": 2}} | each for each in asked for stream in (False, True)]


@dataclass(frozen=True)
class Running:
    """A server that answers.

    ``http`` asks it; ``answerer`` is what answers, and ``web`` what serves it.
    """

    answerer: Any
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

    def answered(self, **fields: Any) -> Any:
        """What a client sees, without ids, times, cost, and numbers that rounding changes."""
        answers = self.chunks(**fields) if fields.get("stream") else [self.ask(**fields).json()]
        found = answers[-1]["tooldecoding"]
        assert found.pop("counters")["forward_passes"] > 0
        for call in found["calls"]:
            for parameter in call["parameters"]:
                assert parameter.pop("logprob") <= 0 < parameter.pop("confidence")
        return without_ids([answer["choices"] for answer in answers]), found

    def assert_served(self) -> None:
        """A request for the weather in Rome is answered right."""
        [choice] = self.ask(tool_choice="required", tooldecoding={"order_limit": 1}).json()["choices"]
        arguments = choice["message"]["tool_calls"][0]["function"]["arguments"]
        assert json.loads(arguments) == {"city": "Rome", "days": 3}

    @property
    def asked(self) -> int:
        """Requests that run or wait."""
        scheduler = self.answerer.scheduler
        return len(scheduler._jobs) + len(scheduler._waiting)

    def unread(self, sent: int | None = None, **fields: Any) -> socket.socket:
        """Send a request, or its first bytes, and read nothing; returns the connection."""
        content = json.dumps(body(**fields)).encode()
        connection = self.connect()
        head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content[:sent])
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
    answerer = Completions(answers, settings) if isinstance(answers, ToolDecoder) else answers
    web = web_server(application(answerer, settings), settings)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # slow readers are noticed soon
        port = listening.getsockname()[1]
        thread = threading.Thread(target=web.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        wait_until(lambda: web.started)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as http:
            try:
                yield Running(answerer, web, port, http)
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


class Told(Answerer):
    """Does what the message says: ``hello``, ``wait`` until the file ``GO`` is there, ``stream`` with a wait in it."""

    def __init__(self, options: ServeCommand) -> None:
        super().__init__()
        self._options = options

    async def answer(self, body: bytes, request_id: str) -> Parts:
        said = json.loads(body)["messages"][0]["content"]
        found = {"pid": os.getpid(), "kept": self._options.max_value_tokens, "key": self._options.api_key}
        if said == "stream":
            yield Head(200, event(found), streamed=True)
        if said in ("stream", "wait"):
            await self._wait()
        yield event({"more": True}) if said == "stream" else Head(200, json.dumps(found))

    async def _wait(self) -> None:
        self.metrics.running.inc()
        try:
            while not Path(os.environ["GO"]).exists():
                await asyncio.sleep(0.01)
        finally:
            self.metrics.running.dec()


def load(options: ServeCommand) -> Answerer:
    """What replicas load."""
    if options.model == "missing":
        raise ModelError("there is no model 'missing'")
    if options.model == "stub":
        return Told(options)
    from tooldecoding.server.replicas.replica import load_completions

    return load_completions(options)


def told(what: str, tools: int = 0, **fields: Any) -> dict[str, Any]:
    """A request that a stub does; ``tools`` says which."""
    given = [tool(f"tool_{tools}", x={"type": "string"})]
    return {"model": "stub", "messages": [{"role": "user", "content": what}], "tools": given} | fields


@dataclass(frozen=True)
class RunningReplicas:
    """A server with replicas that answers; ``lines`` are its log."""

    process: subprocess.Popen[str]
    lines: list[dict[str, Any]]
    http: httpx.Client
    go: Path

    def free(self) -> None:
        """Let everything go on that waits."""
        self.go.touch()
        wait_until(lambda: not self.figure("running"))
        self.go.unlink()

    @property
    def server(self) -> Running:
        """For requests that a model answers."""
        nothing: Any = None
        return Running(nothing, nothing, 0, self.http)

    def ask(self, what: str, tools: int = 0, **fields: Any) -> httpx.Response:
        return self.http.post("/v1/chat/completions", json=told(what, tools, **fields))

    def stream(self, tools: int = 0) -> Any:
        return self.http.stream("POST", "/v1/chat/completions", json=told("stream", tools))

    def figure(self, name: str) -> float:
        """A figure of all replicas together."""
        lines = self.http.get("/metrics").text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(f"tooldecoding_{name}{{replica="))

    def health(self) -> str:
        return str(self.http.get("/health").json()["status"])

    def logged(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == event]


@contextmanager
def running_replicas(settings: Path) -> Iterator[RunningReplicas]:
    """Inside the block, a process serves with the settings of a file."""
    go = settings.with_name("go")
    command = [__file__, "serve", "--ray", "local", "--port", "0", "--config", settings]
    paths = os.pathsep.join(map(str, (Path(__file__).parent, Path(__file__).parents[1])))
    environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "RAY_worker_niceness": "0", "GO": str(go)}
    lines: list[dict[str, Any]] = []
    with subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        reader = threading.Thread(target=_read, args=(process.stderr, lines))
        reader.start()
        try:
            wait_until(lambda: any(line["event"] == "ready" for line in lines) or process.poll() is not None)
            assert process.poll() is None, lines
            [port] = [line["port"] for line in lines if line["event"] == "listening"]
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as http:
                yield RunningReplicas(process, lines, http, go)
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)
        finally:
            process.kill()
            reader.join(PATIENCE)


def _read(stream: IO[str], lines: list[dict[str, Any]]) -> None:
    for line in stream:
        lines.append(json.loads(line) if line.startswith("{") else {"event": "text", "text": line})


def main() -> None:
    """Run the command line with stubs."""
    from running_server import load  # by the name under which a replica finds it
    from tooldecoding.cli.app import main
    from tooldecoding.server.replicas import run

    run.run_replicas = partial(run.run_replicas, load=load)
    main()


if __name__ == "__main__":
    main()
