"""``tooldecoding serve --ray`` as a process, and what its tests ask of it."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import httpx

from replica_stub import GO
from running_server import PATIENCE, tool, wait_until

TESTS = Path(__file__).parent


def told(what: str, tools: int = 0, **fields: Any) -> dict[str, Any]:
    """A request that a stub does; ``tools`` says which."""
    given = [tool(f"tool_{tools}", x={"type": "string"})]
    return {"model": "stub", "messages": [{"role": "user", "content": what}], "tools": given} | fields


@dataclass(frozen=True)
class Replicas:
    """A server with replicas that answers."""

    process: subprocess.Popen[str]
    lines: list[dict[str, Any]]
    http: httpx.Client
    go: Path

    def free(self) -> None:
        """Let everything go on that waits."""
        self.go.touch()
        wait_until(lambda: not self.figure("running"))
        self.go.unlink()

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

    def stop(self) -> int:
        """Tell it to stop, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


@contextmanager
def replicas(settings: Path) -> Iterator[Replicas]:
    """Inside the block, a process serves with the settings of a file."""
    go = settings.with_name("go")
    command = [TESTS / "replica_stub.py", "serve", "--ray", "local", "--port", "0", "--config", settings]
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "RAY_worker_niceness": "0", GO: str(go)}
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
                yield Replicas(process, lines, http, go)
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)
        finally:
            process.kill()
            reader.join(PATIENCE)


def _read(stream: IO[str], lines: list[dict[str, Any]]) -> None:
    for line in stream:
        lines.append(json.loads(line) if line.startswith("{") else {"event": "text", "text": line})
