"""Many replicas behind one address: routing, streams, errors, dead replicas and the end. Needs Ray."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import httpx
import pytest

import running_server
from running_server import (
    HELLO,
    MODEL,
    PATH,
    ROME,
    TOOLS,
    Process,
    Running,
    body,
    error_of,
    lines_of,
    serving,
    told,
    wait_until,
)
from tooldecoding.options.serve_command import ServeCommand

pytest.importorskip("ray", reason="the extra ray is not installed")
from ray.exceptions import RayError
from test_openai_client import REQUESTS

from tooldecoding.server.app import application
from tooldecoding.server.exchange import ResponseStart
from tooldecoding.server.replicas.replica import BeginningRouter
from tooldecoding.server.replicas.replicas import Replicas, _beginning


def beginning(**fields: Any) -> str:
    return _beginning(body(**fields))


def test_requests_with_the_same_tools_begin_alike_and_without_tools_a_dialogue_goes_on_where_it_began() -> None:
    other = [{"role": "system", "content": "Be short."}, *HELLO]
    assert beginning() == beginning(messages=other, stream=True, tool_choice="required")
    assert len({beginning(tools=tools) for tools in (TOOLS[:1], TOOLS, TOOLS[::-1])}) == 3
    answered = [*HELLO, {"role": "assistant", "content": "Hi."}, *ROME]
    assert beginning(tools=None) == beginning(tools=[], messages=[*ROME, *answered])
    assert beginning(tools=None, messages=HELLO) == beginning(tools=None, messages=answered)
    assert beginning(tools=None, messages=HELLO) != beginning(tools=None)


class Name(str):
    """The id of a replica."""

    unique_id = property(str)


def ranked(beginning: str, replicas: Sequence[str], routed: Sequence[str] = ()) -> list[str]:
    """The names of the replicas to try, the best first; each is full with two requests, of which some are routed."""
    router: Any = object.__new__(BeginningRouter)
    router.initialize_state(most=2)
    for number, replica in enumerate([*routed, *4 * [*replicas]]):
        metadata: Any = SimpleNamespace(internal_request_id=str(number))
        begun = partial(router.on_request_routed, SimpleNamespace(metadata=metadata), Name(replica), None)
        ended = partial(router.on_request_completed, Name(replica), str(number))
        # of a short request Ray may tell the end first
        for tell in (begun,) if number < len(routed) else (begun, ended) if number % 2 else (ended, begun):
            tell()
    pending = SimpleNamespace(args=(beginning, {}, ""), routing_context=SimpleNamespace())
    given = [SimpleNamespace(replica_id=Name(each)) for each in replicas]
    ranks = asyncio.run(router.choose_replicas(given, pending))
    assert pending.routing_context.should_backoff
    return [each.replica_id.unique_id for [each] in ranks]


def test_a_beginning_keeps_its_replica_and_few_move_when_one_comes_or_goes() -> None:
    names, draw = [f"replica {number}" for number in range(4)], random.Random(1)
    first = []
    for number in range(400):
        order = ranked(f"tools {number}", names)
        assert sorted(order) == sorted(names)
        assert order == ranked(f"tools {number}", draw.sample(names, 4))
        gone = draw.choice(names)
        assert ranked(f"tools {number}", [n for n in names if n != gone]) == [n for n in order if n != gone]
        first.append(order[0])
    assert all(60 < first.count(name) < 140 for name in names)


def test_nobody_waits_while_a_replica_has_a_free_place() -> None:
    first, second, third = order = ranked("tools", "abc")
    assert ranked("tools", "abc", routed=[first]) == order
    assert ranked("tools", "abc", routed=[first] * 2) == [second, third, first]
    assert ranked("tools", "abc", routed=[*order, *order, second]) == [first, third, second]


def sent(*firsts: Any) -> tuple[httpx.Response, list[MagicMock]]:
    """The answer to a request, and what replicas were asked for one after another: each tells its first part."""
    options = ServeCommand(model="new", timeout=0.01, max_batch=1, queue=0)
    replicas, asked = Replicas("x", options), list[MagicMock]()

    def ask(*_: Any) -> MagicMock:
        asked.append(MagicMock())
        asked[-1].__anext__.side_effect = firsts[len(asked) - 1]
        return asked[-1]

    replicas._handle = MagicMock(remote=ask)

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(application(replicas, options))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            return await http.post(PATH, json=body())

    return asyncio.run(send()), asked


@pytest.mark.parametrize("deaths", [0, 1, 2])
def test_a_request_is_tried_twice(deaths: int) -> None:
    answer, asked = sent(*[RayError()] * deaths, [ResponseStart(200, {}, {"X-Replica": "a"})])
    assert [each.cancel.call_count for each in asked] == ([1] * deaths + [0])[:2]
    if deaths == 2:
        assert error_of(answer, 503)["code"] == "replica_lost"
        assert answer.headers["retry-after"] == "1"
    else:
        assert (answer.status_code, answer.text, answer.headers["x-replica"]) == (200, "{}", "a")


def test_a_replica_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooldecoding.server.replicas.replicas._GRACE_S", 0.01)
    answer, [asked] = sent(asyncio.Event().wait)
    assert error_of(answer, 504)["code"] == "timeout"
    asked.cancel.assert_called_once()


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """Two replicas."""
    if (os.cpu_count() or 1) < 2:
        pytest.skip("two replicas need two processors")
    command = running_server.__file__, "serve", "--ray", "local", "--replicas", 2, "--port", 0, "--device", "cpu"
    with serving(tmp_path_factory.mktemp("serve"), *command, "--api-key", "k", "--max-batch", 2) as found:
        found.http.headers["Authorization"] = "Bearer k"
        yield found


def test_the_same_tools_go_to_the_same_replica(stubs: Process) -> None:
    def together() -> bool:  # on a busy machine the router hears late that a replica is free again
        went = {tools: {stubs.tell("hello", tools).headers["x-replica"] for _ in range(2)} for tools in range(24)}
        return all(len(each) == 1 for each in went.values()) and len(set.union(*went.values())) == 2

    wait_until(together)


def test_a_replica_that_is_full_is_passed_over(stubs: Process) -> None:
    full: set[str] = set()

    def passed_over() -> bool:
        with stubs.streamed(**told("stream", 10)) as first, stubs.streamed(**told("stream", 10)) as second:
            full.clear()
            full.update(answer.headers["x-replica"] for answer in (first, second))
            other = stubs.tell("hello", 10).headers["x-replica"]
            stubs.free()
        return len(full) == 1 and other not in full

    wait_until(passed_over)
    wait_until(lambda: stubs.tell("hello", 10).headers["x-replica"] in full)


@pytest.mark.parametrize("what", ["stream", "wait"])
def test_who_hangs_up_cancels_the_request_in_the_replica(stubs: Process, what: str) -> None:
    hurried = httpx.Client(base_url=stubs.url, headers=stubs.http.headers, timeout=0.5)
    with hurried, pytest.raises(httpx.ReadTimeout):
        hurried.post(PATH, json=told(what))
    wait_until(lambda: stubs.figure("running") == 0)


def test_the_key_is_demanded_before_the_replicas(stubs: Process) -> None:
    assert error_of(stubs.send(json.dumps(told("hello")), {"Authorization": "Bearer x"}), 401)
    assert stubs.tell("hello").json()["key"] is None
    assert httpx.get(f"{stubs.http.base_url}/ready").json()["replicas"] == {"running": 2, "wanted": 2}


def test_a_request_whose_replica_dies_is_answered_by_another(stubs: Process) -> None:
    first = stubs.tell("hello", 40)
    with ThreadPoolExecutor(1) as clients, stubs.streamed(**told("stream", 40)) as stream:
        lines = lines_of(stream)
        assert first.json()["pid"] == json.loads(next(lines).removeprefix("data: "))["pid"]
        whole = clients.submit(stubs.tell, "wait", 40)
        wait_until(lambda: stubs.figure("running") == 2)
        os.kill(first.json()["pid"], signal.SIGKILL)
        [last] = lines
        assert json.loads(last.removeprefix("data: "))["error"]["code"] == "replica_lost"
        wait_until(lambda: stubs.figure("running") == 1)
        stubs.free()
        assert whole.result().status_code == 200
        assert whole.result().headers["x-replica"] != first.headers["x-replica"]
    assert all(stubs.tell("hello", tools).status_code == 200 for tools in range(4))
    for status in ("degraded", "ok"):  # another one is started
        wait_until(lambda status=status: stubs.http.get("/health").json()["status"] == status)  # type: ignore[misc]


@pytest.mark.slow
def test_a_model_that_cannot_be_loaded_is_one_line() -> None:
    command = (sys.executable, "-m", "tooldecoding", "serve", "--ray", "local", "--replicas", "1", "--port", "0")
    ran = subprocess.run([*command, "--model", "./nowhere"], capture_output=True, text=True, check=False)
    assert ran.returncode == 2 and ran.stderr.endswith(
        "error: a replica could not be started: no model folder at './nowhere'\n"
    )


def test_answers_are_those_of_one_server(stubs: Process, server: Running) -> None:
    for number, (request, *_) in enumerate(REQUESTS.values()):
        asked = {"tools": None, "stream": number % 2 > 0} | request
        assert stubs.answered(**asked) == server.answered(**asked)
    assert stubs.http.get("/").text == server.http.get("/").text
    assert stubs.http.get(f"/v1/models/{MODEL}").json()["id"] == MODEL
    assert stubs.figure("completion_tokens_total") > 0
    assert stubs.http.get("/health").json()["replicas"] == {"running": 2, "wanted": 2}


def test_what_runs_is_finished_before_the_end(stubs: Process) -> None:
    stubs.assert_what_runs_is_finished()
    assert all("(raylet)" in line["text"] for line in stubs.logged("text"))  # Ray tells of replicas that were killed
