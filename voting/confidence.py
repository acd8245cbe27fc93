"""How sure the vote is of a parameter: its share of the votes and its log-probability in one number."""

import math
from dataclasses import dataclass

from voting.call import VotedParameter

_LOWEST_LOGPROB = -700.0
"""About the logarithm of the smallest float; below it, also at minus infinity, nothing is less sure."""


@dataclass(frozen=True)
class Calibration:
    """A logistic regression of "the value is right" on the share of the votes and the mean log-probability.

    Attributes
    ----------
    intercept : float
    share : float
        Weight of the share, which lies in (0, 1].
    logprob : float
        Weight of the mean natural log-probability of the value's tokens, which is 0 or less.
    """

    intercept: float
    share: float
    logprob: float


def confidence(parameter: VotedParameter, calibration: Calibration | None = None) -> float:
    """How sure the vote is of a parameter, in [0, 1].

    With a calibration, the probability that the value is right as the logistic regression has it. Without one,
    ``share * exp(logprob)``: it ranks the parameters, but it is no probability of anything.
    """
    logprob = max(parameter.logprob, _LOWEST_LOGPROB)
    if calibration is None:
        return min(1.0, parameter.share * math.exp(min(0.0, logprob)))
    score = calibration.intercept + calibration.share * parameter.share + calibration.logprob * logprob
    if score >= 0:
        return 1 / (1 + math.exp(-score))
    likely = math.exp(score)  # of a negative number, as the one above, so that none overflows
    return likely / (1 + likely)
