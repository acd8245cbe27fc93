"""Memory for the logits of a pass, reused from pass to pass.

On a CPU, freshly allocated blocks of some megabytes go back to the system when they are freed, and every page of the
next block is a page fault. With a vocabulary of 150,000 tokens that takes longer than everything the decoder does.
"""

from collections.abc import Sequence
from functools import partial

import torch

from tooldecoding.engines.logits import LogitRows

_KEPT = 4
"""Free buffers to keep. More are in use at once only while rows of earlier passes are held."""


class LogitBuffers:
    """Computes the logits of one output layer into reused buffers, on a CPU in fp32. Threads may share it.

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

    def rows(self, hidden: torch.Tensor, few: Sequence[torch.Tensor]) -> LogitRows:
        """Compute the logits of hidden states of shape (rows, width); ``few`` see ``LogitRows``."""
        buffer = self._take(len(hidden))
        logits = buffer[: len(hidden)]
        if self._bias is None:
            torch.mm(hidden, self._weight, out=logits)
        else:
            torch.addmm(self._bias, hidden, self._weight, out=logits)
        return LogitRows(logits, few, partial(self._give_back, buffer))

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
