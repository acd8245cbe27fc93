"""How likely a call is right, as a probability: a logistic function of a score, fitted to labelled calls.

The score of an argument is the share of its votes times a probability of its value (``VotedParameter.score``). The
score of a call is the product of those of its arguments and of the probability of its name. It ranks calls well, but is
no probability: twelve arguments of 0.95 make 0.54.
"""

import math
from typing import Final, NamedTuple

LEAST: Final = 1e-6
"""Scores below it are taken for it: the logarithm of 0 is none."""


class Calibration(NamedTuple):
    """``1 / (1 + exp(-(offset + slope * ln(score))))``, the probability of being right.

    >>> round(Calibration(2.0, 1.0).probability(0.5), 2)
    0.79
    """

    offset: float
    slope: float

    def probability(self, score: float) -> float:
        """Return the probability, in [0, 1], for a score in [0, 1]."""
        return 1 / (1 + math.exp(-(self.offset + self.slope * math.log(max(LEAST, min(1.0, score))))))


USUAL: Final = Calibration(1.7, 2.1)
"""Of calls, where nothing was tuned: fitted to 320 answers with calls of two models of 0.5B and 1.5B on four benchmarks
(docs/votes.md)."""
ARGUMENT: Final = Calibration(2.7, 2.8)
"""Of arguments, fitted to the same calls."""
