"""GPUs by the figures of their data sheets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

GpuName = Literal["h100", "a100", "l40s", "l4"]


@dataclass(frozen=True)
class Gpu:
    """One GPU.

    Attributes
    ----------
    gigabytes : float
        Memory, in 10**9 bytes.
    bandwidth : float
        Of the memory, in 10**9 bytes a second.
    teraflops : float
        Peak of dense bf16 matrix products, in 10**12 operations a second.
    """

    gigabytes: float
    bandwidth: float
    teraflops: float


GPUS: Final[Mapping[GpuName, Gpu]] = {
    "h100": Gpu(80, 3350, 989),  # NVIDIA H100 Tensor Core GPU data sheet, SXM5
    "a100": Gpu(80, 2039, 312),  # NVIDIA A100 80GB data sheet, SXM4
    "l40s": Gpu(48, 864, 362),  # NVIDIA L40S data sheet
    "l4": Gpu(24, 300, 121),  # NVIDIA L4 data sheet
}
"""Name -> GPU. Where a data sheet gives teraflops with sparsity, this is half of them."""
