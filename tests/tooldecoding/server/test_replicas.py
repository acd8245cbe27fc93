"""Many replicas behind one address: routing, streams, errors, dead replicas, updates and the end. Needs Ray."""

import json
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from command_line import Cli, assert_bad
from running_server import (
    HELLO,
    MODEL,
    PATIENCE,
    Running,
    RunningReplicas,
    error_of,
    every_kind,
    running_replicas,
    told,
    wait_until,
)

PATH = "/v1/chat/completions"
SETTINGS = "replicas: 2\nmodel: stub\napi_key: k\nmax_batch: 2\nmax_body_mb: 1\nmax_value_tokens: {kept}\n"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("serve") / "deployment.yaml"
    path.write_text(SETTINGS.format(kept=1))
    return path


@pytest.fixture(scope="module")
def stubs(settings: Path) -> Iterator[RunningReplicas]:
    """Two replicas with stubs."""
    pytest.importorskip("ray", reason="the extra ray is not installed")
    if (os.cpu_count() or 1) < 2:
        pytest.skip("two replicas need two processors")
    with running_replicas(settings) as found:
        found.http.headers["Authorization"] = "Bearer k"
        yield found


def test_the_same_tools_go_to_the_same_replica(stubs: RunningReplicas) -> None:
    def together() -> bool:  # on a busy machine the router hears late that a replica is free again
        went = {tools: {stubs.ask("hello", tools).headers["x-replica"] for _ in range(2)} for tools in range(24)}
        return all(len(each) == 1 for each in went.values()) and len(set.union(*went.values())) == 2

    wait_until(together)


def test_a_replica_that_is_full_is_passed_over(stubs: RunningReplicas) -> None:
    full: set[str] = set()

    def passed_over() -> bool:
        with stubs.stream(10) as first, stubs.stream(10) as second:
            full.clear()
            full.update(answer.headers["x-replica"] for answer in (first, second))
            other = stubs.ask("hello", 10).headers["x-replica"]
            stubs.free()
        return len(full) == 1 and other not in full

    wait_until(passed_over)
    wait_until(lambda: stubs.ask("hello", 10).headers["x-replica"] in full)


def test_a_stream_is_a_stream(stubs: RunningReplicas) -> None:
    with stubs.stream(tools=20) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = (line for line in answer.iter_lines() if line)
        assert "pid" in next(lines)  # while the replica waits to go on
        stubs.free()
        assert list(lines) == ['data: {"more": true}']


@pytest.mark.parametrize("what", ["stream", "wait"])
def test_who_hangs_up_cancels_the_request_in_the_replica(stubs: RunningReplicas, what: str) -> None:
    client = httpx.Client(base_url=stubs.http.base_url, headers=stubs.http.headers, timeout=0.5)
    with client, pytest.raises(httpx.ReadTimeout):
        client.post(PATH, json=told(what))
    wait_until(lambda: stubs.figure("running") == 0)


def test_the_key_is_demanded_before_the_replicas(stubs: RunningReplicas) -> None:
    assert error_of(stubs.http.post(PATH, json=told("hello"), headers={"Authorization": "Bearer x"}), 401)
    assert stubs.ask("hello").json()["key"] is None
    assert httpx.get(f"{stubs.http.base_url}/ready").json()["replicas"] == {"running": 2, "wanted": 2}


def test_a_request_whose_replica_dies_is_answered_by_another(stubs: RunningReplicas) -> None:
    first = stubs.ask("hello", 40)
    with ThreadPoolExecutor(1) as clients, stubs.stream(tools=40) as stream:
        lines = (line for line in stream.iter_lines() if line)
        assert first.json()["pid"] == json.loads(next(lines).removeprefix("data: "))["pid"]
        whole = clients.submit(stubs.ask, "wait", 40)
        wait_until(lambda: stubs.figure("running") == 2)
        os.kill(first.json()["pid"], signal.SIGKILL)
        [last] = lines
        assert json.loads(last.removeprefix("data: "))["error"]["code"] == "replica_lost"
        wait_until(lambda: stubs.figure("running") == 1)
        stubs.free()
        assert whole.result().status_code == 200
        assert whole.result().headers["x-replica"] != first.headers["x-replica"]
    assert all(stubs.ask("hello", tools).status_code == 200 for tools in range(4))
    wait_until(lambda: stubs.health() == "ok")


@pytest.mark.slow
def test_an_update_under_load_loses_nothing(stubs: RunningReplicas, settings: Path) -> None:
    done, answers = threading.Event(), list[httpx.Response]()

    def ask(tools: int) -> None:
        while not done.is_set():
            answers.append(stubs.ask("hello", tools))

    with ThreadPoolExecutor(3) as clients:
        asking = [clients.submit(ask, tools) for tools in range(3)]
        settings.write_text(SETTINGS.format(kept=2))
        try:
            update(stubs)
        finally:
            done.set()
        for each in asking:
            each.result()
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.json()["kept"] for answer in answers} == {1, 2}
    assert stubs.ask("hello").json()["kept"] == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("replicas: 2\nmodel: missing\napi_key: k\n", "there is no model", marks=pytest.mark.slow),
        ("modle: x\n", "modle"),
        ("replicas: 2\nhost: ::1\n", "--host"),
    ],
)
def test_an_update_that_is_refused_changes_nothing(
    stubs: RunningReplicas, settings: Path, text: str, reason: str
) -> None:
    before, refused = stubs.ask("hello").json()["kept"], len(stubs.logged("update refused"))
    settings.write_text(text)
    stubs.process.send_signal(signal.SIGHUP)
    wait_until(lambda: len(stubs.logged("update refused")) > refused)
    told = stubs.logged("update refused")[-1]["reason"]
    assert reason in told and "\n" not in told
    assert {stubs.ask("hello", tools).json()["kept"] for tools in range(4)} == {before}


def test_answers_are_those_of_one_server(stubs: RunningReplicas, server: Running, settings: Path) -> None:
    settings.write_text(f"replicas: 1\nmodel: {MODEL}\n")
    update(stubs)
    for request in every_kind():
        assert stubs.server.answered(**request) == server.answered(**request)
    assert stubs.http.get("/").text == server.http.get("/").text
    assert stubs.http.get(f"/v1/models/{MODEL}").json()["id"] == MODEL
    assert stubs.figure("completion_tokens_total") > 0
    assert stubs.http.get("/health").json()["replicas"] == {"running": 1, "wanted": 1}


def update(stubs: RunningReplicas) -> None:
    """Let the settings be read again; returns when that is done."""
    before = len(stubs.logged("updated"))
    stubs.process.send_signal(signal.SIGHUP)
    wait_until(lambda: len(stubs.logged("updated")) > before)


def test_what_runs_is_finished_before_the_end(stubs: RunningReplicas) -> None:
    asked = {"model": MODEL, "messages": HELLO, "stream": True, "max_tokens": 200}
    with stubs.http.stream("POST", PATH, json=asked) as answer:
        lines = (line for line in answer.iter_lines() if line)
        assert "assistant" in next(lines)
        stubs.process.send_signal(signal.SIGTERM)
        assert list(lines)[-1] == "data: [DONE]"
    assert stubs.process.wait(PATIENCE) == 128 + signal.SIGTERM
    assert stubs.lines[-1]["event"] == "stopped"
    assert all("(raylet)" in line["text"] for line in stubs.logged("text"))  # Ray tells of replicas that were killed


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--replicas", 2], ["--replicas", "--ray"]),
        (["--gpus-per-replica", 1], ["--gpus-per-replica", "--ray"]),
        (["--ray", "local"], ["--ray", "--replicas N"]),
        (["--ray", "local", "--replicas", 0], ["--replicas", "1 or more"]),
        (["--ray", "local", "--replicas", 1, "--gpus-per-replica", 1.5], ["--gpus-per-replica", "1.5"]),
    ],
)
def test_options_that_do_not_fit_are_told(cli: Cli, arguments: list[Any], parts: list[str]) -> None:
    assert_bad(cli("serve", *arguments), *parts)
