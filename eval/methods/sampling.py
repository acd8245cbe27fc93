"""Sampling under constraint: the likeliest admissible token of perturbed logits is a sample.

To every logit a number from the standard Gumbel distribution, times the temperature, is added. The highest perturbed
logit among the admissible tokens is then a draw from the softmax over these tokens at this temperature (the Gumbel-max
trick; Maddison, Tarlow and Minka 2014). So the decoder itself samples, without a change to it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tooldecoding.engines.logits import NextTokenLogits, Tokens
from tooldecoding.tokens.fed_tokens import FedTokens

Noise = np.ndarray[Any, np.dtype[np.float32]]


@dataclass
class Sample:
    """The random numbers of one sample; a token's do not depend on batches, drafts or passes.

    Attributes
    ----------
    seed : int
        Names the sample among all; 0 or more.
    temperature : float
        0 takes the likeliest token.
    on : bool
        Whether tokens are sampled now; otherwise the likeliest is taken.
    """

    seed: int
    temperature: float
    on: bool = False

    def noise(self, place: int, size: int) -> Noise:
        """Return what is added to the logits of the token at ``place``; float32, shape (size,)."""
        drawn = np.random.default_rng((self.seed, place)).gumbel(scale=self.temperature, size=size)
        return drawn.astype(np.float32)

    @contextmanager
    def switched_on(self) -> Iterator[None]:
        """Sample inside the block: the values of a call, required and optional, and the choice of optional keys."""
        self.on = True
        try:
            yield
        finally:
            self.on = False


class SampledLogits(NextTokenLogits):
    """Logits with noise; log-probabilities are the model's own."""

    def __init__(self, clean: NextTokenLogits, sample: Sample, place: int) -> None:
        self._clean = clean
        self._sample = sample
        self._place = place

    @cached_property
    def values(self) -> Noise:
        """The perturbed logits of all tokens, shape (vocabulary,)."""
        clean = self._clean.values
        perturbed: Noise = clean + self._sample.noise(self._place, len(clean))
        return perturbed

    @property
    def best(self) -> int:
        """The token that is drawn from the whole vocabulary."""
        return int(self.values.argmax())

    def logprob(self, token: int) -> float:
        """Return the natural log-probability of a token in the whole vocabulary, without temperature and noise."""
        return self._clean.logprob(token)

    def share(self, tokens: Tokens) -> float:
        """Return the probability of all these tokens together, without temperature and noise."""
        return self._clean.share(tokens)

    def likeliest_among(self, tokens: Tokens, most: int) -> list[tuple[int, float]]:
        """Return what is likely to be drawn from some tokens, at most so many, with weights that sum to 1 or less."""
        drawn = self.values[tokens].astype(np.float64)
        weights = np.exp(drawn - drawn.max())
        places = np.argsort(-weights, kind="stable")[:most]
        return list(zip(tokens[places].tolist(), (weights[places] / weights.sum()).tolist(), strict=True))

    def best_among(self, tokens: Tokens) -> tuple[int, float]:
        """Return the token that is drawn from some (ids ascending), and its log-probability among them."""
        place = int(self.values[tokens].argmax())
        clean = self._clean.values[tokens].astype(np.float64)
        return int(tokens[place]), float(clean[place] - np.logaddexp.reduce(clean))


class SampledTokens(FedTokens):
    """The tokens of a branch whose next token is sampled while its sample is switched on.

    Parameters
    ----------
    fed : FedTokens
        The branch as it stands.
    """

    def __init__(self, fed: FedTokens, sample: Sample, place: int = 0) -> None:
        super().__init__(fed.engine, fed.branch_id, fed.unfed, fed.logits, fed.tried)
        self._sample = sample
        self._place = place

    def fork(self) -> "SampledTokens":
        """Return a new branch that has read the same tokens."""
        return SampledTokens(super().fork(), self._sample, self._place)

    def settle(self, token: int) -> None:
        """Append a token."""
        super().settle(token)
        self._place += 1

    async def compute(self, try_next: Sequence[int] = (), among: Sequence[Tokens] | None = None) -> NextTokenLogits:
        """Return the logits behind the settled tokens, perturbed if sampling is on."""
        logits = await super().compute(try_next, among)
        if not self._sample.on or not self._sample.temperature:
            return logits
        return SampledLogits(logits, self._sample, self._place)
