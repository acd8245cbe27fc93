"""Logits of the next token, and what the decoder reads from them without Python work on the whole vocabulary."""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import torch

Tokens = np.ndarray[Any, np.dtype[np.int64]]
"""Token ids, ascending."""

_PART = 4096
"""The vocabulary is scanned for high logits in parts of this size."""
_NEGLIGIBLE = 30.0
"""A token is left out of the sum of exponentials if its logit is this far below the highest. Even a million such tokens
add less than float32 rounds away."""


class LogitRows:
    """Logits of one forward pass. On a GPU, what every row needs is computed for all rows at once.

    Parameters
    ----------
    logits : torch.Tensor
        Shape (rows, vocabulary), any float dtype, any device.
    release : callable, optional
        Called when the rows are garbage collected, so that their memory can be reused.
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
        """The likeliest token of each row (the lowest id if several are equal)."""
        best: list[int] = self.logits.argmax(-1).tolist()
        return best

    @cached_property
    def log_sums(self) -> list[float]:
        """Natural logarithm of the sum of each row's exponentials."""
        sums: list[float] = torch.logsumexp(self.logits, -1).tolist()
        return sums


class NextTokenLogits:
    """Logits of the next token behind one position.

    Parameters
    ----------
    logits : torch.Tensor or LogitRows
        Shape (vocabulary,), or the rows of a pass.
    row : int
        Which of the rows.
    among : ndarray of int64, optional
        Token ids of the columns, ascending. By default the columns are the whole vocabulary.
    compute_all : callable, optional
        With ``among``: computes the logits of all tokens, shape (vocabulary,), if they are read after all.
    """

    def __init__(
        self,
        logits: torch.Tensor | LogitRows,
        row: int = 0,
        among: Tokens | None = None,
        compute_all: Callable[[], torch.Tensor] | None = None,
    ) -> None:
        self._given = logits if isinstance(logits, LogitRows) else LogitRows(logits[None])
        self._row = row
        self._among = among
        self._compute_all = compute_all

    @property
    def logits(self) -> torch.Tensor:
        """Shape (vocabulary,); float32."""
        return self._rows.logits[self._row]

    @cached_property
    def _rows(self) -> LogitRows:
        """Logits of all tokens, computed now if only some were."""
        return self._given if self._compute_all is None else LogitRows(self._compute_all()[None])

    @cached_property
    def values(self) -> "np.ndarray[Any, np.dtype[np.float32]]":
        """The logits of all tokens on the CPU, shape (vocabulary,)."""
        values: np.ndarray[Any, np.dtype[np.float32]] = self.logits.cpu().numpy()
        return values

    @property
    def best(self) -> int:
        """The likeliest token (the lowest id if several are equal)."""
        return self._peak[0] if self._rows.on_cpu else self._rows.best[self._row]

    def logprob(self, token: int) -> float:
        """Return the natural log-probability of a token in the whole vocabulary."""
        if self._rows.on_cpu:
            return float(self.values[token]) - self._log_sum
        return float(self.logits[token]) - self._rows.log_sums[self._row]

    def best_among(self, tokens: Tokens) -> tuple[int, float]:
        """Return the likeliest of the tokens (ids ascending) and its log-probability among them."""
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
        """Natural logarithm of the sum of exponentials. Parts without a likely token are skipped."""
        best, parts = self._peak
        highest = float(self.values[best])
        likely = np.flatnonzero(parts > highest - _NEGLIGIBLE)
        if 2 * len(likely) > len(parts):
            return highest + math.log(float((self.logits - highest).exp_().sum()))
        total = sum(float(np.exp(self.values[p * _PART : (p + 1) * _PART] - highest).sum()) for p in likely)
        return highest + math.log(total)
