"""The routes that clients reach: requests are checked here, and answered by a replica."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final, Protocol

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from prometheus_client.metrics_core import Metric

from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.api_error import ApiError, json_response
from tooldecoding.server.body import read_body, read_json
from tooldecoding.server.event_stream import EventStream, event
from tooldecoding.server.gone import unless_gone
from tooldecoding.server.json_log import log
from tooldecoding.server.metrics import Metrics
from tooldecoding.server.replicas.beginning import beginning
from tooldecoding.server.replicas.figures import page
from tooldecoding.server.replicas.message import Asked, Head
from tooldecoding.server.replicas.places import Places
from tooldecoding.server.routes import MB, Routes, exposition

_RETRY: Final = {"Retry-After": "1"}
_GRACE_S: Final = 5.0
"""Seconds beyond the time limit of a request, which the replica itself watches once it has one."""


class ReplicaLost(Exception):
    """A replica died, or could not be reached, before its answer was whole."""


class Answer(Protocol):
    """An answer that a replica writes."""

    async def next(self) -> Head | bytes | None:
        """Return the next part, None behind the last one; ReplicaLost if there will be none."""

    def close(self) -> None:
        """Hang up."""


class Replicas(Protocol):
    """Those who answer."""

    @property
    def running(self) -> Mapping[str, Sequence[str]]:
        """The replicas that answer, with the names of the model of each."""

    def ask(self, asked: Asked) -> Answer:
        """Send a request."""

    async def figures(self) -> Mapping[str, Sequence[Metric]]:
        """Return the figures of each replica; TimeoutError if one does not answer in time."""


class Ingress(Routes):
    """What stands before the replicas.

    Parameters
    ----------
    options : ServeCommand
    metrics : Metrics
    replicas : Replicas
    places : Places
    """

    def __init__(self, options: ServeCommand, metrics: Metrics, replicas: Replicas, places: Places) -> None:
        super().__init__(options, metrics)
        self._replicas = replicas
        self._places = places

    @asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        log("ready", model=self._options.model, host=self._options.host, port=self._options.port)
        yield
        log("stopped")

    async def _chat(self, request: Request) -> Response:
        body = await read_body(request, self._options.max_body_mb * MB)
        row = await run_in_threadpool(read_json, body)
        name = await run_in_threadpool(beginning, row)
        model = row.get("model")
        asked = Asked(body, model if isinstance(model, str) else None, request.state.request_id, None)
        try:
            async with asyncio.timeout(self._options.timeout + _GRACE_S):
                begun = await self._begin(request, asked, name)
        except TimeoutError:
            raise ApiError(504, "no replica answered within the time limit of a request", code="timeout") from None
        except ReplicaLost:
            raise _lost() from None
        if begun is None:
            return Response(status_code=499)
        flight, head = begun
        return self._response(flight, head)

    async def _begin(self, request: Request, asked: Asked, name: str | None) -> tuple["_Flight", Head] | None:
        """Return the beginning of the answer; None if the client goes away before.

        If the replica dies, another one is asked, once: a request that kills replicas must not kill them all.
        """
        try:
            return await self._try(request, asked, name)
        except ReplicaLost:
            log("replica lost", logging.WARNING, request_id=asked.request_id)
            return await self._try(request, asked, name)

    async def _try(self, request: Request, asked: Asked, name: str | None) -> tuple["_Flight", Head] | None:
        running = self._replicas.running
        able = [replica for replica, names in running.items() if asked.model in names] or running
        flight = _Flight(self._places, self._places.choose(name, able, self._options.max_batch), name)
        head = None
        try:
            head = await unless_gone(request, flight.begin(self._replicas, asked))
        finally:
            if head is None:
                flight.close()
        return None if head is None else (flight, head)

    def _response(self, flight: "_Flight", head: Head) -> Response:
        answer: Response
        if head.more:
            answer = EventStream(self._lines(flight, head), flight.close)
        else:
            flight.close()
            answer = Response(head.body, head.status, head.headers)
        answer.headers["X-Replica"] = head.replica
        return answer

    async def _lines(self, flight: "_Flight", head: Head) -> AsyncIterator[bytes | str]:
        """Yield a stream as the replica writes it; if the replica dies, that is its last event."""
        yield head.body
        try:
            while (part := await flight.next()) is not None:
                yield part
        except ReplicaLost:
            log("replica lost in a stream", logging.WARNING, replica=head.replica)
            yield event(_lost().to_json())

    def _counts(self) -> dict[str, int]:
        return {"running": len(self._replicas.running), "wanted": self._options.replicas or 1}

    async def _health(self) -> Response:
        counts = self._counts()
        if not counts["running"]:
            return json_response({"status": "down", "replicas": counts}, 503)
        whole = counts["running"] >= counts["wanted"]
        return json_response({"status": "ok" if whole else "degraded", "replicas": counts})

    async def _ready(self) -> Response:
        counts = self._counts()
        ready = counts["running"] > 0
        return json_response({"status": "ready" if ready else "not ready", "replicas": counts}, 200 if ready else 503)

    async def _metrics(self) -> Response:
        try:
            figures = await self._replicas.figures()
        except TimeoutError:
            raise ApiError(503, "a replica does not tell its figures; try again", headers=_RETRY) from None
        return exposition(page(self.metrics.families(), figures))


class _Flight:
    """A request on its way to a replica and back."""

    def __init__(self, places: Places, replica: str | None, name: str | None) -> None:
        self._places = places
        self._replica = replica
        self._answer: Answer | None = None
        if replica is not None:
            places.enter(replica, name)

    async def begin(self, replicas: Replicas, asked: Asked) -> Head:
        """Send the request; returns the beginning of the answer."""
        self._answer = replicas.ask(replace(asked, replica=self._replica))
        head = await self._answer.next()
        assert isinstance(head, Head)
        return head

    async def next(self) -> bytes | None:
        """Return the next piece."""
        assert self._answer is not None
        part = await self._answer.next()
        assert not isinstance(part, Head)
        return part

    def close(self) -> None:
        """Hang up, if the answer is not whole."""
        if self._replica is not None:
            self._places.leave(self._replica)
            self._replica = None
        if self._answer is not None:
            self._answer.close()
            self._answer = None


def _lost() -> ApiError:
    message = "the replica that answered has died; try again"
    return ApiError(503, message, code="replica_lost", headers=_RETRY)
