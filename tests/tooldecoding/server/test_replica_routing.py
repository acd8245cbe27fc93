"""Which replica a request goes to, and what happens to it there; without a cluster."""

import asyncio
import json
import random
from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from running_server import HELLO, ROME, TABLE, WEATHER, body, error_of
from tooldecoding.options.serve_command import ServeCommand

pytest.importorskip("ray", reason="the extra ray is not installed")
from ray.exceptions import RayError

from tooldecoding.server.app import application
from tooldecoding.server.exchange import Head
from tooldecoding.server.replicas.replica import BeginningRouter
from tooldecoding.server.replicas.replicas import Replicas, _routing

MODELS = {"a": ["old", "models/old"], "b": ["new"], "c": ["old"]}


def beginning(**fields: Any) -> str:
    return _routing(json.dumps(body(**fields)).encode())[0]


def test_requests_with_the_same_tools_begin_alike() -> None:
    other = [{"role": "system", "content": "Be short."}, *HELLO]
    assert beginning() == beginning(messages=other, stream=True, tool_choice="required")
    assert len({beginning(tools=tools) for tools in ([WEATHER], [WEATHER, TABLE], [TABLE, WEATHER])}) == 3


def test_without_tools_a_dialogue_goes_on_where_it_began() -> None:
    answered = [*HELLO, {"role": "assistant", "content": "Hi."}, *ROME]
    assert beginning(tools=None) == beginning(tools=[], messages=[*ROME, *answered])
    assert beginning(tools=None, messages=HELLO) == beginning(tools=None, messages=answered)
    assert beginning(tools=None, messages=HELLO) != beginning(tools=None)


class Name(str):
    """The id of a replica."""

    unique_id = property(str)


def ranked(beginning: str, model: str, replicas: Sequence[str], routed: Sequence[str] = ()) -> list[str]:
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
    given = [
        SimpleNamespace(replica_id=Name(each), replica_metadata={"names": MODELS.get(each, ())}) for each in replicas
    ]
    pending = SimpleNamespace(args=(beginning, model, b"", ""), routing_context=SimpleNamespace())
    ranks = asyncio.run(router.choose_replicas(given, pending))
    assert pending.routing_context.should_backoff
    return [each.replica_id.unique_id for [each] in ranks]


def test_a_beginning_keeps_its_replica_and_few_move_when_one_comes_or_goes() -> None:
    names, draw = [f"replica {number}" for number in range(4)], random.Random(1)
    first = []
    for number in range(400):
        order = ranked(f"tools {number}", "x", names)
        assert sorted(order) == sorted(names)
        assert order == ranked(f"tools {number}", "x", draw.sample(names, 4))
        gone = draw.choice(names)
        assert ranked(f"tools {number}", "x", [n for n in names if n != gone]) == [n for n in order if n != gone]
        first.append(order[0])
    assert all(60 < first.count(name) < 140 for name in names)


def test_nobody_waits_while_a_replica_has_a_free_place() -> None:
    first, second, third = order = ranked("tools", "x", "abc")
    assert ranked("tools", "x", "abc", routed=[first]) == order
    assert ranked("tools", "x", "abc", routed=[first] * 2) == [second, third, first]
    assert ranked("tools", "x", "abc", routed=[*order, *order, second]) == [first, third, second]


@pytest.mark.parametrize(
    ("model", "able"), [("old", {"a", "c"}), ("models/old", {"a"}), ("new", {"b"}), ("unknown", {"a", "b", "c"})]
)
def test_while_two_models_run_each_is_asked_for_itself(model: str, able: set[str]) -> None:
    assert set(ranked("tools", model, [*MODELS])) == able


class Fake:
    """Replicas that write what they are told; an error is raised, and behind the last part they hang."""

    def __init__(self, *answers: list[Any]) -> None:
        self.answers = [*answers]
        self.asked = self.cancelled = 0

    def remote(self, *_: Any) -> "Fake":
        self.asked += 1
        self._parts = self.answers.pop(0)
        return self

    async def __anext__(self) -> Any:
        if not self._parts:
            await asyncio.Event().wait()
        part = self._parts.pop(0)
        if isinstance(part, Exception):
            raise part
        return part

    def cancel(self) -> None:
        self.cancelled += 1


WHOLE = Head(200, "{}", {"X-Replica": "a"})


def sent(fake: Fake) -> httpx.Response:
    """The answer to a request."""
    options = ServeCommand(model="new", timeout=0.01, max_batch=1, queue=0)
    replicas = Replicas("x", lambda _: replicas, options)
    replicas._handle = fake  # type: ignore[assignment]

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(application(replicas, options))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            return await http.post("/v1/chat/completions", json=body())

    return asyncio.run(send())


@pytest.mark.parametrize("deaths", [0, 1, 2])
def test_a_request_is_tried_twice(deaths: int) -> None:
    fake = Fake(*([RayError()] for _ in range(deaths)), [WHOLE])
    answer = sent(fake)
    assert fake.asked == min(deaths + 1, 2) and fake.cancelled == deaths
    if deaths == 2:
        assert error_of(answer, 503)["code"] == "replica_lost"
        assert answer.headers["retry-after"] == "1"
    else:
        assert (answer.status_code, answer.text, answer.headers["x-replica"]) == (200, "{}", "a")


def test_a_replica_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooldecoding.server.replicas.replicas._GRACE_S", 0.01)
    fake = Fake([])
    assert error_of(sent(fake), 504)["code"] == "timeout"
    assert fake.cancelled == 1
