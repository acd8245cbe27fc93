"""Joining a Ray cluster, or starting one on this machine."""

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, Final

import ray

from tooldecoding.errors import ConfigError

_CONNECT_S: Final = 10.0
"""Seconds to wait for an address to answer."""

_STORE_BYTES: Final = 256 << 20
"""Object store of a cluster that ``local`` starts; what it cannot hold lies on the disk."""

_NOT_THERE: Final = (
    "no cluster runs on this machine; `ray start --head` starts one, and --ray local starts one for this command alone"
)


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Join or start the cluster of ``--ray``; leave it, or end it, with the block.

    Inside the block ``sys.stdout`` is standard error: Ray prints there what its processes say.

    Raises
    ------
    ConfigError
        If there is no such cluster.
    """
    _demand_answer(address)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL, **_own(address))
    except ConnectionError as error:
        raise ConfigError(f"--ray {address}: {_NOT_THERE if address == 'auto' else _first_line(error)}") from None
    except Exception as error:  # noqa: BLE001 - a node that does not start in time is no more special
        verb = "started" if address == "local" else "joined"
        raise ConfigError(f"--ray {address}: no cluster could be {verb}: {_first_line(error)}") from None
    try:
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():  # Ray's own end the process, with a dump of its stack
                if handler is not None:
                    signal.signal(number, handler)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        ray.shutdown()


def _own(address: str) -> dict[str, Any]:
    """Return the settings of a cluster that is started here."""
    if address != "local":
        return {}
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a cluster of one command reports to nobody
    return {"num_cpus": os.cpu_count(), "object_store_memory": _STORE_BYTES, "include_dashboard": False}


def _demand_answer(address: str) -> None:
    """ConfigError for an address that cannot be one, or that nobody answers at: Ray itself would wait for minutes."""
    if address in ("local", "auto"):
        return
    host, colon, port = address.rpartition(":")
    if "://" in address or not colon or not host or not port.isdigit() or int(port) > 65535:
        raise ConfigError(f"--ray: expected local, auto or the address HOST:PORT of a cluster, got {address!r}")
    try:
        socket.create_connection((host, int(port)), _CONNECT_S).close()
    except OSError as error:
        raise ConfigError(f"--ray {address}: no answer from there: {error.strerror or error}") from None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
