"""What a forward pass costs beside its positions: it decides when to split one, and how prompts are fed in pieces."""

import torch

_BY_DEVICE = {"cpu": 32}
_ELSEWHERE = 512


def padding_worth_a_pass(device: torch.device) -> int:
    """Return how many padding positions cost as much as another forward pass."""
    return _BY_DEVICE.get(device.type, _ELSEWHERE)
