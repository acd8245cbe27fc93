"""Scores of the next token: what the decoder reads from logits, without work on the whole vocabulary in Python."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

Tokens = Sequence[int] | np.ndarray[Any, np.dtype[np.int64]]

_AT_ONCE = 1 << 17
"""Logits of which probabilities are computed in one go on the CPU; elsewhere 64 times as many."""


class LogitRows:
    """Logits of one forward pass; what every row needs is computed for all rows at once, when first asked for.

    Parameters
    ----------
    logits : torch.Tensor
        Shape (rows, vocabulary), any float dtype, any device.
    """

    def __init__(self, logits: torch.Tensor) -> None:
        self.logits = logits.float()

    @cached_property
    def best(self) -> list[int]:
        """The likeliest token of each row (the lowest id among equals)."""
        # on the CPU numpy's argmax takes a tenth of the time of torch's
        on_cpu = self.logits.device.type == "cpu"
        best: list[int] = (self.logits.numpy() if on_cpu else self.logits).argmax(-1).tolist()
        return best

    @cached_property
    def best_logprobs(self) -> list[float]:
        """Log-probability of ``best``."""
        best = torch.tensor(self.best, device=self.logits.device)
        # a few rows at a time: their intermediate results stay in the cache and in memory that is there already
        few = max(1, (_AT_ONCE if self.logits.device.type == "cpu" else 64 * _AT_ONCE) // self.logits.shape[1])
        parts = zip(self.logits.split(few), best.split(few), strict=True)
        losses = torch.cat([cross_entropy(logits, tokens, reduction="none") for logits, tokens in parts])
        rows: list[float] = (-losses).tolist()
        return rows

    def logprob(self, row: int, token: int) -> float:
        """Natural log-probability of a token."""
        if token == self.best[row]:
            return self.best_logprobs[row]
        return float(torch.log_softmax(self.logits[row], -1)[token])


class Scores:
    """Scores of the next token behind one position.

    Parameters
    ----------
    logits : torch.Tensor or LogitRows
        Shape (vocabulary,), or the rows of a pass.
    row : int
        Which of the rows.
    among : torch.Tensor, optional
        Ids of the tokens that the columns stand for, ascending; by default all, in sequence.
    """

    FIRST = 64

    def __init__(self, logits: torch.Tensor | LogitRows, row: int = 0, among: torch.Tensor | None = None) -> None:
        self._rows = logits if isinstance(logits, LogitRows) else LogitRows(logits[None])
        self._row = row
        self._among = among

    @property
    def logits(self) -> torch.Tensor:
        """Shape (vocabulary,), or (tokens asked for,); float32."""
        return self._rows.logits[self._row]

    def logprob(self, token: int) -> float:
        """Natural log-probability of a token in the whole vocabulary."""
        self._demand_all()
        return self._rows.logprob(self._row, token)

    @property
    def best(self) -> int:
        """The likeliest token (the lowest id among equals)."""
        self._demand_all()
        return self._rows.best[self._row]

    def ranked(self, tokens: Tokens) -> list[int]:
        """The given tokens, the likeliest first (the lower id first among equals)."""
        ids = self._ids(tokens)
        order = torch.sort(self._of(ids), descending=True, stable=True).indices
        ranked: list[int] = ids[order].tolist()
        return ranked

    def best_among(self, tokens: Tokens) -> tuple[int, float]:
        """The likeliest of the tokens, and its log-probability among them."""
        ids = self._ids(tokens)
        logits = self._of(ids)
        place = int(logits.argmax())
        return int(ids[place]), float(logits[place] - torch.logsumexp(logits, 0))

    def _ids(self, tokens: Tokens) -> torch.Tensor:
        return torch.from_numpy(np.sort(np.asarray(tokens, dtype=np.int64))).to(self.logits.device)

    def _of(self, ids: torch.Tensor) -> torch.Tensor:
        return self.logits[ids if self._among is None else torch.searchsorted(self._among, ids)]

    def top(self) -> list[int]:
        """At most ``FIRST`` of the likeliest tokens, the likeliest first (the lower id first among equals)."""
        self._demand_all()
        values, ids = torch.topk(self.logits, min(self.FIRST, self.logits.numel()))
        # topk leaves equal scores in no fixed sequence: only what beats the last value is safe
        safe = int((values > values[-1]).sum())
        return self.ranked(ids[:safe].tolist())

    def _demand_all(self) -> None:
        if self._among is not None:
            raise ValueError("only the scores of some tokens were asked for")
