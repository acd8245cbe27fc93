"""Scores of the next token: what the decoder reads from logits, without work on the whole vocabulary in Python."""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import torch

Tokens = np.ndarray[Any, np.dtype[np.int64]]
"""Ids of tokens, ascending."""

_PART = 4096
"""Logits of which the highest is looked up at once: the vocabulary is skimmed in such parts."""
_NEGLIGIBLE = 30.0
"""Natural logarithm of how much less likely than the likeliest a token must be to count for nothing in a sum: even
a million of them are less than what float32 rounds away."""


class LogitRows:
    """Logits of one forward pass; on a GPU, what every row needs is computed for all rows at once.

    Parameters
    ----------
    logits : torch.Tensor
        Shape (rows, vocabulary), any float dtype, any device.
    release : callable, optional
        Called when nothing refers to the rows any more: their memory may be used again.
    """

    def __init__(self, logits: torch.Tensor, release: Callable[[], object] | None = None) -> None:
        self.logits = logits.float()
        self.on_cpu = logits.device.type == "cpu"
        self._release = release

    def __del__(self) -> None:
        if self._release is not None:
            self._release()

    @cached_property
    def best(self) -> list[int]:
        """The likeliest token of each row (the lowest id among equals)."""
        best: list[int] = self.logits.argmax(-1).tolist()
        return best

    @cached_property
    def log_sums(self) -> list[float]:
        """Natural logarithm of the sum of each row's exponentials."""
        sums: list[float] = torch.logsumexp(self.logits, -1).tolist()
        return sums


class NextTokenLogits:
    """Scores of the next token behind one position.

    Parameters
    ----------
    logits : torch.Tensor or LogitRows
        Shape (vocabulary,), or the rows of a pass.
    row : int
        Which of the rows.
    among : ndarray of int64, optional
        Ids of the tokens that the columns stand for, ascending; by default all, in sequence.
    whole : callable, optional
        With ``among``: computes the logits of all tokens, shape (vocabulary,), should they be asked for after all.
    """

    def __init__(
        self,
        logits: torch.Tensor | LogitRows,
        row: int = 0,
        among: Tokens | None = None,
        whole: Callable[[], torch.Tensor] | None = None,
    ) -> None:
        self._given = logits if isinstance(logits, LogitRows) else LogitRows(logits[None])
        self._row = row
        self._among = among
        self._whole = whole

    @property
    def logits(self) -> torch.Tensor:
        """Shape (vocabulary,); float32."""
        return self._rows.logits[self._row]

    @cached_property
    def _rows(self) -> LogitRows:
        """The logits of all tokens, computed now where only some were."""
        return self._given if self._whole is None else LogitRows(self._whole()[None])

    @cached_property
    def values(self) -> "np.ndarray[Any, np.dtype[np.float32]]":
        """The logits of all tokens on the CPU, shape (vocabulary,)."""
        values: np.ndarray[Any, np.dtype[np.float32]] = self.logits.cpu().numpy()
        return values

    @property
    def best(self) -> int:
        """The likeliest token (the lowest id among equals)."""
        return self._peak[0] if self._rows.on_cpu else self._rows.best[self._row]

    def logprob(self, token: int) -> float:
        """Natural log-probability of a token in the whole vocabulary."""
        if self._rows.on_cpu:
            return float(self.values[token]) - self._log_sum
        return float(self.logits[token]) - self._rows.log_sums[self._row]

    def best_among(self, tokens: Tokens) -> tuple[int, float]:
        """The likeliest of the tokens (ids ascending), and its log-probability among them."""
        if tokens is self._among:
            logits = self._given.logits[0]
        else:
            logits = self.logits[torch.from_numpy(tokens).to(self.logits.device)]
        place = int(logits.argmax())
        return int(tokens[place]), float(logits[place] - torch.logsumexp(logits, 0))

    @cached_property
    def _peak(self) -> tuple[int, "np.ndarray[Any, Any]"]:
        """The likeliest token, and the highest logit of each part of the vocabulary."""
        whole = len(self.values) // _PART * _PART
        parts = self.values[:whole].reshape(-1, _PART).max(-1) if whole else self.values[:0]
        if whole < len(self.values):
            parts = np.append(parts, self.values[whole:].max())
        start = int(parts.argmax()) * _PART
        return start + int(self.values[start : start + _PART].argmax()), parts

    @cached_property
    def _log_sum(self) -> float:
        """Natural logarithm of the sum of exponentials; parts without a likely token are not computed."""
        best, parts = self._peak
        highest = float(self.values[best])
        likely = np.flatnonzero(parts > highest - _NEGLIGIBLE)
        if 2 * len(likely) > len(parts):
            return highest + math.log(float((self.logits - highest).exp_().sum()))
        total = sum(float(np.exp(self.values[p * _PART : (p + 1) * _PART] - highest).sum()) for p in likely)
        return highest + math.log(total)
