"""Serves with replicas until it is told to stop, and updates them when it is told to read its settings again."""

import logging
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import ray
from starlette.types import Receive, Scope, Send

from lookup.errors import ToolDecodingError
from tooldecoding.cluster.connection import Share, connected, share_of
from tooldecoding.errors import ConfigError, ModelError
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.app import application, load_completions
from tooldecoding.server.monitoring import begin_log, log
from tooldecoding.server.replicas.replica import Load
from tooldecoding.server.replicas.replicas import HEALTH_S, Replicas
from tooldecoding.server.web_server import run_server

_FREE_S: Final = 60.0
"""Seconds to wait until the cluster has room for the replicas."""
_NOTICED_S: Final = 2 * HEALTH_S
"""Seconds in which Ray Serve notices that a replica is dead."""
_FIXED: Final = ("ray", "host", "port", "gpus_per_replica")
"""Options that only a new start changes."""


def run_replicas(
    options: ServeCommand, bound: socket.socket, read_again: Callable[[], ServeCommand], load: Load = load_completions
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
    signal.signal(signal.SIGHUP, lambda *_: again.set())
    with connected(options.ray or "local"):
        logging.getLogger("ray.serve").setLevel(logging.ERROR)  # the log is JSON, and tells the same
        port = bound.getsockname()[1]
        replicas = Replicas(f"tooldecoding-{ray.util.get_node_ip_address()}-{port}", load, options)
        replicas.delete()  # of a process that had this address and was killed
        try:
            share = _free_share(options)
            replicas.deploy(options, share)
            served = _Served(replicas, options, share, read_again)
            threading.Thread(target=served.update_again, args=[again], name="updates", daemon=True).start()
            run_server(served, options, bound)
        finally:
            replicas.delete()


def _share(options: ServeCommand) -> Share:
    """Return what each replica gets; ConfigError if the cluster is too small."""
    return share_of(options.replicas or 1, options.gpus_per_replica, "--replicas")


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


class _Served:
    """The application, which an update replaces. Requests that run meanwhile go on as they began."""

    def __init__(
        self, replicas: Replicas, options: ServeCommand, share: Share, read_again: Callable[[], ServeCommand]
    ) -> None:
        self._replicas = replicas
        self._options = options
        self._share = share
        self._read_again = read_again
        self._app = application(replicas, options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._app(scope, receive, send)

    def update_again(self, again: threading.Event) -> None:
        """Update whenever the event is set, until the process ends."""
        while again.wait():
            again.clear()
            try:
                self._update(self._options, self._read_again())
            except ToolDecodingError as error:
                log("update refused", logging.ERROR, reason=str(error))
            except Exception as error:  # noqa: BLE001 - the server outlives an update that fails
                log("update failed", logging.ERROR, error)

    def _update(self, old: ServeCommand, new: ServeCommand) -> None:
        fixed = [f"--{name.replace('_', '-')}" for name in _FIXED if getattr(new, name) != getattr(old, name)]
        if fixed:
            raise ConfigError(f"{' and '.join(fixed)} cannot be changed while the server runs; start it again")
        log("updating", changed=sorted(name for name, value in vars(new).items() if value != getattr(old, name)))
        if replace(new, api_key=old.api_key) != old:
            least = _share(replace(new, gpus_per_replica=self._share.gpus))
            share = replace(self._share, cpus=min(self._share.cpus, least.cpus))
            time.sleep(_NOTICED_S)  # what a dead replica had is not free: the one in its place will take it
            try:
                self._replicas.deploy(new, share, surge=_has_room(1, share))
            except ModelError:
                self._replicas.deploy(old, self._share)
                raise
            self._share = share
        self._options, self._app = new, application(self._replicas, new)
        log("updated", model=new.model)
