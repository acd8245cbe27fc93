"""Joining a Ray cluster, or starting one on this machine."""

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import ray

from tooldecoding.errors import ConfigError

_CONNECT_S: Final = 10.0
"""Seconds to wait for an address to answer."""

_SETTINGS: Final = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""An empty frame of HTTP/2's settings, with which both sides of gRPC begin; the fourth byte is its kind."""

_HELLO: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _SETTINGS

_STORE_BYTES: Final = 256 << 20
"""Object store of a cluster that ``local`` starts; messages are small."""


_NOT_THERE: Final = (
    "no cluster runs on this machine; `ray start --head` starts one, and --ray local starts one for this command alone"
)


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Join or start the cluster of ``--ray``; leave it, or end it, with the block.

    Raises
    ------
    ConfigError
        If there is no such cluster.
    """
    _demand_answer(address)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    # Ray prints what its processes say to standard output, which is for results
    setattr(ray._private.worker, "_worker_logs_enabled", False)  # noqa: B010
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL, **_own(address))
    except ConnectionError as error:
        raise ConfigError(f"--ray {address}: {_NOT_THERE if address == 'auto' else _first_line(error)}") from None
    except Exception as error:  # noqa: BLE001 - a node that does not start in time is no more special
        raise ConfigError(f"--ray {address}: no cluster could be {_verb(address)}: {_first_line(error)}") from None
    try:
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():  # Ray's own end the process, with a dump of its stack
                if handler is not None:
                    signal.signal(number, handler)
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
        with socket.create_connection((host, int(port)), _CONNECT_S) as connection:
            connection.sendall(_HELLO)
            answer = connection.recv(len(_SETTINGS))
    except OSError as error:
        raise ConfigError(f"--ray {address}: no answer from there: {error.strerror or error}") from None
    if answer[3:4] != _SETTINGS[3:4] and os.environ.get("RAY_USE_TLS", "0") == "0":
        raise ConfigError(f"--ray {address}: what answers there is no Ray cluster; its usual port is 6379")


def _verb(address: str) -> str:
    return "started" if address == "local" else "joined"


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
