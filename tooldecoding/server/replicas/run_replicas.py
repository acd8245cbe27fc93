"""Serves with replicas until it is told to stop."""

import logging
import socket
import time
from dataclasses import replace
from typing import Final

import ray

from tooldecoding.cluster.connection import Share, connected, share_of
from tooldecoding.errors import ConfigError
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.app import application
from tooldecoding.server.monitoring import begin_log
from tooldecoding.server.replicas.replicas import Replicas
from tooldecoding.server.web_server import run_server

_FREE_S: Final = 60.0
"""Seconds to wait until the cluster has room for the replicas."""


def run_replicas(options: ServeCommand, bound: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM; what runs is finished.

    Parameters
    ----------
    options : ServeCommand
    bound : socket
        Has the address, but does not listen yet.

    Raises
    ------
    ConfigError
        If there is no such cluster, or no room in it.
    ModelError
        If a replica cannot load the model.
    """
    begin_log()
    with connected(options.ray or "local"):
        logging.getLogger("ray.serve").setLevel(logging.ERROR)  # the log is JSON, and tells the same
        port = bound.getsockname()[1]
        replicas = Replicas(f"tooldecoding-{ray.util.get_node_ip_address()}-{port}", options)
        replicas.delete()  # of a process that had this address and was killed
        try:
            replicas.deploy(_free_share(options))
            run_server(application(replicas, options), options, bound)
        finally:
            replicas.delete()


def _free_share(options: ServeCommand) -> Share:
    """Return what each replica gets of what others have left, as soon as that suffices.

    Raises
    ------
    ConfigError
        If the cluster is too small, or others use it for too long.
    """
    replicas, end = options.replicas or 1, time.monotonic() + _FREE_S
    share = share_of(replicas, options.gpus_per_replica, "--replicas")
    while (free := ray.available_resources()).get("CPU", 0) < replicas or free.get("GPU", 0) < replicas * share.gpus:
        if time.monotonic() > end:
            least = replace(share, cpus=1)
            raise ConfigError(f"--replicas {replicas} with {least} each: others use the cluster; not enough is free")
        time.sleep(0.2)
    return replace(share, cpus=min(share.cpus, int(free["CPU"]) // replicas))
