"""How good a score of confidence is: AUROC, expected calibration error, risk against coverage."""

from typing import Final, NamedTuple

import numpy as np
from scipy.stats import rankdata

BINS: Final = 10


def auroc(scores: np.ndarray, right: np.ndarray) -> float | None:
    """Probability that a right value has a higher score than a wrong one, ties counting half.

    Parameters
    ----------
    scores : array of float, shape (n,)
    right : array of bool, shape (n,)

    Returns
    -------
    float or None
        None unless there are right and wrong values.
    """
    positives = int(right.sum())
    negatives = len(right) - positives
    if not positives or not negatives:
        return None
    ranks = rankdata(scores)
    return float((ranks[right].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def calibration_error(scores: np.ndarray, right: np.ndarray) -> float:
    """Expected calibration error with ten bins of equal width (Guo et al. 2017): how far a score in [0, 1] lies from
    the share of right values, the mean over the bins weighted by their values.
    """
    bins = np.minimum((scores * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, weights=scores - right, minlength=BINS)
    return float(np.abs(gaps).sum() / len(scores))


class RiskCoverage(NamedTuple):
    """Share of values kept when all below a threshold are set aside, and share of wrong ones among those kept."""

    coverage: np.ndarray
    risk: np.ndarray


def risk_coverage(scores: np.ndarray, right: np.ndarray) -> RiskCoverage:
    """Risk at every threshold (El-Yaniv and Wiener 2010); values of one score are kept or set aside together."""
    order = np.argsort(-scores, kind="stable")
    kept = np.arange(1, len(scores) + 1)
    wrong = np.cumsum(~right[order])
    last = np.append(np.diff(scores[order]) != 0, True)
    return RiskCoverage(kept[last] / len(scores), wrong[last] / kept[last])


class Reliability(NamedTuple):
    """Mean score, share of right values and number of values, of each bin that is not empty."""

    score: np.ndarray
    right: np.ndarray
    values: np.ndarray


def reliability(scores: np.ndarray, right: np.ndarray) -> Reliability:
    """What ``calibration_error`` sums up."""
    bins = np.minimum((scores * BINS).astype(int), BINS - 1)
    count = np.bincount(bins, minlength=BINS)
    held = count > 0
    means = [np.bincount(bins, weights=values, minlength=BINS)[held] / count[held] for values in (scores, right)]
    return Reliability(means[0], means[1], count[held])
