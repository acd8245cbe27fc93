"""What Ray Serve runs: replicas of a model, and the router that chooses one for a request."""

from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final

from prometheus_client.metrics_core import Metric
from ray import serve
from ray.serve.request_router import PendingRequest, RequestRouter, RunningReplica

from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.app import load_completions
from tooldecoding.server.exchange import Answerer, ResponsePart, ResponseStart, Row
from tooldecoding.server.monitoring import begin_log, log

_DEADLINE_S: Final = 5.0
_EARLY: Final = 1000
"""Ended requests to remember, of those whose beginning was not heard of."""


class Replica:
    """One replica. Ray Serve calls its methods by their names."""

    load: Callable[[ServeCommand], Answerer] = staticmethod(load_completions)
    """Loads the model that the options name."""

    def __init__(self, options: ServeCommand) -> None:
        begin_log()
        self._name = serve.get_replica_context().replica_id.unique_id
        self._answerer = self.load(options)
        log("ready", model=options.model, replica=self._name)

    async def answer(self, beginning: str, given: Row, request_id: str) -> AsyncIterator[ResponsePart]:
        """Yield the parts of an answer; the router has read the first parameter."""
        async with aclosing(self._answerer.answer(given, request_id)) as stream:
            async for part in stream:
                if isinstance(part, ResponseStart):
                    yield replace(part, headers={**part.headers, "X-Replica": self._name})
                else:
                    yield part

    async def figures(self) -> tuple[str, list[Metric]]:
        """Return the replica's name and its figures."""
        return self._name, self._answerer.metrics.families()

    async def check_health(self) -> None:
        """Raise an error if the replica cannot go on: Ray Serve replaces it."""
        if (await self._answerer.ready()).status != 200:
            raise RuntimeError("no requests are taken any more")


class BeginningRouter(RequestRouter):
    """Sends requests that begin alike to the same replica; while that is full, to the next one in a fixed sequence.

    The sequence is that of hashes of the beginning with the names of the replicas: beginnings spread evenly, and few of
    them move when a replica comes or goes.
    """

    queue_len_response_deadline_s = _DEADLINE_S  # one that decodes on all threads may be slow to say how much it does
    max_queue_len_response_deadline_s = _DEADLINE_S

    def initialize_state(self, most: int, **_: Any) -> None:
        """Take the number of requests with which a replica is full."""
        self._most = most
        self._running: defaultdict[Any, set[str]] = defaultdict(set)
        self._ended_early: deque[str] = deque(maxlen=_EARLY)

    def on_request_routed(self, pending_request: PendingRequest, replica_id: Any, result: Any) -> None:
        """Note that a replica has a request, unless that has ended already."""
        if (request := pending_request.metadata.internal_request_id) not in self._ended_early:
            self._running[replica_id].add(request)

    def on_request_completed(self, replica_id: Any, internal_request_id: str) -> None:
        """Note that a request has ended; Ray may say so of a short one before it says that it was routed."""
        if internal_request_id in self._running[replica_id]:
            self._running[replica_id].remove(internal_request_id)
        else:
            self._ended_early.append(internal_request_id)

    async def choose_replicas(
        self, candidate_replicas: list[RunningReplica], pending_request: PendingRequest | None = None
    ) -> list[list[RunningReplica]]:
        """Return the replicas to try, the best first: those with a free place, then those with the least to do."""
        if pending_request is None:
            return [candidate_replicas]
        pending_request.routing_context.should_backoff = True
        beginning, *_ = pending_request.args

        def rank(replica: RunningReplica) -> tuple[int, bytes]:
            busy = max(0, len(self._running[replica.replica_id]) - self._most + 1)
            return busy, sha256(f"{beginning} {replica.replica_id.unique_id}".encode()).digest()

        return [[each] for each in sorted(candidate_replicas, key=rank)]
