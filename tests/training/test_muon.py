"""Our Muon updates as torch's, and makes matrices orthogonal, roughly."""

import pytest
import torch
from torch import nn

from training.run.muon import Muon, orthogonal

SHAPES = [(24, 24), (40, 24), (24, 40), (24, 24), (40, 24)]


def parameters() -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(0)
    return [nn.Parameter(torch.randn(shape, generator=generator)) for shape in SHAPES]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_updates_are_those_of_torch(dtype: torch.dtype) -> None:
    ours, theirs, before = parameters(), parameters(), parameters()
    optimizers = Muon(ours, 0.02, 0.1, dtype), torch.optim.Muon(theirs, lr=0.02, weight_decay=0.1)
    generator = torch.Generator().manual_seed(1)
    for _ in range(4):
        for one, other in zip(ours, theirs, strict=True):
            one.grad = torch.randn(one.shape, generator=generator)
            other.grad = one.grad.clone()
        for optimizer in optimizers:
            optimizer.step()
    for one, other, old in zip(ours, theirs, before, strict=True):
        assert (one - other).norm() < 0.03 * (other - old).norm()  # torch computes in bfloat16


def test_what_has_no_gradient_stays() -> None:
    ours, before = parameters(), parameters()
    optimizer = Muon(ours, 0.02, 0.1, torch.float32)
    ours[1].grad = torch.ones_like(ours[1])
    optimizer.step()
    assert [bool((one == old).all()) for one, old in zip(ours, before, strict=True)] == [True, False, True, True, True]


@pytest.mark.parametrize("shape", SHAPES[:3])
def test_singular_values_become_about_one(shape: tuple[int, int]) -> None:
    found = orthogonal(torch.stack([torch.randn(shape), 1e3 * torch.randn(shape)]))
    values = torch.linalg.svdvals(found)
    assert found.shape == (2, *shape)
    assert values.quantile(0.1) > 0.5 and values.max() < 1.3
