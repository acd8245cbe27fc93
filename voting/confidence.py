"""The confidence of a voted parameter, from its share of the votes and its log-probability."""

import math

from voting.call import VotedParameter


def confidence(parameter: VotedParameter) -> float:
    """The confidence of a parameter, in [0, 1]: ``share * exp(logprob)``.

    It ranks parameters, but is not a probability.
    """
    return min(1.0, parameter.share * math.exp(min(0.0, parameter.logprob)))
