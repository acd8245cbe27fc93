"""The confidence of a voted parameter, from its share of the votes and its log-probability."""

import math
from dataclasses import dataclass

from voting.call import VotedParameter

_LOWEST_LOGPROB = -700.0
"""About the logarithm of the smallest float. Lower values, such as minus infinity, are clipped."""


@dataclass(frozen=True)
class Calibration:
    """A logistic regression that predicts whether a value is right from its share and its mean log-probability.

    Attributes
    ----------
    intercept : float
    share : float
        Weight of the share, in (0, 1].
    logprob : float
        Weight of the mean natural log-probability of the value's tokens, at most 0.
    """

    intercept: float
    share: float
    logprob: float


def confidence(parameter: VotedParameter, calibration: Calibration | None = None) -> float:
    """The confidence of a parameter, in [0, 1].

    With a calibration, it is the probability that the value is right. Without one, it is ``share * exp(logprob)``, a
    score that ranks parameters but is not a probability.
    """
    logprob = max(parameter.logprob, _LOWEST_LOGPROB)
    if calibration is None:
        return min(1.0, parameter.share * math.exp(min(0.0, logprob)))
    score = calibration.intercept + calibration.share * parameter.share + calibration.logprob * logprob
    if score >= 0:
        return 1 / (1 + math.exp(-score))
    odds = math.exp(score)  # both exponents are negative, so that neither overflows
    return odds / (1 + odds)
