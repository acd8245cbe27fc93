"""How good is a confidence score? AUROC and expected calibration error."""

from typing import Final

import numpy as np
from scipy.stats import rankdata

BINS: Final = 10


def auroc(scores: np.ndarray, right: np.ndarray) -> float | None:
    """Return the probability that a right value has a higher score than a wrong one; a tie counts half.

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
    """Return the expected calibration error with ten bins of equal width (Guo et al. 2017).

    This is the mean distance of a score in [0, 1] from the share of right values in its bin.
    """
    bins = np.minimum((scores * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, weights=scores - right, minlength=BINS)
    return float(np.abs(gaps).sum() / len(scores))
