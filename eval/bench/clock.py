"""Times a method's forward passes, and the teacher's own work.

For every method, the decode is everything after the forward pass (or passes) of the prompt.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import torch
from transformers import PreTrainedModel

from tooldecoding.engines.batched_cache import cache_bytes


class PassClock:
    """Wall-clock seconds of one run. The clock starts when it is created.

    Parameters
    ----------
    device : torch.device
    every_pass : bool
        Whether to wait for the device around every pass, which times passes on a GPU but slows the run.

    Attributes
    ----------
    passes : int
        Forward passes of all prompts so far.
    computed : int
        Token positions of these passes, with padding.
    model_seconds : float
        In forward passes and output layer.
    teacher_seconds : float
        In the teacher.
    """

    def __init__(self, device: torch.device, every_pass: bool) -> None:
        self._device = device
        self._every_pass = every_pass or device.type != "cuda"
        self.passes = self.computed = 0
        self.model_seconds = self.teacher_seconds = 0.0
        self._longest = self._teacher_then = 0.0
        self._before_prompt_end = (0.0, 0.0)
        self._prompt_end: float | None = None
        self._synchronise()
        self._start = self._pass_start = self._end = perf_counter()

    def begin_pass(self, computed: int) -> None:
        """Note the start of a forward pass with this many positions."""
        self.passes += 1
        self.computed += computed
        self._synchronise(self._every_pass)
        self._pass_start = perf_counter()
        self._note_stretch(self._pass_start)

    def end_pass(self) -> None:
        """Note the end of the forward pass, with its output layer."""
        self._synchronise(self._every_pass)
        self._end = perf_counter()
        self.model_seconds += self._end - self._pass_start
        self._teacher_then = self.teacher_seconds

    def end_prompt(self) -> None:
        """Note that the prompts are computed. Only the first call counts."""
        if self._prompt_end is None:
            self._synchronise()
            self._prompt_end = perf_counter()
            self._before_prompt_end = (self.model_seconds, self.teacher_seconds)

    @contextmanager
    def teaching(self, wait: bool = False) -> Iterator[None]:
        """Count the time inside the block as the teacher's.

        Parameters
        ----------
        wait : bool
            Whether to wait for the device first, so that its pending work is not counted as the teacher's.
        """
        self._synchronise(wait)
        start = perf_counter()
        yield
        self.teacher_seconds += perf_counter() - start

    def stop(self) -> None:
        """Note the end of the run."""
        self._synchronise()
        now = perf_counter()
        self._note_stretch(now)
        self._end = now

    def _note_stretch(self, now: float) -> None:
        """Note the time since the last pass, if the prompts are computed."""
        if self._prompt_end is not None:
            self._longest = max(self._longest, now - self._end - (self.teacher_seconds - self._teacher_then))

    @property
    def total(self) -> float:
        """Seconds of the run, without the teacher's."""
        return self._end - self._start - self.teacher_seconds

    @property
    def decode(self) -> float:
        """Seconds after the prompt's pass, without the teacher's."""
        begun = self._start if self._prompt_end is None else self._prompt_end
        return self._end - begun - (self.teacher_seconds - self._before_prompt_end[1])

    @property
    def outside(self) -> float | None:
        """Seconds of the decode outside of model and teacher; None if passes were not timed."""
        if not self._every_pass:
            return None
        return self.decode - (self.model_seconds - self._before_prompt_end[0])

    @property
    def longest(self) -> float | None:
        """Seconds of the longest stretch between two passes of the decode, as in ``outside``."""
        return self._longest if self._every_pass else None

    def _synchronise(self, now: bool = True) -> None:
        if self._device.type == "cuda" and now:
            torch.cuda.synchronize(self._device)


class CacheWatch:
    """Holds the KV cache that a model's forward passes return."""

    def __init__(self) -> None:
        self._cache: Any = None

    def see(self, output: Any) -> None:
        """Remember the cache of a pass."""
        self._cache = getattr(output, "past_key_values", None)

    @property
    def bytes(self) -> int:
        """Bytes of its keys and values, as allocated."""
        return cache_bytes(self._cache)


@contextmanager
def watch(model: PreTrainedModel, clock: PassClock, cache: CacheWatch) -> Iterator[None]:
    """Report every forward pass of ``model`` inside the block to ``clock``. The first is the prompt's."""

    def before(_: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        ids = kwargs["input_ids"] if "input_ids" in kwargs else args[0]
        clock.begin_pass(ids.numel())

    def after(_: object, args: object, kwargs: object, output: Any) -> None:
        clock.end_pass()
        clock.end_prompt()
        cache.see(output)

    handles = [
        model.register_forward_pre_hook(before, with_kwargs=True),
        model.register_forward_hook(after, with_kwargs=True),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
