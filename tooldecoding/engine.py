"""What the decoder asks of a model: feed tokens to branches, get scores back.

A *branch* is one growing token sequence. Branches fork; what was fed before a fork is computed once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch


class Feed(NamedTuple):
    """Tokens to append to a branch in the next forward pass.

    With ``held`` the last token is only tried: scores are wanted before and after it, and the branch may
    ``drop`` it.
    """

    branch: int
    tokens: Sequence[int]
    held: bool = False


class Scores:
    """Log-probabilities of the next token after one position.

    Parameters
    ----------
    logits : torch.Tensor
        Shape (vocabulary,), float32, any device.
    """

    FIRST = 64

    def __init__(self, logits: torch.Tensor) -> None:
        self.logits = logits
        self._normaliser: float | None = None
        self._top: list[int] | None = None

    def logprob(self, token: int) -> float:
        """Natural log-probability of a token."""
        if self._normaliser is None:
            self._normaliser = float(torch.logsumexp(self.logits, 0))
        return float(self.logits[token]) - self._normaliser

    def best_first(self) -> Iterator[int]:
        """All token ids, the likeliest first (the lower id first among equals)."""
        first = self._first()
        yield from first
        every: list[int] = torch.sort(self.logits, descending=True, stable=True).indices.tolist()
        yield from every[len(first) :]

    def ranked(self, tokens: Sequence[int]) -> list[int]:
        """The given tokens, the likeliest first (the lower id first among equals)."""
        ids = torch.as_tensor(sorted(tokens), dtype=torch.long, device=self.logits.device)
        order = torch.sort(self.logits[ids], descending=True, stable=True).indices
        ranked: list[int] = ids[order].tolist()
        return ranked

    def _first(self) -> list[int]:
        """The beginning of ``best_first``, without sorting the whole vocabulary."""
        if self._top is None:
            values, ids = torch.topk(self.logits, min(self.FIRST, self.logits.numel()))
            # topk leaves equal scores in no fixed sequence: only what beats the last value is safe
            safe = int((values > values[-1]).sum())
            self._top = self.ranked(ids[:safe].tolist())
        return self._top


@dataclass
class Usage:
    """What one prompt cost so far; passes and positions are exact and do not depend on the machine.

    Attributes
    ----------
    forward_passes : int
        Forward passes that computed at least one token of this prompt.
    positions : int
        Token positions computed for this prompt, padding not counted.
    cache_bytes : int
        Largest size of this prompt's share of the KV cache.
    """

    forward_passes: int = 0
    positions: int = 0
    cache_bytes: int = 0


class Engine(Protocol):
    """A model behind branches. Several prompts may be open at once."""

    can_drop: bool
    """Whether a held token can be forgotten (not with a recurrent state)."""

    def open(self, count: int) -> list[int]:
        """Begin ``count`` prompts and return their root branches, empty so far."""

    def fork(self, branch: int) -> int:
        """A new branch that continues from everything fed to ``branch``."""

    def release(self, branch: int) -> None:
        """Declare that a branch will be fed no more."""

    def drop(self, branch: int) -> None:
        """Forget the held token that was fed last."""

    def extend(self, feeds: Sequence[Feed]) -> list[tuple[Scores, Scores | None]]:
        """One forward pass. For each feed: scores after its last sure token, and after the held one."""

    def usage(self, branch: int) -> Usage:
        """The cost so far of the prompt that a branch belongs to."""
