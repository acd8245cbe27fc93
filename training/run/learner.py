"""One update: gradients of some batches, Muon for the layers' matrices, AdamW for all other parameters."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from training.encoding.encode import Encoded
from training.encoding.packing import Batch
from training.network.network import Network, fast_dtype
from training.run.muon import Muon

CLIP = 1.0
"""Largest norm of the gradients."""


class Learner:
    """A network with its optimizers."""

    def __init__(self, network: Network, muon_rate: float, adam_rate: float, device: torch.device) -> None:
        self.network = network.to(device)
        self.device = device
        named = list(network.named_parameters())
        matrices = [p for name, p in named if ".matrices." in name]
        others = [p for name, p in named if ".matrices." not in name]
        self.rates = (muon_rate, adam_rate)
        self.optimizers: list[torch.optim.Optimizer] = [
            Muon(matrices, muon_rate, 0.01, fast_dtype(device)),
            torch.optim.AdamW(others, lr=adam_rate, betas=(0.9, 0.95), weight_decay=0.0),
        ]

    def step(self, batches: Sequence[Batch], factor: float) -> tuple[float, float]:
        """Update once; ``factor`` scales the learning rates.

        Returns
        -------
        loss, accuracy : float
            Means over the tokens of answers, before the update.
        """
        total = sum(float(batch.weight.sum()) for batch in batches)
        loss = correct = answers = 0.0
        for batch in batches:
            on = batch.to(self.device)
            losses, good = self.network.losses(on.ids, on.sequence_ids, on.targets)
            ((losses * on.weight).sum() / total).backward()
            loss += float(losses.detach()[on.is_answer].sum())
            correct += float(good[on.is_answer].sum())
            answers += float(on.is_answer.sum())
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), CLIP)
        for optimizer, rate in zip(self.optimizers, self.rates, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = rate * factor
            optimizer.step()
            optimizer.zero_grad()
        return loss / max(1.0, answers), correct / max(1.0, answers)

    @torch.no_grad()
    def correct(self, sequences: Sequence[Encoded], length: int) -> list[Tensor]:
        """Return whether the most probable token is right, for the tokens of each sequence from the second on.

        Sequences are padded to ``length``, one of the row lengths of the run, so that nothing is compiled anew.
        """
        out = []
        for sequence in sequences:
            ids = torch.zeros((1, length), dtype=torch.long)
            ids[0, : len(sequence.ids)] = torch.tensor(sequence.ids)
            on, targets = ids.to(self.device), torch.arange(1, length, device=self.device)
            _, good = self.network.losses(on, torch.zeros_like(on), targets)
            out.append(good[: len(sequence.ids) - 1].cpu())
        return out

    def state(self) -> dict[str, Any]:
        """Return what is needed to resume."""
        return {"network": self.network.state_dict(), "optimizers": [o.state_dict() for o in self.optimizers]}

    def load(self, state: dict[str, Any]) -> None:
        """Restore a ``state``."""
        self.network.load_state_dict(state["network"])
        for optimizer, values in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(values)
