"""Logits of the next token, and what the decoder reads from them without Python work on the whole vocabulary."""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import torch

Tokens = np.ndarray[Any, np.dtype[np.int64]]
"""Token ids, ascending."""
Values = np.ndarray[Any, np.dtype[np.float32]]
"""Logits on the CPU."""

_PART = 4096
"""The vocabulary is scanned for high logits in parts of this size."""
_NEGLIGIBLE = 30.0
"""A token is left out of the sum of exponentials if its logit is this far below the highest. Even a million such tokens
add less than float32 rounds away."""

_UNDERFLOW = -80.0
"""Where exponentials come near the smallest float32, a CPU takes twenty times as long for them."""


class LogitRows:
    """Logits of one forward pass. What every row needs is computed for all rows at once, when the first one is read.

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
        self._whole = logits.shape[1] // _PART * _PART
        """How many tokens stand in parts of full size."""
        self._log_sum_of: dict[int, float] = {}

    def __del__(self) -> None:
        if self._release is not None:
            self._release()

    @cached_property
    def values(self) -> Values:
        """The logits on the CPU, shape (rows, vocabulary)."""
        return self.logits.numpy() if self.on_cpu else self.logits.cpu().numpy()

    @cached_property
    def best(self) -> list[int]:
        """The likeliest token of each row (the lowest id if several are equal)."""
        if not self.on_cpu or not self._whole:
            best: list[int] = self.logits.argmax(-1).tolist()
            return best
        # the highest part first: argmax of a whole row takes several times as long as its maximum
        starts = self._peaks.argmax(-1) * _PART
        return [int(s + v[s : s + _PART].argmax()) for s, v in zip(starts.tolist(), self.values, strict=True)]

    @cached_property
    def highest(self) -> list[float]:
        """The logit of the likeliest token of each row."""
        found = self.values[range(len(self.best)), self.best] if self.on_cpu else self.logits.amax(-1)
        highest: list[float] = found.tolist()
        return highest

    def log_sum(self, row: int) -> float:
        """Return the natural logarithm of the sum of a row's exponentials."""
        if not self.on_cpu or not self._whole:
            return self._log_sums[row]
        if row not in self._log_sum_of:
            self._log_sum_of[row] = self._log_sum(row)
        return self._log_sum_of[row]

    def _log_sum(self, row: int) -> float:
        highest, peaks = self.highest[row], self._peaks[row]
        likely = np.flatnonzero(peaks > highest - _NEGLIGIBLE)
        if 2 * len(likely) > len(peaks):
            return highest + math.log(float((self.logits[row] - highest).clamp_(_UNDERFLOW).exp_().sum()))
        parts = (self.values[row, p * _PART : (p + 1) * _PART] for p in likely)  # the others have no likely token
        return highest + math.log(sum(float(np.exp(part - highest).sum()) for part in parts))

    @cached_property
    def _log_sums(self) -> list[float]:
        highest = self.logits.amax(-1)
        rest = (self.logits - highest[:, None]).clamp_(_UNDERFLOW).exp_().sum(-1)
        sums: list[float] = (rest.double().log() + highest).tolist()  # float32 rounds the sum of large logits
        return sums

    @cached_property
    def _peaks(self) -> Values:
        """The highest logit of each part of the vocabulary, shape (rows, parts)."""
        whole = self._whole
        peaks = [self.logits[:, :whole].unflatten(1, (-1, _PART)).amax(-1)]
        if whole < self.logits.shape[1]:
            peaks.append(self.logits[:, whole:].amax(-1, keepdim=True))
        found: Values = torch.cat(peaks, 1).numpy()
        return found


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
        self._all = self._given if compute_all is None else None

    @property
    def logits(self) -> torch.Tensor:
        """Shape (vocabulary,); float32."""
        return self._rows.logits[self._row]

    @property
    def _rows(self) -> LogitRows:
        """Logits of all tokens, computed now if only some were."""
        if self._all is None and self._compute_all is not None:
            self._all = LogitRows(self._compute_all()[None])
        return self._all or self._given

    @property
    def values(self) -> Values:
        """The logits of all tokens on the CPU, shape (vocabulary,); a view, valid while this object is held."""
        row: Values = self._rows.values[self._row]
        return row

    @property
    def best(self) -> int:
        """The likeliest token (the lowest id if several are equal)."""
        return self._rows.best[self._row]

    def logprob(self, token: int) -> float:
        """Return the natural log-probability of a token in the whole vocabulary."""
        rows, row = self._rows, self._row
        if token == rows.best[row]:
            return rows.highest[row] - rows.log_sum(row)
        return float(self.values[token] if rows.on_cpu else self.logits[token]) - rows.log_sum(row)

    def share(self, tokens: Tokens) -> float:
        """Return the probability of all these tokens together (ids without repetition) in the whole vocabulary."""
        if not len(tokens):
            return 0.0
        rows, row = self._rows, self._row
        values = self.logits[torch.from_numpy(tokens).to(self.logits.device)]
        return math.exp(min(0.0, float(torch.logsumexp(values, 0)) - rows.log_sum(row)))

    def likeliest_among(self, tokens: Tokens, most: int) -> list[tuple[int, float]]:
        """Return the likeliest of the tokens, at most so many, with their probabilities in the whole vocabulary."""
        values = self.logits[torch.from_numpy(tokens).to(self.logits.device)]
        found = values.topk(min(most, len(tokens)))
        probabilities = (found.values - self._rows.log_sum(self._row)).exp().tolist()
        return list(zip(tokens[found.indices.cpu().numpy()].tolist(), probabilities, strict=True))

    def best_among(self, tokens: Tokens) -> tuple[int, float]:
        """Return the likeliest of the tokens (ids ascending) and its log-probability among them."""
        if tokens is self._among:
            logits = self._given.logits[0]
        else:
            logits = self.logits[torch.from_numpy(tokens).to(self.logits.device)]
        place = int(logits.argmax())
        return int(tokens[place]), float(logits[place] - torch.logsumexp(logits, 0))
