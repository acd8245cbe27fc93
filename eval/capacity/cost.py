"""What a call costs on a GPU: passes and positions times what the machine takes for them.

One formula, for calls that join and leave a running batch of ``B`` (continuous batching)::

    seconds of a call = passes * pass(B) / B + prompt * arithmetic + constraint
    pass(B)           = host + max(launch the layers, read weights and KV caches, compute B calls behind their prompts)

Passes, prompt, positions and written tokens are those of a trace; the rest is in ``Assumptions``. The arithmetic of a
prompt comes on top of the passes, as if nothing were read meanwhile, and the GPU waits for the constraint.
"""

from dataclasses import dataclass
from math import ceil
from typing import Final

from eval.capacity.gpus import Gpu
from eval.capacity.sizes import ModelSize
from eval.capacity.trace import Trace

_DAY: Final = 86_400
_GIGA: Final = 1e9
_TERA: Final = 1e12
_MICRO: Final = 1e-6


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What is not measured in a trace; each is an option of ``tooldecoding bench capacity``.

    Attributes
    ----------
    max_batch : int
        Most calls that are decoded together.
    compute_share, bandwidth_share, memory_share : float
        Shares of the data sheet's figures that can be had.
    layer_us, pass_us : float
        Microseconds of the host in each pass: to launch one layer, while the GPU works; and beside the layers, while
        it waits.
    call_us, token_us : float
        Microseconds of the constraint for each call and for each written token.
    """

    max_batch: int
    compute_share: float
    bandwidth_share: float
    memory_share: float
    layer_us: float
    pass_us: float
    call_us: float
    token_us: float


@dataclass(frozen=True)
class Cost:
    """What one call costs.

    Attributes
    ----------
    batch : int
        Calls that are decoded together.
    passes, prompt, host : float
        Seconds of the GPU for its share of the passes and for its prompt, and of the host for the constraint.
    bound : str
        What a pass waits for.
    """

    batch: int
    passes: float
    prompt: float
    host: float
    bound: str

    @property
    def seconds(self) -> float:
        """Seconds in which nothing else can be done."""
        return self.passes + self.prompt + self.host

    @property
    def rate(self) -> float:
        """Calls a second."""
        return 1 / self.seconds

    @property
    def latency(self) -> float:
        """Seconds from the beginning of a call to its end, in a full batch."""
        return self.batch * self.seconds


@dataclass(frozen=True)
class Machine:
    """A model on a GPU."""

    size: ModelSize
    gpu: Gpu
    assumed: Assumptions

    def batch(self, trace: Trace, cache_bytes: float = 0) -> int:
        """Return how many calls fit beside the weights and a prefix cache; 0 if the model does not fit."""
        room = self.gpu.gigabytes * _GIGA * self.assumed.memory_share - self.size.weight_bytes - cache_bytes
        return max(0, min(self.assumed.max_batch, int(room / (trace.longest * self.size.slot_bytes))))

    def cost(self, trace: Trace, cache_bytes: float = 0, reused: float = 0) -> Cost | None:
        """Return the cost of a call of a trace; None if not even one fits.

        Parameters
        ----------
        cache_bytes : float
            Memory of a prefix cache.
        reused : float
            Share of the prompts' positions that come from it.
        """
        batch = self.batch(trace, cache_bytes)
        return self.at(trace, batch, reused) if batch else None

    def at(self, trace: Trace, batch: int, reused: float = 0) -> Cost:
        """Return the cost of a call in a batch of this size."""
        prompt, passes, slots = trace.mean("prompt"), trace.mean("passes"), trace.mean("slots")
        behind = trace.mean("positions") * self._arithmetic(slots, with_head=True)
        waits = {
            "launch": self.size.layers * self.assumed.layer_us * _MICRO,
            "memory": (self.size.read_bytes + batch * slots * self.size.slot_bytes) / self._bandwidth,
            "arithmetic": batch * behind / passes,
        }
        bound = max(waits, key=lambda name: waits[name])
        computed = prompt * (1 - reused) * self._arithmetic(prompt / 2, with_head=False)
        host = (self.assumed.call_us + trace.mean("written") * self.assumed.token_us) * _MICRO
        one_pass = self.assumed.pass_us * _MICRO + waits[bound]
        return Cost(batch, passes * one_pass / batch, computed, host, bound)

    def worth(self, trace: Trace, cache_bytes: float) -> float | None:
        """Return the share of the prompts' positions from which a prefix cache of this size pays.

        0 if it takes no places from the batch; None if nothing fits beside it, or even all positions were too few.
        """
        without, beside = self.cost(trace), self.cost(trace, cache_bytes)
        if without is None or beside is None:
            return None
        share = max(0.0, (beside.passes - without.passes) / without.prompt)
        return share if share <= 1 else None

    def gain(self, trace: Trace, cache_bytes: float, reused: float) -> float | None:
        """Return calls a second with a prefix cache, divided by those without; None if nothing fits beside it."""
        without, beside = self.cost(trace), self.cost(trace, cache_bytes, reused)
        return None if without is None or beside is None else beside.rate / without.rate

    def _arithmetic(self, visible: float, with_head: bool) -> float:
        """Seconds for one position."""
        per_second = self.gpu.teraflops * _TERA * self.assumed.compute_share
        return self.size.position_flops(visible, with_head) / per_second

    @property
    def _bandwidth(self) -> float:
        return self.gpu.bandwidth * _GIGA * self.assumed.bandwidth_share


@dataclass(frozen=True, kw_only=True)
class Demand:
    """How many calls are to be answered.

    Attributes
    ----------
    calls_per_day : int
    peak : float
        Calls in the busiest hour, divided by the day's mean.
    load : float
        Share of a GPU's rate that may be used in the busiest hour; the rest keeps queues short.
    """

    calls_per_day: int
    peak: float
    load: float

    def gpus(self, cost: Cost) -> int:
        """Return how many GPUs the demand needs."""
        return ceil(self.busiest * cost.seconds / self.load)

    @property
    def busiest(self) -> float:
        """Calls a second in the busiest hour."""
        return self.calls_per_day / _DAY * self.peak
