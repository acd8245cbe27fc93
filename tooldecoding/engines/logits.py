"""Logits of the next token, and what the decoder reads from them without Python work on the whole vocabulary.

Where the logits are on another device, all that most rows of a pass are asked for comes in one transfer: the likeliest
token, its logit, and the sum of the exponentials. A row is copied alone, once, if more of it is read.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch

Tokens = np.ndarray[Any, np.dtype[np.int64]]
"""Token ids, ascending."""
Values = np.ndarray[Any, np.dtype[np.float32]]
"""Logits on the CPU."""


def token_set(tokens: Iterable[int]) -> Tokens:
    """Return the ids of some tokens, ascending, each once."""
    return np.array(sorted(set(tokens)), np.int64)


_PART = 4096
"""The vocabulary is scanned for high logits in parts of this size."""
_NEGLIGIBLE = 30.0
"""A token is left out of the sum of exponentials if its logit is this far below the highest. Even a million such tokens
add less than float32 rounds away."""

_SUMMED = 1 << 19
"""So many exponentials are made at a time: they stay in the processor's cache."""

_UNDERFLOW = -80.0
"""Where exponentials come near the smallest float32, a CPU takes twenty times as long for them."""


class _Read(NamedTuple):
    """What one transfer brings: by row the likeliest token, its logit and the log of the sum; and the few logits."""

    best: list[int]
    highest: list[float]
    log_sums: list[float]
    few: list[torch.Tensor]


class LogitRows:
    """Logits of one forward pass. What every row needs is computed for all rows at once, when the first one is read.

    Parameters
    ----------
    logits : torch.Tensor
        Shape (rows, vocabulary), any float dtype, any device.
    few : sequence of torch.Tensor
        Logits of a few tokens at further positions, each of shape (tokens,).
    release : callable, optional
        Called when the rows are garbage collected, so that their memory can be reused.
    """

    def __init__(
        self, logits: torch.Tensor, few: Sequence[torch.Tensor] = (), release: Callable[[], object] | None = None
    ) -> None:
        self.logits = logits.float()
        self._few = few
        self._release = release
        self._whole = logits.shape[1] // _PART * _PART
        """How many tokens stand in parts of full size."""
        self._log_sum_of: dict[int, float] = {}
        self._copied: dict[int, Values] = {}

    def __del__(self) -> None:
        if self._release is not None:
            self._release()

    @property
    def on_cpu(self) -> bool:
        """Whether rows can be read without a transfer."""
        return self.logits.device.type == "cpu"

    def values(self, row: int) -> Values:
        """Return the logits of a row on the CPU, shape (vocabulary,)."""
        if self.on_cpu:
            values: Values = self._values[row]
            return values
        if row not in self._copied:
            self._copied[row] = self.logits[row].cpu().numpy()
        return self._copied[row]

    def few(self, number: int) -> torch.Tensor:
        """Return the logits of a few tokens on the CPU, float32."""
        return self._few[number].float() if self.on_cpu else self._read.few[number]

    @property
    def _is_read_at_once(self) -> bool:
        """Whether the sums of all rows are computed together; on a CPU a large vocabulary is read row by row."""
        return not (self.on_cpu and self._whole)

    @cached_property
    def best(self) -> list[int]:
        """The likeliest token of each row (the lowest id if several are equal)."""
        if self._is_read_at_once:
            return self._read.best
        # the highest part first: argmax of a whole row takes several times as long as its maximum
        starts = self._peaks.argmax(-1) * _PART
        return [int(s + v[s : s + _PART].argmax()) for s, v in zip(starts.tolist(), self._values, strict=True)]

    @cached_property
    def highest(self) -> list[float]:
        """The logit of the likeliest token of each row."""
        if self._is_read_at_once:
            return self._read.highest
        highest: list[float] = self._values[range(len(self.best)), self.best].tolist()
        return highest

    def log_sum(self, row: int) -> float:
        """Return the natural logarithm of the sum of a row's exponentials."""
        if self._is_read_at_once:
            return self._read.log_sums[row]
        if row not in self._log_sum_of:
            self._sum(row)
        return self._log_sum_of[row]

    def _sum(self, row: int) -> None:
        """Note the sum of a row; of several rows where most of the vocabulary counts."""
        highest, peaks = self.highest[row], self._peaks[row]
        likely = np.flatnonzero(peaks > highest - _NEGLIGIBLE)
        if 2 * len(likely) > len(peaks):
            size = max(1, _SUMMED // self.logits.shape[1])
            rows = range(start := row - row % size, min(start + size, len(self.logits)))
            tops = torch.tensor(self.highest[rows.start : rows.stop])
            sums = (self.logits[rows.start : rows.stop] - tops[:, None]).clamp_(_UNDERFLOW).exp_().sum(-1)
            self._log_sum_of |= zip(rows, (sums.double().log() + tops).tolist(), strict=True)
            return
        parts = (self._values[row, p * _PART : (p + 1) * _PART] for p in likely)  # the others have no likely token
        self._log_sum_of[row] = highest + math.log(sum(float(np.exp(part - highest).sum()) for part in parts))

    @cached_property
    def _values(self) -> Values:
        return self.logits.numpy()

    @cached_property
    def _read(self) -> _Read:
        """All in one transfer. No vocabulary is so large that float32 rounds a token id."""
        highest, best = self.logits.max(-1)
        sums = (self.logits - highest[:, None]).clamp_(_UNDERFLOW).exp_().sum(-1)
        few = [logits.float() for logits in self._few]
        rows, sizes = len(self.logits), [len(logits) for logits in few]
        host = torch.cat([best.float(), highest, sums, *few]).cpu()
        tokens, logits, exponentials, *left = host.split([rows, rows, rows, *sizes])
        log_sums = exponentials.double().log() + logits  # float32 rounds the sum of large logits
        return _Read([int(token) for token in tokens.tolist()], logits.tolist(), log_sums.tolist(), left)

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
    """

    def __init__(self, logits: torch.Tensor | LogitRows, row: int = 0) -> None:
        self._given = logits if isinstance(logits, LogitRows) else LogitRows(logits[None])
        self._row = row

    @property
    def _rows(self) -> LogitRows:
        return self._given

    @property
    def logits(self) -> torch.Tensor:
        """Shape (vocabulary,); float32."""
        return self._rows.logits[self._row]

    @property
    def values(self) -> Values:
        """The logits of all tokens on the CPU, shape (vocabulary,); a view, valid while this object is held."""
        return self._rows.values(self._row)

    @property
    def best(self) -> int:
        """The likeliest token (the lowest id if several are equal)."""
        return self._rows.best[self._row]

    def knows(self, token: int) -> bool:
        """Whether the logit of a token is known, or only that it is lower than others are."""
        return True

    def tells(self, tokens: Tokens, exact: bool = False) -> bool:
        """Whether the likeliest of these tokens is known; with ``exact``, whether all of their logits are."""
        return True

    def logprob(self, token: int) -> float:
        """Return the natural log-probability of a token in the whole vocabulary."""
        rows, row = self._rows, self._row
        logit = rows.highest[row] if token == rows.best[row] else float(self.values[token])
        return logit - rows.log_sum(row)

    def share(self, tokens: Tokens) -> float:
        """Return the probability of all these tokens together (ids without repetition) in the whole vocabulary."""
        return math.exp(self.log_share(tokens))

    def log_share(self, tokens: Tokens) -> float:
        """Return the natural logarithm of ``share``, also where that is too small for a float."""
        if not len(tokens):
            return -math.inf
        return min(0.0, float(torch.logsumexp(self._of(tokens), 0)) - self._rows.log_sum(self._row))

    def likeliest_among(self, tokens: Tokens, most: int) -> list[tuple[int, float]]:
        """Return the likeliest of the tokens, at most so many, with their probabilities in the whole vocabulary."""
        found = self._of(tokens).topk(min(most, len(tokens)))
        probabilities = (found.values - self._rows.log_sum(self._row)).exp().tolist()
        return list(zip(tokens[found.indices.numpy()].tolist(), probabilities, strict=True))

    def likeliest(self, most: int) -> list[tuple[int, float]]:
        """Return the likeliest tokens of the whole vocabulary, at most so many, with their probabilities."""
        return self.likeliest_among(np.arange(len(self.values)), most)

    def best_among(self, tokens: Tokens) -> tuple[int, float]:
        """Return the likeliest of the tokens (ids ascending) and its log-probability among them."""
        logits = self._of(tokens)
        place = int(logits.argmax())
        return int(tokens[place]), float(logits[place] - torch.logsumexp(logits, 0))

    def only(self, tokens: Tokens) -> "NextTokenLogits":
        """Return the logits of some tokens, where no other may come; these logits if there are none such."""
        logits = self.logits
        tokens = tokens[tokens < len(logits)]
        if not len(tokens):
            return self
        masked = torch.full_like(logits, -torch.inf)
        masked[tokens] = logits[tokens]
        return NextTokenLogits(masked)

    def _of(self, tokens: Tokens) -> torch.Tensor:
        """Return the logits of some tokens, on the CPU."""
        return torch.from_numpy(self.values[tokens])


class FewLogits(NextTokenLogits):
    """Logits of a few tokens; those of the others are computed only if they are read.

    Parameters
    ----------
    rows : LogitRows
        Of the pass.
    number : int
        Which of its few.
    tokens : ndarray of int64
    compute_all : callable
        Computes the logits of all tokens, shape (1, vocabulary).
    """

    def __init__(self, rows: LogitRows, number: int, tokens: Tokens, compute_all: Callable[[], torch.Tensor]) -> None:
        super().__init__(rows)
        self._number = number
        self._tokens = tokens
        self._compute_all = compute_all

    @cached_property
    def _rows(self) -> LogitRows:
        return LogitRows(self._compute_all())

    def _of(self, tokens: Tokens) -> torch.Tensor:
        return self._given.few(self._number) if tokens is self._tokens else super()._of(tokens)
