"""What a forward pass costs beside its positions: it decides when to split one, and how prompts are fed in pieces."""

import torch

_PASS = {"cpu": 32}
_RUN = {"cpu": 1}
DRAFTED_POSITIONS = 4
"""Positions that a prompt's draft branches take for each pass that they save it, failures included."""


def padding_worth_a_pass(device: torch.device) -> int:
    """Return how many padding positions cost as much as another forward pass."""
    return _PASS.get(device.type, 512)


def padding_worth_a_run(device: torch.device) -> int:
    """Return how many padding positions cost as much as another run of a ragged pass."""
    return _RUN.get(device.type, 64)
