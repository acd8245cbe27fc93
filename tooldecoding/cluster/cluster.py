"""A Ray cluster and its workers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import ray

from tooldecoding.cluster.actors import ActorPool
from tooldecoding.cluster.connection import connected
from tooldecoding.cluster.crew import Crew
from tooldecoding.cluster.model_source import ModelSource
from tooldecoding.cluster.resources import Share, share_of
from tooldecoding.cluster.task import I, R, Task
from tooldecoding.options.ray_options import RayOptions


@dataclass(frozen=True)
class Cluster:
    """A cluster that this process is a driver of.

    Attributes
    ----------
    actors : int
    share : Share
        What each actor gets.
    """

    actors: int
    share: Share

    @property
    def device(self) -> str:
        """Where a worker computes unless the user says otherwise."""
        return "cuda" if self.share.gpus else "cpu"

    @contextmanager
    def crew(self, task: Task[I, R], source: ModelSource) -> Iterator[Crew[I, R]]:
        """Start the workers; they end with the block."""
        pool = ActorPool(task, source, self.share)
        try:
            yield Crew(task, pool, self.actors)
        finally:
            pool.stop()


@contextmanager
def joined(options: RayOptions) -> Iterator[Cluster]:
    """Join or start the cluster that ``options.ray`` names; leave it, or end it, with the block.

    Raises
    ------
    ConfigError
        If there is no such cluster, or it is too small.
    """
    address, actors = options.ray or "local", options.actors or 1
    with connected(address):
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        yield Cluster(actors, share_of(nodes, actors, options.gpus_per_actor))
