"""Memory for the logits of a pass, used again pass after pass.

On a CPU, fresh memory of some megabytes is given back to the system as soon as it is free, and every page of the next
piece is a fault: with a vocabulary of 150,000 that takes longer than all that the decoder does.
"""

from functools import partial

import torch

from tooldecoding.engines.logits import LogitRows

_KEPT = 4
"""Buffers; more are in use at once only while rows of former passes are held."""


class LogitBuffers:
    """Computes logits of one language head into buffers of its own, on a CPU in fp32; several threads may.

    Parameters
    ----------
    weight : torch.Tensor
        Shape (vocabulary, width).
    bias : torch.Tensor, optional
        Shape (vocabulary,).
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        self._weight = weight.t()
        self._bias = bias
        self._free: list[torch.Tensor] = []

    def rows(self, hidden: torch.Tensor) -> LogitRows:
        """Logits for hidden states of shape (rows, width)."""
        buffer = self._take(len(hidden))
        logits = buffer[: len(hidden)]
        if self._bias is None:
            torch.mm(hidden, self._weight, out=logits)
        else:
            torch.addmm(self._bias, hidden, self._weight, out=logits)
        return LogitRows(logits, partial(self._give_back, buffer))

    def _take(self, rows: int) -> torch.Tensor:
        try:
            buffer = self._free.pop()
        except IndexError:
            buffer = None
        if buffer is None or len(buffer) < rows:
            buffer = torch.empty((rows, self._weight.shape[1]))
        return buffer

    def _give_back(self, buffer: torch.Tensor) -> None:
        if len(self._free) < _KEPT:
            self._free.append(buffer)
