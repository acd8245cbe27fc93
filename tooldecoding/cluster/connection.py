"""Joining a Ray cluster, or starting one on this machine; what each worker gets of its processors and GPUs."""

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
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

    ConfigError if there is no such cluster.
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


Node = Mapping[str, float]
"""``CPU`` and ``GPU`` of one node."""


@dataclass(frozen=True)
class Share:
    """What one worker gets.

    Attributes
    ----------
    cpus : int
        Also the number of torch's threads.
    gpus : float
    """

    cpus: int
    gpus: float

    def __str__(self) -> str:
        gpus = f" and {_counted(self.gpus, 'GPU')}" if self.gpus else ""
        return _counted(self.cpus, "CPU") + gpus


def share_of(actors: int, gpus: float | None, flag: str = "--actors") -> Share:
    """Divide the cluster that this process has joined.

    ConfigError if the cluster is too small.

    Parameters
    ----------
    gpus : float or None
        GPUs of each worker; by default 1 if that suffices for all, else 0.
    flag : str
        The option that gave the number of workers.

    Returns
    -------
    Share
        A worker with a GPU gets one CPU; without, as many as all workers can have.
    """
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if gpus is None:
        gpus = 1.0 if _places(nodes, 1, 1.0) >= actors else 0.0
    room = _places(nodes, 1, gpus)
    if room < actors:
        have = " and ".join(_counted(sum(node.get(kind, 0) for node in nodes), kind) for kind in ("CPU", "GPU"))
        raise ConfigError(
            f"{flag} {actors} with {Share(1, gpus)} each: the cluster has {have} on {_counted(len(nodes), 'node')}, "
            f"which is room for {room}"
        )
    cpus = 1
    while not gpus and _places(nodes, cpus + 1, 0.0) >= actors:
        cpus += 1
    return Share(cpus, gpus)


def _places(nodes: Sequence[Node], cpus: int, gpus: float) -> int:
    """Return how many workers find room; a worker lies on one node, and a share of a GPU on one GPU."""
    a_gpu = int(1 / gpus) if 0 < gpus < 1 else 1
    places = 0
    for node in nodes:
        room = int(node.get("CPU", 0) // cpus)
        places += min(room, int(node.get("GPU", 0) // max(gpus, 1)) * a_gpu) if gpus else room
    return places


def _counted(number: float, word: str) -> str:
    return f"{number:g} {word}" + ("" if 0 < number <= 1 else "s")
