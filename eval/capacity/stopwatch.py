"""Times passes of engines by processor time, so that other work on the machine counts little."""

import time
from collections.abc import Sequence
from statistics import linear_regression, median
from typing import Any, Final, NamedTuple, cast

import torch
from transformers import PreTrainedModel

from eval.bench.shapes import random_model
from tooldecoding.engines.choose_engine import EngineFactory
from tooldecoding.engines.engine import Engine, Feed
from tooldecoding.engines.logits import NextTokenLogits

_LENGTHS: Final = (64, 128, 256, 384, 512, 768)
_ROUNDS: Final = 5
_STEPS: Final = 30


class Stopwatch:
    """Adds up seconds: of the processor, by all threads, or of the clock if the model is on another device.

    Attributes
    ----------
    seconds : float
        In the passes of all engines that it has watched.
    """

    def __init__(self, device: torch.device) -> None:
        self.now = time.process_time if device.type == "cpu" else time.perf_counter
        self.seconds = 0.0

    def watch(self, engine: Engine) -> Engine:
        """Return the engine; its passes are added to ``seconds``."""
        return cast(Engine, _Watched(engine, self))


class _Watched:
    def __init__(self, engine: Engine, watch: Stopwatch) -> None:
        self._engine, self._watch = engine, watch

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        start = self._watch.now()
        logits = self._engine.extend(feeds)
        self._watch.seconds += self._watch.now() - start
        return logits

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


class PassTimes(NamedTuple):
    """What a forward pass takes: ``fixed`` seconds, and ``position`` seconds more for each position."""

    fixed: float
    position: float


def measure_passes(model: PreTrainedModel) -> PassTimes:
    """Time passes of a model on tokens that mean nothing.

    The slope is fitted to prompts of 64 to 768 tokens; the rest comes from passes of one token behind them.
    """
    watch, factory = Stopwatch(model.device), EngineFactory(model, "auto")
    prompts: dict[int, list[float]] = {length: [] for length in _LENGTHS}
    steps: list[float] = []
    for _ in range(_ROUNDS):
        for length, found in prompts.items():
            seconds = _seconds(watch, factory(), [length, *[1] * _STEPS])
            found.append(seconds[0])
            steps += seconds[1:]
    slope = max(0.0, linear_regression(_LENGTHS, [median(found) for found in prompts.values()]).slope)
    return PassTimes(max(0.0, median(steps) - slope), slope)


def _seconds(watch: Stopwatch, engine: Engine, counts: Sequence[int]) -> list[float]:
    """Feed so many tokens, one pass after the other; return the seconds of each."""
    watched, [root] = watch.watch(engine), engine.open(1)
    found = []
    for count in counts:
        before = watch.seconds
        watched.extend([Feed(root, [7 + n % 64 for n in range(count)])])
        found.append(watch.seconds - before)
    return found


class HostTimes(NamedTuple):
    """Microseconds of the host: for each layer of a pass, and for the pass beside its layers."""

    layer_us: float
    pass_us: float


def measure_host() -> HostTimes:
    """Time passes of one token through layers so narrow that hardly anything but Python and dispatch is left.

    The fastest pass counts: other work on the machine only adds to it.
    """
    model = random_model("tiny", torch.device("cpu"), torch.float32, 0)
    watch, factory = Stopwatch(model.device), EngineFactory(model, "auto")
    layers: Any = model.get_submodule("model.layers")
    marks: list[float] = []
    handles = [
        layers[0].register_forward_pre_hook(lambda *_: marks.append(watch.now())),
        layers[-1].register_forward_hook(lambda *_: marks.append(watch.now())),
    ]
    try:
        whole = min(_seconds(watch, factory(), [64, *[1] * (_ROUNDS * _STEPS)])[1:])
    finally:
        for handle in handles:
            handle.remove()
    inside = min(end - start for start, end in zip(marks[2::2], marks[3::2], strict=True))
    return HostTimes(1e6 * inside / len(layers), 1e6 * (whole - inside))
