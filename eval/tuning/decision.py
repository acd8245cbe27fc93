"""How the order limit is decided: test, level, margin, budget, and how many samples that takes.

Two tests compare the accuracy of two limits on the same samples, one-sided:

``mcnemar``
    Exact McNemar test (McNemar 1947): among the samples that only one of the two gets right, the probability of as many
    losses or more if both were equally likely.
``bootstrap``
    Paired bootstrap over dialogues (Efron and Tibshirani 1993, chapter 16): the share of resamples in which the best
    limit gains nothing. The rule to take if a dialogue has several samples, which depend on each other.

The number of samples needed is the smallest n at which a loss of ``margin`` points could be significant at all: if
n * margin / 100 samples are lost and none is won, the test must reject. ``mcnemar`` then has the p-value 0.5 ** d, so
d = ceil(log2(1 / level)) losses are needed, 5 at 0.05. ``bootstrap`` draws a resample without a loss with probability
about exp(-d), so d = ceil(ln(1 / level)), 3 at 0.05. n = ceil(d / (margin / 100)). Without answers n prompts must be
able to show agreement: (1 - margin / 100) ** n <= level.
"""

import math
from dataclasses import dataclass
from typing import Literal

from eval.errors import EvalError

Rule = Literal["mcnemar", "bootstrap"]


@dataclass(frozen=True)
class Decision:
    """How the order limit is decided.

    Attributes
    ----------
    rule : {"mcnemar", "bootstrap"}
    level : float
        Level of the test, between 0 and 0.5.
    margin : float
        Loss in points that the samples must be able to show.
    max_latency_ms : float, optional
        Budget: largest median milliseconds per prompt.
    max_slowdown : float, optional
        Budget: largest latency as a multiple of limit 1.
    min_gain : float, optional
        Budget: points that a larger limit must gain over a smaller one to be worth it.
    """

    rule: Rule = "mcnemar"
    level: float = 0.05
    margin: float = 5.0
    max_latency_ms: float | None = None
    max_slowdown: float | None = None
    min_gain: float | None = None

    def __post_init__(self) -> None:
        _demand("--level", self.level, 0 < self.level < 0.5, "a number between 0 and 0.5")
        _demand("--margin", self.margin, 0 < self.margin <= 100, "points above 0, at most 100")
        budgets = {
            "--max-latency-ms": self.max_latency_ms,
            "--max-slowdown": self.max_slowdown,
            "--min-gain": self.min_gain,
        }
        given = {name: value for name, value in budgets.items() if value is not None}
        if len(given) > 1:
            raise EvalError(f"expected one budget, got {' and '.join(given)}; leave out all but one")
        for name, value in given.items():
            _demand(name, value, 0 < value < math.inf, "a number above 0")

    @property
    def samples_needed(self) -> int:
        """The smallest number of samples for a decision with answers; see this module's docstring."""
        base = 2.0 if self.rule == "mcnemar" else math.e
        losses = math.ceil(math.log(1 / self.level, base) - 1e-9)
        return math.ceil(100 * losses / self.margin - 1e-9)

    @property
    def prompts_needed(self) -> int:
        """The smallest number of prompts for a decision without answers."""
        if self.margin == 100:
            return 1
        return math.ceil(math.log(self.level) / math.log1p(-self.margin / 100))

    def demand_enough(self, samples: int, answers: bool, lost: int = 0) -> None:
        """Raise an EvalError that says how many samples are needed, if these are too few.

        Parameters
        ----------
        answers : bool
            Whether there are reference answers.
        lost : int
            Number of further samples, which cannot be decoded at any limit.
        """
        needed = self.samples_needed if answers else self.prompts_needed
        if samples >= needed:
            return
        what = "a loss" if answers else "agreement up to a loss"
        test = f"--rule {self.rule}" if answers else "an exact binomial test"
        others = f" ({lost} more cannot be decoded)" if lost else ""
        raise EvalError(
            f"too few samples for a decision: {samples}{others}, but {needed} are needed to show {what} of "
            f"{self.margin:g} points at the level {self.level:g} by {test}; take more samples, or a larger --margin"
        )


def _demand(name: str, value: object, holds: bool, expected: str) -> None:
    if not holds:
        raise EvalError(f"{name}: expected {expected}, got {value!r}")
