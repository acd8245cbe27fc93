"""Runs the ingress until it is told to stop, and updates the replicas when it is told to read its settings again."""

import logging
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import ray

from lookup.errors import ToolDecodingError
from tooldecoding.cluster.connection import connected
from tooldecoding.cluster.resources import Share, share_of
from tooldecoding.errors import ConfigError, ModelError
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.guard import Message, Receive, Send
from tooldecoding.server.json_log import begin_log, log
from tooldecoding.server.metrics import Metrics
from tooldecoding.server.replicas.application import Application
from tooldecoding.server.replicas.ingress import Ingress
from tooldecoding.server.replicas.places import Places
from tooldecoding.server.replicas.replica import Load, load_server
from tooldecoding.server.run import run_server

_FREE_S: Final = 60.0
"""Seconds to wait until the cluster has room for the replicas."""
_FIXED: Final = ("ray", "host", "port", "gpus_per_replica")
"""Options that only a new start changes."""


def run_replicas(
    options: ServeCommand, bound: socket.socket, read_again: Callable[[], ServeCommand], load: Load = load_server
) -> None:
    """Serve until SIGINT or SIGTERM; what runs is finished. SIGHUP reads the settings again.

    Parameters
    ----------
    options : ServeCommand
    bound : socket
        Has the address, but does not listen yet.
    read_again : callable
        Returns the options as the settings file has them now.
    load : callable
        Loads the model in a replica.

    Raises
    ------
    ConfigError
        If there is no such cluster, or no room in it.
    ModelError
        If a replica cannot load the model.
    """
    begin_log()
    again = threading.Event()
    with _hangup_sets(again), connected(options.ray or "local"):
        logging.getLogger("ray.serve").setLevel(logging.ERROR)  # the log is JSON, and tells the same
        port = bound.getsockname()[1]
        application = Application(f"tooldecoding-{ray.util.get_node_ip_address()}-{port}", load)
        application.delete()  # of a process that had this address and was killed
        try:
            share = _free_share(options)
            application.deploy(options, share)
            ingress = _Replaceable(options, application)
            _Updates(ingress, application, share, read_again, again).start()
            run_server(ingress, options, bound)
        finally:
            application.delete()


@contextmanager
def _hangup_sets(again: threading.Event) -> Iterator[None]:
    """Let SIGHUP set an event inside the block."""
    before = signal.signal(signal.SIGHUP, lambda *_: again.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def _share(options: ServeCommand) -> Share:
    """Return what each replica gets; ConfigError if the cluster is too small."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return share_of(nodes, options.replicas or 1, options.gpus_per_replica, "--replicas")


def _has_room(replicas: int, share: Share) -> bool:
    free = ray.available_resources()
    return bool(free.get("CPU", 0) >= replicas * share.cpus and free.get("GPU", 0) >= replicas * share.gpus)


def _free_share(options: ServeCommand) -> Share:
    """Return what each replica gets of what others have left, as soon as that suffices.

    Raises
    ------
    ConfigError
        If the cluster is too small, or others use it for too long.
    """
    replicas, share, end = options.replicas or 1, _share(options), time.monotonic() + _FREE_S
    while not _has_room(replicas, least := replace(share, cpus=1)):
        if time.monotonic() > end:
            raise ConfigError(f"--replicas {replicas} with {least} each: others use the cluster; not enough is free")
        time.sleep(0.2)
    free = int(ray.available_resources()["CPU"])
    return replace(share, cpus=min(share.cpus, free // replicas))


class _Replaceable:
    """The application of the ingress, as ASGI. Requests that run when it is replaced go on as they began."""

    def __init__(self, options: ServeCommand, application: Application) -> None:
        self.options = options
        self._application = application
        self._metrics = Metrics()
        self._places = Places()
        self.replace(options)

    def replace(self, options: ServeCommand) -> None:
        """Take other options."""
        self.options = options
        self._app = Ingress(options, self._metrics, self._application, self._places).app()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._app(scope, receive, send)


class _Updates(threading.Thread):
    """Updates the replicas and the ingress, one update after another."""

    def __init__(
        self,
        ingress: _Replaceable,
        application: Application,
        share: Share,
        read_again: Callable[[], ServeCommand],
        again: threading.Event,
    ) -> None:
        super().__init__(name="updates", daemon=True)
        self._ingress = ingress
        self._application = application
        self._share = share
        self._read_again = read_again
        self._again = again

    def run(self) -> None:
        """Wait for updates until the process ends."""
        while self._again.wait():
            self._again.clear()
            try:
                self._update(self._ingress.options, self._read_again())
            except ToolDecodingError as error:
                log("update refused", logging.ERROR, reason=str(error))
            except Exception as error:  # noqa: BLE001 - the server outlives an update that fails
                log("update failed", logging.ERROR, error)

    def _update(self, old: ServeCommand, new: ServeCommand) -> None:
        fixed = [f"--{name.replace('_', '-')}" for name in _FIXED if getattr(new, name) != getattr(old, name)]
        if fixed:
            raise ConfigError(f"{' and '.join(fixed)} cannot be changed while the server runs; start it again")
        log("updating", changed=sorted(name for name, value in vars(new).items() if value != getattr(old, name)))
        if _of_replicas(new) != _of_replicas(old):
            least = _share(replace(new, gpus_per_replica=self._share.gpus))
            share = replace(self._share, cpus=min(self._share.cpus, least.cpus))
            try:
                self._application.deploy(new, share, _has_room(1, share))
            except ModelError:
                self._application.deploy(old, self._share)
                raise
            self._share = share
        self._ingress.replace(new)
        log("updated", model=new.model)


def _of_replicas(options: ServeCommand) -> ServeCommand:
    """Return the options without those that only the ingress has."""
    return replace(options, api_key=None)
