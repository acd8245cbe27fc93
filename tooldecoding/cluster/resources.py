"""What each worker gets of a cluster's processors and GPUs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ray

from tooldecoding.errors import ConfigError

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

    Raises
    ------
    ConfigError
        If the cluster is too small.
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
