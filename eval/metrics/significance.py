"""Is one run better than another on the same samples?"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from scipy.stats import binomtest

from eval.metrics.accuracy import Estimate

RESAMPLES: Final = 10_000


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

    Parameters
    ----------
    differences : sequence of int
        Such as 1 where only the first is right, -1 where only the second is.
    """
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
