"""Logits of which some are known: a server tells those of the likeliest tokens, and of those that it is asked for.

What is left of the probability is spread evenly over the other tokens. So a choice among known tokens is exact, and a
sum of many is about right; ``tells`` says whether a choice is one among known tokens.
"""

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np
import torch

from tooldecoding.engines.logits import LogitRows, NextTokenLogits, Tokens

_LEAST: float = 1e-12
"""At least so much is left for the tokens that are not known."""


class KnownLogits(NextTokenLogits):
    """Logits of the next token behind one position, as far as they are known.

    Parameters
    ----------
    known : mapping of int to float
        Natural log-probabilities in the whole vocabulary.
    vocabulary : int
    least : float
        No token that is not known has a higher log-probability; infinity if that is not known.
    asked : frozenset of bytes
        Sets of tokens of which the likeliest is known.
    """

    def __init__(
        self,
        known: Mapping[int, float],
        vocabulary: int,
        least: float = math.inf,
        asked: frozenset[bytes] = frozenset(),
    ) -> None:
        self.known = dict(known)
        self.least = least
        self._vocabulary = vocabulary
        self._asked = asked
        self._row = 0

    @property
    def is_ranked(self) -> bool:
        """Whether the likeliest tokens are known."""
        return self.least < math.inf

    def plus(self, known: Mapping[int, float], least: float = math.inf, asked: bytes | None = None) -> "KnownLogits":
        """Return these with further ones; ``asked`` is a set of which they tell the likeliest (``key``)."""
        every = self._asked if asked is None else self._asked | {asked}
        return KnownLogits({**self.known, **known}, self._vocabulary, min(self.least, least), every)

    @staticmethod
    def key(tokens: Tokens) -> bytes:
        """Return what stands for a set of tokens."""
        return np.unique(tokens).tobytes()

    def knows(self, token: int) -> bool:
        """See NextTokenLogits."""
        return token in self.known

    def tells(self, tokens: Tokens, exact: bool = False) -> bool:
        """See NextTokenLogits."""
        known = [self.known[token] for token in tokens.tolist() if token in self.known]
        if exact or len(known) == len(tokens):
            return len(known) == len(tokens)
        return max(known, default=-math.inf) >= self.least or self.key(tokens) in self._asked

    @cached_property
    def best(self) -> int:
        """See NextTokenLogits."""
        return max(self.known, key=lambda token: (self.known[token], -token))

    def logprob(self, token: int) -> float:
        """See NextTokenLogits."""
        return min(0.0, self.known.get(token, self._floor))

    def likeliest(self, most: int) -> list[tuple[int, float]]:
        """See NextTokenLogits; none that is not known."""
        ranked = sorted(self.known.items(), key=lambda each: (-each[1], each[0]))
        return [(token, float(np.exp(logprob))) for token, logprob in ranked[:most]]

    @property
    def logits(self) -> torch.Tensor:
        """See NextTokenLogits; minus infinity for tokens that are not known."""
        values = torch.full((self._vocabulary,), -torch.inf)
        values[list(self.known)] = torch.tensor(list(self.known.values()))
        return values

    @cached_property
    def _rows(self) -> LogitRows:
        values = self.logits
        return LogitRows(values.clamp_(min=self._floor)[None])

    @cached_property
    def _floor(self) -> float:
        """The log-probability of a token that is not known: no higher than that of the least likely ranked one."""
        left = max(_LEAST, 1.0 - float(np.exp(list(self.known.values())).sum()))
        even = float(np.log(left / max(1, self._vocabulary - len(self.known))))
        return min(even, self.least)
