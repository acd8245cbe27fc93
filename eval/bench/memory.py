"""Peak memory of a run: allocations on a GPU, growth of the resident set on a CPU."""

import ctypes
import gc
from contextlib import suppress
from pathlib import Path

import torch

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


class PeakMemory:
    """Peak memory from the creation of this object to the reading of ``growth``.

    On a CPU this is Linux's high-water mark, which is reset first; if it cannot be reset, the growth is unknown.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        gc.collect()
        self._known = True
        if device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(device)
            self._before = torch.cuda.memory_allocated(device)
            return
        _return_freed_memory()
        try:
            _CLEAR.write_text("5")
        except OSError:
            self._known = False
        self._before = _kilobytes("VmRSS") * 1024

    @property
    def growth(self) -> int | None:
        """Bytes of the peak above the memory in use before; None if unknown."""
        if self._device.type == "cuda":
            return torch.cuda.max_memory_allocated(self._device) - self._before
        return max(0, _kilobytes("VmHWM") * 1024 - self._before) if self._known else None


def _kilobytes(name: str) -> int:
    try:
        lines = _STATUS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(name + ":")), 0)


def _return_freed_memory() -> None:
    """Return freed memory to the system, so that it does not count as memory in use."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
