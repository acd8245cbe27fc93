"""The application in Ray Serve: its replicas are started, asked, updated and ended here."""

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final

from prometheus_client.metrics_core import Metric
from ray import serve
from ray.exceptions import RayError, RayTaskError
from ray.serve.config import RequestRouterConfig
from ray.serve.exceptions import RayServeException
from ray.serve.handle import DeploymentHandle, DeploymentResponseGenerator

from tooldecoding.cluster.resources import Share
from tooldecoding.errors import ModelError
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.replicas.ingress import ReplicaLost
from tooldecoding.server.replicas.known import running_replicas
from tooldecoding.server.replicas.message import Asked, Head
from tooldecoding.server.replicas.replica import Load, Replica
from tooldecoding.server.replicas.router import ChosenReplicaRouter

_DEPLOYMENT: Final = "replica"
_GRACE_S: Final = 10.0
"""Seconds beyond the time limit of requests after which a replica that is told to end is killed."""
_WAIT_LOOP_S: Final = 0.5
"""Seconds between looks whether such a replica has finished what it runs."""
_HEALTH_S: Final = 2.0
"""Seconds between health checks: a dead replica is replaced soon."""
_SEEN_S: Final = 60.0
_FIGURES_S: Final = 5.0
_ALSO: Final = 100
"""Requests beyond batch and queue: the replica itself says that its queue is full."""


class Application:
    """Replicas of one model.

    Parameters
    ----------
    name : str
        Its name in the cluster.
    load : callable
        Loads the model in a replica.
    """

    def __init__(self, name: str, load: Load) -> None:
        self._name = name
        self._load = load
        self._handle: DeploymentHandle[Any] | None = None

    @property
    def running(self) -> dict[str, Sequence[str]]:
        """The replicas that answer, with the names of the model of each."""
        return running_replicas(self._name)

    def deploy(self, options: ServeCommand, share: Share, surge: bool = False) -> None:
        """Start the replicas, or replace those that run; returns when all are loaded.

        Old replicas finish what they run. A fifth of them, at least one, is replaced at a time.

        Parameters
        ----------
        options : ServeCommand
        share : Share
            What each replica gets.
        surge : bool
            Whether there is room to load a new replica before an old one ends.

        Raises
        ------
        ModelError
            If a replica cannot load the model.
        """
        replicas = options.replicas or 1
        device = options.device or ("cuda" if share.gpus else "cpu")
        theirs = replace(options, api_key=None, device=device)  # the key is for the ingress alone
        serve.start(proxy_location="Disabled")  # clients reach the ingress in this process
        deployment = serve.deployment(
            name=_DEPLOYMENT,
            num_replicas=replicas,
            ray_actor_options={"num_cpus": share.cpus, "num_gpus": share.gpus},
            max_ongoing_requests=options.max_batch + options.queue + _ALSO,
            graceful_shutdown_timeout_s=options.timeout + _GRACE_S,
            graceful_shutdown_wait_loop_s=_WAIT_LOOP_S,
            health_check_period_s=_HEALTH_S,
            max_constructor_retry_count=1,  # a model that one replica cannot load, no other can
            max_surge_percent=-(-100 // replicas) if surge else 0,
            request_router_config=RequestRouterConfig(request_router_class=ChosenReplicaRouter),
        )(Replica)
        # replicas of an equal version are kept: an update that is taken back restarts only those that it ended
        deployment = deployment.options(version=_version(theirs, share), _internal=True)
        try:
            handle = serve.run(deployment.bind(theirs, self._load), name=self._name, route_prefix=None)
        except RuntimeError:
            reason = serve.status().applications[self._name].deployments[_DEPLOYMENT].message
            raise ModelError(f"a replica could not be started: {_last_line(reason)}") from None
        if self._handle is None:
            self._handle = handle.options(method_name="answer", stream=True)
            end = time.monotonic() + _SEEN_S
            while len(self.running) < replicas and time.monotonic() < end:
                time.sleep(0.02)

    def ask(self, asked: Asked) -> "ReplicaAnswer":
        """Send a request."""
        assert self._handle is not None
        return ReplicaAnswer(self._handle.remote(asked))

    async def figures(self) -> dict[str, Sequence[Metric]]:
        """Return the figures of each replica that answers; TimeoutError if one does not answer in time."""
        assert self._handle is not None
        answers = await self._handle.broadcast("figures").results_async(timeout_s=_FIGURES_S, return_exceptions=True)
        return dict(answer for answer in answers if not isinstance(answer, BaseException))

    def delete(self) -> None:
        """End the replicas, if there are any; they finish what they run."""
        if self._name in serve.status().applications:
            serve.delete(self._name)


class ReplicaAnswer:
    """An answer that a replica writes.

    Parameters
    ----------
    response : DeploymentResponseGenerator
    """

    def __init__(self, response: DeploymentResponseGenerator[Any]) -> None:
        self._response = response
        self._ended = False

    async def next(self) -> Head | bytes | None:
        """Return the next part, None behind the last one; ReplicaLost if there will be none."""
        try:
            part: Head | bytes = await anext(self._response)
        except StopAsyncIteration:
            self._ended = True
            return None
        except RayTaskError:
            raise  # a fault of the program, which another replica would make as well
        except (RayError, RayServeException) as error:
            raise ReplicaLost from error
        self._ended = isinstance(part, Head) and not part.more
        return part

    def close(self) -> None:
        """Hang up, if the answer is not whole."""
        if not self._ended:
            self._response.cancel()


def _version(options: ServeCommand, share: Share) -> str:
    """Return a name of what a replica is, whatever their number."""
    own = {name: value for name, value in vars(options).items() if name != "replicas"}
    return sha256(repr((own, share)).encode()).hexdigest()


def _last_line(message: str) -> str:
    """Return the last line of a traceback without the name of the error's class."""
    lines = [line.strip() for line in message.splitlines() if line.strip()] or ["no reason is known"]
    return re.sub(r"^[\w.]+(Error|Exception): ", "", lines[-1])
