"""The plan: costs of all models, GPUs and runs, and what a prefix cache saves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from eval.capacity.cost import Assumptions, Cost, Demand, Machine
from eval.capacity.gpus import GPUS, GpuName
from eval.capacity.replay import Replay, replay
from eval.capacity.sizes import SIZES
from eval.capacity.streams import STREAMS, StreamName, stream
from eval.capacity.trace import Trace
from eval.capacity.workload import Workload

MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What is planned for.

    Attributes
    ----------
    shapes, gpus : tuple of str
        Names in ``SIZES`` and ``GPUS``.
    assumed : Assumptions
    demand : Demand
    cache_mb : tuple of int
        Sizes of the prefix cache, in MiB.
    requests : int
        Most requests of a stream.
    zipf : float
    seed : int
    """

    shapes: tuple[str, ...]
    gpus: tuple[GpuName, ...]
    assumed: Assumptions
    demand: Demand
    cache_mb: tuple[int, ...]
    requests: int
    zipf: float
    seed: int

    def machine(self, shape: str, gpu: GpuName) -> Machine:
        """Return a model on a GPU."""
        return Machine(SIZES[shape], GPUS[gpu], self.assumed)


Costs = Mapping[tuple[GpuName, str, int], Cost | None]
"""(GPU, shape, number of the trace) -> cost; None where the model or a call does not fit."""
Replays = Mapping[tuple[StreamName, str, int], Replay]
"""(stream, shape, MiB) -> what a cache of this size saves."""


def all_costs(ask: Ask, traces: Sequence[Trace]) -> Costs:
    """Return the cost of a call of each trace on each model and GPU."""
    return {
        (gpu, shape, number): ask.machine(shape, gpu).cost(trace)
        for gpu in ask.gpus
        for shape in ask.shapes
        for number, trace in enumerate(traces)
    }


def replay_count(ask: Ask) -> int:
    """Return how many replays there are."""
    return len(STREAMS) * len(ask.shapes) * len(ask.cache_mb)


def all_replays(ask: Ask, workload: Workload, advance: Callable[[int], None]) -> Replays:
    """Replay all streams through caches of all sizes, for the states of each model."""
    found: dict[tuple[StreamName, str, int], Replay] = {}
    for name in STREAMS:
        prompts = list(stream(workload, name, ask.requests, ask.zipf, ask.seed))
        for shape in ask.shapes:
            for size in ask.cache_mb:
                found[name, shape, size] = replay(prompts, SIZES[shape], size * MIB)
                advance(1)
    return found
