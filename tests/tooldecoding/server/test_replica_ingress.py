"""What the ingress does with the answers of replicas; without Ray."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from running_server import body, error_of
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.metrics import Metrics
from tooldecoding.server.replicas.ingress import Ingress, ReplicaLost
from tooldecoding.server.replicas.message import Asked, Head
from tooldecoding.server.replicas.places import Places

RUNNING = {"a": ["old", "models/old"], "b": ["new"]}
Write = Callable[[str], list[Any]]


class Fake:
    """Replicas that write what they are told, by their names; an error is raised."""

    def __init__(self, running: dict[str, list[str]], write: Write) -> None:
        self.running = running
        self.asked: list[str | None] = []
        self.closed = 0
        self._write = write

    def ask(self, asked: Asked) -> "Fake":
        self.asked.append(asked.replica)
        self._parts = self._write(asked.replica or "")
        return self

    async def next(self) -> Any:
        if not self._parts:
            await asyncio.Event().wait()
        part = self._parts.pop(0)
        if isinstance(part, Exception):
            raise part
        return part

    def close(self) -> None:
        self.closed += 1

    async def figures(self) -> Any:
        raise TimeoutError


def whole(replica: str) -> list[Any]:
    return [Head(200, {"content-type": "application/json"}, b"{}", False, replica)]


def sent(fake: Fake, path: str = "/v1/chat/completions", **fields: Any) -> httpx.Response:
    """The answer of the ingress to a request; nothing may be left in flight."""
    places = Places()
    app = Ingress(ServeCommand(model="new", timeout=0.01), Metrics(), fake, places).app()

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            return await (http.post(path, json=body(**fields)) if "chat" in path else http.get(path))

    answer = asyncio.run(send())
    assert not places._running and fake.closed == len(fake.asked)
    return answer


@pytest.mark.parametrize(("model", "replica"), [("old", "a"), ("models/old", "a"), ("new", "b")])
def test_while_two_models_run_each_is_asked_for_itself(model: str, replica: str) -> None:
    answer = sent(Fake(RUNNING, whole), model=model)
    assert answer.status_code == 200 and answer.headers["x-replica"] == replica


@pytest.mark.parametrize("deaths", [0, 1, 2])
def test_a_request_is_tried_twice(deaths: int) -> None:
    left = [ReplicaLost()] * deaths
    fake = Fake(RUNNING, lambda replica: [left.pop()] if left else whole(replica))
    answer = sent(fake, model="new")
    assert len(fake.asked) == min(deaths + 1, 2)
    if deaths == 2:
        assert error_of(answer, 503)["code"] == "replica_lost"
    else:
        assert answer.status_code == 200


@pytest.mark.parametrize(
    ("running", "health", "ready"), [({}, 503, 503), ({"a": ["new"]}, 200, 200), (RUNNING, 200, 200)]
)
def test_missing_replicas_are_told(running: dict[str, list[str]], health: int, ready: int) -> None:
    told = [sent(Fake(running, whole), path) for path in ("/health", "/ready")]
    assert [each.status_code for each in told] == [health, ready]
    assert all(each.json()["replicas"]["running"] == len(running) for each in told)
