"""A server of its own for each measurement, in a process of its own."""

import json
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any, Final
from urllib.request import urlopen

from eval.errors import EvalError
from eval.load.client import HOST
from tooldecoding.options.serve_command import KEY_VARIABLE

GAUGES: Final[Mapping[str, str]] = {
    "tooldecoding_running": "running",
    "tooldecoding_waiting": "waiting",
    "tooldecoding_kv_cache_bytes": "bytes",
}
"""Of /metrics, all 0 when nothing runs -> their short names."""

_SETTLE: Final = 10.0
"""Seconds in which the server gives up what was hung up."""
_END: Final = 60.0
_LOAD: Final = 600.0
_TRIES: Final = 200


class ServerProcess:
    """A running server. ``serving`` starts and stops it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: deque[str] = deque(maxlen=3)
        self._ready = Event()
        self.port = 0
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait(self) -> None:
        """Wait until it takes requests; EvalError if it never does."""
        if not self._ready.wait(_LOAD):
            raise EvalError(f"the server is not ready after {_LOAD:g} s")
        if not self.port:
            last = self._lines[-1].removeprefix("error: ") if self._lines else "it says nothing"
            raise EvalError(f"the server ended before it was ready: {last}")
        for _ in range(_TRIES):  # it says that it is ready a moment before it listens
            with suppress(OSError), socket.create_connection((HOST, self.port)):
                return
            sleep(0.05)
        raise EvalError(f"the server does not listen on port {self.port}")

    def memory(self) -> int | None:
        """Return the most bytes of resident memory so far; None where there is no /proc."""
        try:
            lines = Path(f"/proc/{self._process.pid}/status").read_text(encoding="utf-8").splitlines()
        except OSError:
            return None
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), None)

    def processor(self) -> float | None:
        """Return seconds of processor time so far; None where there is no /proc."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def left(self) -> dict[str, float]:
        """Return the gauges that do not go back to 0, by their short names."""
        deadline = monotonic() + _SETTLE
        while (found := self._gauges()) and monotonic() < deadline:
            sleep(0.1)
        return found

    def stop(self) -> None:
        """Ask it to end, and wait."""
        self._process.terminate()
        try:
            self._process.wait(_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            print(f"warning: the server did not end within {_END:g} s; killed", file=sys.stderr)
        self._reader.join()

    def _gauges(self) -> dict[str, float]:
        with urlopen(f"http://{HOST}:{self.port}/metrics", timeout=_SETTLE) as answer:
            lines = [line.split() for line in answer.read().decode().splitlines()]
        found = {GAUGES[line[0]]: float(line[1]) for line in lines if line and line[0] in GAUGES}
        return {name: value for name, value in found.items() if value}

    def _read(self) -> None:
        """Read the log until it ends, so that the server never waits for a reader."""
        port = 0
        assert self._process.stderr is not None
        for line in self._process.stderr:
            event = _event(line)
            if event.get("event") == "listening":
                port = event["port"]
            elif event.get("event") == "ready":
                self.port = port
                self._ready.set()
            elif not event and line.strip():
                self._lines.append(line.strip())
        self._ready.set()


def server_command(model: str, max_batch: int, queue: int) -> list[str]:
    """Return the command that serves a model on a free port of this machine."""
    command = [sys.executable, "-m", "tooldecoding", "serve", "--model", model, "--host", HOST, "--port", "0"]
    return [*command, "--max-batch", str(max_batch), "--queue", str(queue)]


@contextmanager
def serving(command: Sequence[str]) -> Iterator[ServerProcess]:
    """Inside the block, a server runs; EvalError if it cannot be started."""
    environment = {name: value for name, value in os.environ.items() if name != KEY_VARIABLE}
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment,
        start_new_session=True,  # an interrupt at the terminal reaches the bench, which stops it
    )
    server = ServerProcess(process)
    try:
        server.wait()
        yield server
    finally:
        server.stop()


def _event(line: str) -> dict[str, Any]:
    """Return an event of the log; empty for another line."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
