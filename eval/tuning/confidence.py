"""How sure a call must be: the calibration of its score, and the limit of confidence for a risk.

The calibration is a logistic regression on the logarithm of the score (Platt 1999), drawn a little towards the default.
The limit is found by fixed-sequence testing (Angelopoulos et al. 2021, *Learn then test*): from the surest calls
downwards, as long as the upper bound of Clopper and Pearson on the share of wrong ones is at most the risk; from five
starts, the surest fifth, two fifths and so on, each with a fifth of the level. So with probability 1 - level the risk
holds for calls of the same kind. 90 calls without a mistake are the fewest that can show 5 % at the level 0.05.
"""

import math
from collections.abc import Sequence
from random import Random
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.stats import beta

from eval.statistics import auroc
from tooldecoding.decoding.calibration import LEAST, USUAL, Calibration

LEVEL: Final = 0.05
"""Probability with which a risk may not hold."""
_STARTS: Final = 5
_LEAST_OF_A_BIN: Final = 30
_WEIGHT: Final = 2.0
"""How much the default weighs, in labelled calls, so that some calls that are all right have a finite calibration."""


class LabelledCall(NamedTuple):
    """A sample that was answered with calls: their score, whether they are right, and its dialogue."""

    score: float
    right: bool
    dialogue: str


def calibrated(calls: Sequence[LabelledCall]) -> Calibration:
    """Return the calibration that fits calls best."""
    if not calls:
        return USUAL
    x = np.log(np.maximum([call.score for call in calls], LEAST))
    sign = np.where([call.right for call in calls], 1.0, -1.0)

    def loss(weights: np.ndarray) -> float:
        fit = np.logaddexp(0, -sign * (weights[0] + weights[1] * x)).sum()
        return float(fit + _WEIGHT / 2 * np.square(weights - np.array(USUAL)).sum())

    found = minimize(loss, np.array(USUAL), bounds=[(None, None), (0, None)]).x
    return Calibration(*(round(float(weight), 3) for weight in found))


def ranking(calls: Sequence[LabelledCall]) -> float | None:
    """Return how well scores tell right calls from wrong ones, as AUROC; None without both."""
    return auroc([call.score for call in calls], [call.right for call in calls])


def limit_of(calls: Sequence[LabelledCall], calibration: Calibration, risk: float) -> float | None:
    """Return the smallest confidence above which at most the share ``risk`` of calls is wrong; None if none shows."""
    rows = sorted(((calibration.probability(call.score), call.right) for call in calls), reverse=True)
    ends = [n for n in range(1, len(rows) + 1) if n == len(rows) or rows[n][0] < rows[n - 1][0]]  # equal ones together
    wrong, counts = np.cumsum([not right for _, right in rows]), np.arange(1, len(rows) + 1)
    bounds = beta.ppf(1 - LEVEL / _STARTS, wrong + 1, counts - wrong)  # nan where all are wrong
    # risk 0.05: 90 right ones at 0.9 pass, for 1 - 0.01 ** (1 / 90) = 0.0499 bounds what is wrong; 89 do not, and
    # neither do 90 of which one is wrong. A wrong one at 0.5 behind the 90 ends the search there, and they pass
    passing = 0
    for start in range(1, _STARTS + 1):
        for end in ends:
            if end * _STARTS < start * len(rows):
                continue
            if not bounds[end - 1] <= risk:
                break
            passing = max(passing, end)
    return math.floor(1e6 * rows[passing - 1][0]) / 1e6 if passing else None  # no call fails by rounding


def study(calls: Sequence[LabelledCall], risk: float | None, seed: int) -> dict[str, Any]:
    """Return the record: the calibration, how well scores rank, how far confidences are off, and the limit for a risk.

    What is ``held_out`` is found on one half of the dialogues and measured on the other, both ways.
    """
    calibration = calibrated(calls)
    record: dict[str, Any] = {
        "calls": len(calls),
        "right": sum(call.right for call in calls),
        "offset": calibration.offset,
        "slope": calibration.slope,
        "auroc": ranking(calls),
        "calibration_error_by_default": _calibration_error(calls, USUAL),
    }
    dialogues = sorted({call.dialogue for call in calls})
    Random(seed).shuffle(dialogues)
    half = set(dialogues[::2])
    halves = [[call for call in calls if (call.dialogue in half) == chosen] for chosen in (True, False)]
    fitted = [(calibrated(fit), fit, held_out) for fit, held_out in (halves, halves[::-1])]
    errors = [_calibration_error(held_out, found) for found, _, held_out in fitted]
    record["held_out"] = {"calibration_error": sum(errors) / 2}
    if risk is not None:
        record |= {"risk": risk, "min_confidence": limit_of(calls, calibration, risk)}
        passed = [c for found, fit, held_out in fitted for c in _passing(held_out, found, limit_of(fit, found, risk))]
        record["held_out"] |= {"passing": len(passed), "wrong": sum(not call.right for call in passed)}
        record["passing"] = len(_passing(calls, calibration, record["min_confidence"]))
    return record


def _passing(calls: Sequence[LabelledCall], calibration: Calibration, limit: float | None) -> list[LabelledCall]:
    return [call for call in calls if limit is not None and calibration.probability(call.score) >= limit]


def _calibration_error(calls: Sequence[LabelledCall], calibration: Calibration) -> float:
    """Return the expected calibration error in at most ten bins of 30 calls or more: fewer are off by chance."""
    if not calls:
        return 0.0
    rows = np.array(sorted((calibration.probability(call.score), call.right) for call in calls), float)
    bins = np.array_split(rows, min(10, max(1, len(rows) // _LEAST_OF_A_BIN)))
    return sum(abs(float(np.diff(each.mean(0))[0])) * len(each) for each in bins) / len(rows)
