"""Accuracy with 95 % intervals, how well scores rank what is right, and whether one run is better than another."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from scipy.stats import binomtest, rankdata

RESAMPLES: Final = 10_000
_DRAWS: Final = 2_000
"""Of a statistic over pairs, which costs more."""


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


def auroc_gain(
    first: Sequence[tuple[float, bool]], second: Sequence[tuple[float, bool]], clusters: Sequence[Hashable]
) -> tuple[Estimate, float] | None:
    """Return by how much the first AUROC is higher, with its 95 % interval, and a two-sided p; None without both kinds.

    A paired percentile bootstrap: whole clusters (dialogues) are drawn with replacement, for both alike.

    Parameters
    ----------
    first, second : sequence of (float, bool)
        Score of each answer, and whether it is right: two methods on the same samples, each with its own verdicts.
    clusters : sequence of hashable
        The cluster of each sample.
    """
    if not clusters:
        return None
    numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters))}
    which = [numbers[cluster] for cluster in clusters]
    drawn = np.random.default_rng(0).multinomial(len(numbers), [1 / len(numbers)] * len(numbers), size=_DRAWS)[:, which]
    weights = np.vstack([np.ones(len(which)), drawn])
    with np.errstate(invalid="ignore"):
        gains = _weighted_auroc(first, weights) - _weighted_auroc(second, weights)
    gain, resampled = gains[0], gains[1:][~np.isnan(gains[1:])]
    if math.isnan(gain) or not len(resampled):
        return None
    low, high = np.quantile(resampled, [0.025, 0.975])
    beyond = min((resampled <= 0).sum(), (resampled >= 0).sum())
    return Estimate(float(gain), float(low), float(high)), min(1.0, 2 * float(beyond + 1) / (len(resampled) + 1))


def _weighted_auroc(answers: Sequence[tuple[float, bool]], weights: np.ndarray) -> np.ndarray:
    """Return the AUROC under each row of weights; NaN where one has no right answer, or no wrong one."""
    scores, right = np.array([score for score, _ in answers]), np.array([right for _, right in answers], bool)
    above = scores[right, None] - scores[~right]
    higher = (above > 0) + 0.5 * (above == 0)
    hits, misses = weights[:, right], weights[:, ~right]
    found: np.ndarray = ((hits @ higher) * misses).sum(1) / (hits.sum(1) * misses.sum(1))
    return found


class Paired(NamedTuple):
    """Two runs: samples that both have, that only one has, that only the first or the second gets right, and both.

    ``p`` is that of the two-sided exact McNemar test: the binomial test of ``won`` against ``lost`` with probability
    1/2 (McNemar 1947).
    """

    samples: int
    left_out: int
    won: int
    lost: int
    both_right: int
    p: float


def mcnemar(first: Mapping[str, bool], second: Mapping[str, bool]) -> Paired:
    """Compare two runs, each given as sample id -> whether it is right."""
    common = first.keys() & second.keys()
    won = sum(first[i] and not second[i] for i in common)
    lost = sum(second[i] and not first[i] for i in common)
    return Paired(
        won=won,
        lost=lost,
        both_right=sum(first[i] and second[i] for i in common),
        samples=len(common),
        left_out=len(first.keys() ^ second.keys()),
        # the test is symmetric, but its last digits are not
        p=float(binomtest(min(won, lost), won + lost).pvalue) if won + lost else 1.0,
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values of several simultaneous comparisons by Holm's step-down method (Holm 1979)."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def clustered(differences: Sequence[float], clusters: Sequence[Hashable]) -> Estimate:
    """Return the mean of paired differences with its 95 % interval, clusters resampled.

    A percentile bootstrap: whole clusters (dialogues) are drawn with replacement, for what belongs to one depends on
    each other (Davison and Hinkley 1997, section 3.8).

    Parameters
    ----------
    differences : sequence of float, not empty
    clusters : sequence of hashable
        The cluster of each.
    """
    sums = _sums(differences, clusters)
    counts = Counter(clusters)
    # a resample is determined by how often it has each kind of cluster
    kinds = Counter((sums[cluster], count) for cluster, count in counts.items())
    pairs, frequency = np.array(list(kinds)), np.array(list(kinds.values()))
    drawn = np.random.default_rng(0).multinomial(len(counts), frequency / len(counts), size=RESAMPLES)
    total = drawn @ pairs
    low, high = np.quantile(total[:, 0] / total[:, 1], [0.025, 0.975])
    return Estimate(sum(differences) / len(differences), float(low), float(high))


def sign_flips(differences: Sequence[int], clusters: Sequence[Hashable]) -> float:
    """Return the two-sided p-value of the exact paired permutation test with clusters as units.

    If two methods were alike, each cluster's sum of differences could as well have the other sign (Fisher 1935,
    section 21). All sign changes are counted: the distribution of the sum is a convolution.

    ``differences``: such as 1 where only the first is right, -1 where only the second is.
    """
    # differences 1, 1, 0, -1 of the dialogues a, a, b, c: sums 2 and 1, so -3, -1, 1, 3 are equally likely; as far from
    # 0 as the 1 that was found are all four, and p is 1
    sums = [abs(int(s)) for s in _sums(differences, clusters).values() if s]
    reach = sum(sums)
    chance = np.zeros(2 * reach + 1)
    chance[reach] = 1.0
    for size in sums:
        chance = (np.roll(chance, size) + np.roll(chance, -size)) / 2
    found = abs(int(sum(differences)))
    distance = np.abs(np.arange(-reach, reach + 1))
    return min(1.0, float(chance[distance >= found].sum()))


def _sums(differences: Sequence[float], clusters: Sequence[Hashable]) -> dict[Hashable, float]:
    sums: dict[Hashable, float] = {}
    for difference, cluster in zip(differences, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0) + difference
    return sums
