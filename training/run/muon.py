"""Muon, the optimizer of the layers' matrices."""

from collections.abc import Iterable
from itertools import groupby

import torch
from torch import Tensor, nn

MOMENTUM = 0.95
STEPS = 5
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""Of the iteration x -> a x + b (x x') x + c (x x')² x, which turns all singular values into about 1."""
SMALLEST = 1e-7


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised (K. Jordan et al. 2024, https://kellerjordan.github.io/posts/muon).

    The updates are those of ``torch.optim.Muon``. But that one computes in bfloat16 on every device, matrix by matrix,
    which takes 25 seconds for the reference model on a CPU without AVX-512. Here all matrices of a shape are
    orthogonalised at once, in a dtype that the device is fast in.

    Parameters
    ----------
    matrices : iterable of Parameter
        Each of two dimensions.
    lr : float
    weight_decay : float
        Decoupled: a share of the weights, times ``lr``.
    dtype : torch.dtype
        Of the iteration.
    """

    def __init__(self, matrices: Iterable[nn.Parameter], lr: float, weight_decay: float, dtype: torch.dtype) -> None:
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay})
        self._dtype = dtype

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update all matrices that have a gradient."""
        for group in self.param_groups:
            rate, decay = group["lr"], group["weight_decay"]
            moved = sorted((p for p in group["params"] if p.grad is not None), key=_shape)
            for shape, alike in groupby(moved, key=_shape):
                matrices = list(alike)
                updates = orthogonal(torch.stack([self._pushed(p) for p in matrices]).to(self._dtype))
                scale = rate * max(1, shape[0] / shape[1]) ** 0.5
                for matrix, update in zip(matrices, updates, strict=True):
                    matrix.mul_(1 - rate * decay).sub_(update.to(matrix.dtype), alpha=scale)

    def _pushed(self, matrix: nn.Parameter) -> Tensor:
        """Return the gradient with Nesterov's momentum."""
        state, gradient = self.state[matrix], matrix.grad
        assert gradient is not None
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(gradient)
        momentum: Tensor = state["momentum_buffer"]
        momentum.lerp_(gradient, 1 - MOMENTUM)
        return gradient.lerp(momentum, MOMENTUM)


def _shape(matrix: nn.Parameter) -> tuple[int, ...]:
    return tuple(matrix.shape)


def orthogonal(matrices: Tensor) -> Tensor:
    """Matrices (N, rows, columns) -> the nearest (half-)orthogonal ones, roughly: singular values of 0.7 to 1.2."""
    a, b, c = COEFFICIENTS
    if matrices.shape[1] > matrices.shape[2]:
        return orthogonal(matrices.mT).mT
    x: Tensor = matrices / matrices.norm(dim=(1, 2), keepdim=True).clamp(min=SMALLEST)
    for _ in range(STEPS):
        gram = x @ x.mT
        x = a * x + torch.baddbmm(gram, gram, gram, beta=b, alpha=c) @ x
    return x
