"""``tooldecoding serve`` as a process: its address, its log, and how it ends."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from command_line import Ran, assert_bad
from running_server import HELLO, PATIENCE

PATH = "/v1/chat/completions"


def test_a_port_in_use_is_told_before_the_model_is_loaded(
    cli: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("tooldecoding.cli.serve.load_decoder")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert_bad(cli("serve", "--port", port), "cannot listen on 127.0.0.1", str(port), "in use")


def test_what_runs_is_finished_when_the_server_is_told_to_stop() -> None:
    command = [sys.executable, "-m", "tooldecoding", "serve", "--model", "reference", "--port", "0", "--device", "cpu"]
    alone = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=alone) as serve:
        assert serve.stderr is not None
        try:
            lines = []
            while not lines or lines[-1]["event"] != "ready":
                lines.append(json.loads(serve.stderr.readline()))
            [port] = [line["port"] for line in lines if line["event"] == "listening"]
            text = {"model": "reference", "messages": HELLO, "max_tokens": 150}
            with (
                httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as http,
                ThreadPoolExecutor(1) as clients,
                http.stream("POST", PATH, json=text | {"stream": True}) as stream,
            ):
                events = stream.iter_lines()
                assert "assistant" in next(events)
                whole = clients.submit(http.post, PATH, json=text)
                while "tooldecoding_running 2.0" not in (figures := http.get("/metrics").text):
                    assert not whole.done(), figures
                serve.send_signal(signal.SIGTERM)
                assert [line for line in events if line][-1] == "data: [DONE]"
                assert whole.result().json()["usage"]["completion_tokens"] > 0
            assert serve.wait(PATIENCE) == 128 + signal.SIGTERM
            lines += map(json.loads, serve.stderr)
        finally:
            serve.kill()
    assert lines[-1]["event"] == "stopped"
    answered = [line for line in lines if line["event"] == "answered" and line["path"] == PATH]
    assert [line["status"] for line in answered] == [200, 200]
    assert all({"time", "level", "event"} <= line.keys() and line["level"] == "info" for line in lines)
    assert HELLO[0]["content"] not in str(lines)
