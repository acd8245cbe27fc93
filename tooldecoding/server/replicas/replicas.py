"""Answers by replicas in a Ray cluster: started, asked and ended here."""

import asyncio
import logging
import re
from dataclasses import replace
from typing import Any, Final

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from ray import serve
from ray.exceptions import RayError, RayTaskError
from ray.serve.config import RequestRouterConfig
from ray.serve.exceptions import RayServeException
from ray.serve.handle import DeploymentHandle, DeploymentResponseGenerator
from starlette.concurrency import run_in_threadpool

from tooldecoding.cluster.connection import Share
from tooldecoding.errors import ModelError
from tooldecoding.files.manifest import digest
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.exchange import Answerer, ApiError, ResponseStart, ResponseStream, Row, retry_later
from tooldecoding.server.monitoring import exposition, log
from tooldecoding.server.replicas.replica import BeginningRouter, Replica

_DEPLOYMENT: Final = "replica"
_ATTEMPTS: Final = 2
"""Replicas that are asked if the first one dies: a request that kills replicas must not kill them all."""
_GRACE_S: Final = 5.0
"""Seconds beyond the time limit of a request, which the replica itself watches once it has one."""
_END_S: Final = 10.0
"""Seconds beyond the time limit of requests after which a replica that is told to end is killed."""
_WAIT_LOOP_S: Final = 0.5
"""Seconds between looks whether such a replica has finished what it runs."""
_HEALTH_S: Final = 2.0
"""Seconds between health checks: a dead replica is replaced soon."""
_ALSO: Final = 100
"""Requests beyond batch and queue: the replica itself says that its queue is full."""
_FIGURES_S: Final = 5.0
_OURS: Final = "tooldecoding_answers"
"""What clients see; a replica's answers go through this process, which counts them."""


class Replicas(Answerer):
    """Replicas of one model.

    Parameters
    ----------
    name : str
        Their name in the cluster.
    """

    def __init__(self, name: str, options: ServeCommand) -> None:
        super().__init__()
        self._name = name
        self._options = options
        self._handle: DeploymentHandle[Any] | None = None

    def deploy(self, share: Share) -> None:
        """Start the replicas; returns when all are loaded.

        Parameters
        ----------
        share : Share
            What each replica gets.

        Raises
        ------
        ModelError
            If a replica cannot load the model.
        """
        options = self._options
        device = options.device or ("cuda" if share.gpus else "cpu")
        serve.start(proxy_location="Disabled")  # clients reach this process
        deployment = serve.deployment(
            name=_DEPLOYMENT,
            num_replicas=options.replicas or 1,
            ray_actor_options={"num_cpus": share.cpus, "num_gpus": share.gpus},
            max_ongoing_requests=options.max_batch + options.queue + _ALSO,
            graceful_shutdown_timeout_s=options.timeout + _END_S,
            graceful_shutdown_wait_loop_s=_WAIT_LOOP_S,
            health_check_period_s=_HEALTH_S,
            max_constructor_retry_count=1,  # a model that one replica cannot load, no other can
            request_router_config=RequestRouterConfig(
                request_router_class=BeginningRouter, request_router_kwargs={"most": options.max_batch}
            ),
        )(Replica)
        theirs = replace(options, api_key=None, device=device)  # the key is for this process alone
        try:
            handle = serve.run(deployment.bind(theirs), name=self._name, route_prefix=None)
        except RuntimeError:
            reason = serve.status().applications[self._name].deployments[_DEPLOYMENT].message.strip()
            last = re.sub(r"^\s*[\w.]+(Error|Exception): ", "", (reason.splitlines() or ["no reason is known"])[-1])
            raise ModelError(f"a replica could not be started: {last}") from None
        self._handle = handle.options(method_name="answer", stream=True)

    def delete(self) -> None:
        """End the replicas, if there are any; they finish what they run."""
        if self._name in serve.status().applications:
            serve.delete(self._name)

    async def answer(self, given: Row, request_id: str) -> ResponseStream:
        """Yield the answer of a replica; if it dies, that is the last event of a stream."""
        asked = await run_in_threadpool(_beginning, given), given, request_id
        try:
            async with asyncio.timeout(self._options.timeout + _GRACE_S):
                start, response = await self._begin(asked)
        except TimeoutError:
            raise ApiError(504, "no replica answered within the time limit of a request", code="timeout") from None
        ended = not start.streamed
        try:
            yield start
            while not ended and (part := await _next(response)) is not None:
                yield part
            ended = True
        except ReplicaLostError as error:
            log("replica lost in a stream", logging.WARNING, replica=start.headers["X-Replica"])
            yield error.to_json()
        finally:
            if not ended:
                response.cancel()

    async def _begin(self, asked: tuple[Any, ...]) -> tuple[ResponseStart, DeploymentResponseGenerator[Any]]:
        """Ask a replica, and another one if it dies; ReplicaLostError if that dies, too."""
        assert self._handle is not None
        for more in reversed(range(_ATTEMPTS)):
            response = self._handle.remote(*asked)
            try:
                return await _next(response), response
            except BaseException as error:
                response.cancel()
                if not isinstance(error, ReplicaLostError) or not more:
                    raise
                log("replica lost", logging.WARNING, request_id=asked[-1])
        raise AssertionError

    async def _counts(self) -> dict[str, int]:
        status = await run_in_threadpool(serve.status)
        states = status.applications[self._name].deployments[_DEPLOYMENT].replica_states
        return {"running": states.get("RUNNING", 0), "wanted": self._options.replicas or 1}

    async def health(self) -> ResponseStart:
        """Tell whether all replicas run."""
        counts = await self._counts()
        if not counts["running"]:
            return ResponseStart(503, {"status": "down", "replicas": counts})
        status = "ok" if counts["running"] >= counts["wanted"] else "degraded"
        return ResponseStart(200, {"status": status, "replicas": counts})

    async def ready(self) -> ResponseStart:
        """Tell whether a replica runs."""
        counts = await self._counts()
        status, word = (200, "ready") if counts["running"] else (503, "not ready")
        return ResponseStart(status, {"status": word, "replicas": counts})

    async def figures(self) -> bytes:
        """Return the figures of this process, and those of each replica with its name as a label."""
        assert self._handle is not None
        try:
            told = await self._handle.broadcast("figures").results_async(timeout_s=_FIGURES_S, return_exceptions=True)
        except TimeoutError:
            raise retry_later(503, "a replica does not tell its figures; try again") from None
        replicas = dict(each for each in told if not isinstance(each, BaseException))
        merged = {family.name: family for family in self.metrics.families() if family.name == _OURS}
        merged["replicas"] = GaugeMetricFamily("tooldecoding_replicas", "Replicas that answer.", len(replicas))
        for replica, families in replicas.items():
            for family in families:
                if family.name != _OURS:
                    into = merged.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                    labelled = (each._replace(labels={**each.labels, "replica": replica}) for each in family.samples)
                    into.samples += labelled
        return exposition(merged.values())


class ReplicaLostError(ApiError):
    """A replica died, or could not be reached, before its answer was whole."""

    def __init__(self) -> None:
        message = "the replica that answered has died; try again"
        super().__init__(503, message, code="replica_lost", headers={"Retry-After": "1"})


async def _next(response: DeploymentResponseGenerator[Any]) -> Any:
    """Return the next part, None behind the last one; ReplicaLostError if there will be none."""
    try:
        return await anext(response, None)
    except RayTaskError:
        raise  # a fault of the program, which another replica would make as well
    except (RayError, RayServeException) as error:
        raise ReplicaLostError from error


def _beginning(given: Row) -> str:
    """Return a name of what the prompt begins with, of a request in which nothing has been checked.

    Tools, or the schema of an answer in JSON, take most of a prompt, and are prepared before they are decoded: requests
    that share them begin alike, whatever their messages are. The others begin with their first message, so that a
    dialogue stays where it was.
    """
    field = next((field for field in ("tools", "response_format", "messages") if given.get(field)), "")
    value = given.get(field)
    return digest([field, value[:1] if field == "messages" and isinstance(value, list) else value])
