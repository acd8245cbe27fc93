"""The machine of a measurement, and the clock of one run on it."""

import os
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import torch


def describe_machine(device: torch.device) -> dict[str, Any]:
    """Return processor, cores, threads in use, device, and versions."""
    described: dict[str, Any] = {
        "cpu": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "device": str(device),
        "versions": {name: version(name) for name in ("tooldecoding", "torch", "transformers")},
    }
    if device.type == "cuda":
        described["gpu"] = torch.cuda.get_device_name(device)
    return described


def machine_line(machine: Mapping[str, Any]) -> str:
    """Return the machine in one line."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    place = machine.get("gpu") or f"{machine['cpu']}, {machine['cores']} cores, {machine['threads']} threads"
    return f"{place}; {versions}"


def _processor() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()


class PassClock:
    """Wall-clock seconds of one run on a device: its forward passes, and the teacher's own work.

    The clock starts when it is created. For every method, the decode is everything after the forward pass (or passes)
    of the prompt.

    It waits for a GPU around every pass. All methods do so anyway: they read the logits of each pass.

    Attributes
    ----------
    passes : int
        Forward passes of all prompts so far.
    teacher_seconds : float
        In the teacher.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self.passes = 0
        self.teacher_seconds = self._model_seconds = 0.0
        self._start = self._end = self._now()
        self._prompt_end: float | None = None
        self._before_prompt_end = (0.0, 0.0)

    @contextmanager
    def forward_pass(self) -> Iterator[None]:
        """Count the time inside the block as that of a forward pass with its output layer."""
        self.passes += 1
        start = self._now()
        yield
        self._model_seconds += self._now() - start

    def end_prompt(self) -> None:
        """Note that the prompts are computed. Only the first call counts."""
        if self._prompt_end is None:
            self._prompt_end = self._now()
            self._before_prompt_end = (self._model_seconds, self.teacher_seconds)

    @contextmanager
    def teaching(self) -> Iterator[None]:
        """Count the time inside the block as the teacher's."""
        start = self._now()
        yield
        self.teacher_seconds += perf_counter() - start

    def stop(self) -> None:
        """Note the end of the run."""
        self._end = self._now()

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
    def outside(self) -> float:
        """Seconds of the decode outside of model and teacher."""
        return self.decode - (self._model_seconds - self._before_prompt_end[0])

    def _now(self) -> float:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return perf_counter()
