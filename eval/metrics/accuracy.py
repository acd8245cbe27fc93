"""Accuracy with 95 % intervals, and how well scores rank what is right."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.stats import binomtest, rankdata


@dataclass(frozen=True)
class Estimate:
    """A proportion between 0 and 1 and the limits of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Accuracy:
    """How many of how many samples are right."""

    right: int
    total: int

    @property
    def estimate(self) -> Estimate | None:
        """The proportion with its exact interval (Clopper and Pearson 1934); None without samples."""
        if not self.total:
            return None
        low, high = _clopper_pearson(self.right, self.total)
        return Estimate(self.right / self.total, low, high)


@lru_cache(maxsize=4096)
def _clopper_pearson(right: int, total: int) -> tuple[float, float]:
    interval = binomtest(right, total).proportion_ci(0.95, method="exact")
    return float(interval.low), float(interval.high)


def unweighted_mean(accuracies: Iterable[Accuracy]) -> Estimate | None:
    """Return the mean of the categories' proportions, each with the same weight (the paper's "Total", tables 7 and 8).

    The interval combines the exact intervals of the categories by the method of variance estimates recovery (MOVER;
    Zou, Huang and Zhang 2009, *A note on confidence interval estimation for a linear function of binomial
    proportions*): the distance to each limit is the root of the summed squares of the categories' distances, divided by
    their number. Simulated on the sizes of BFCL live, it covers the true mean in 95 to 99 % of runs, also near 0 and 1,
    where a normal approximation covers it in 38 to 87 % (``tests/eval/test_metrics.py``).

    Skips categories without samples; None if no category has any.
    """
    estimates = [e for a in accuracies if (e := a.estimate)]
    if not estimates:
        return None
    mean = math.fsum(e.value for e in estimates) / len(estimates)
    below = math.hypot(*(e.value - e.low for e in estimates)) / len(estimates)
    above = math.hypot(*(e.high - e.value for e in estimates)) / len(estimates)
    return Estimate(mean, max(0.0, mean - below), min(1.0, mean + above))


def auroc(scores: Sequence[float], right: Sequence[bool]) -> float | None:
    """Return the probability that a right one scores higher than a wrong one, ties counting half; None without both."""
    hits = sum(right)
    if hits in (0, len(right)):
        return None
    ranks = rankdata(scores)[np.asarray(right, bool)].sum()
    return float((ranks - hits * (hits + 1) / 2) / (hits * (len(right) - hits)))
