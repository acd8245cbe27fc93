"""Chooses the order limit: the smallest within the budget that is not significantly worse than the best one.

With answers, a limit is worse than the best one if the one-sided p-value of its loss is at most the level (``decision``
has the tests). Without answers there is no accuracy, so agreement with the vote at the largest limit replaces it: a
limit is no worse if the share of prompts with other calls is below the margin, by an exact binomial test at the level.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.stats import binomtest

from eval.tuning.decision import Decision, Rule

RESAMPLES: Final = 10_000

Right = Mapping[str, bool]
"""Sample id -> whether it is right, or agrees with the largest limit."""


@dataclass(frozen=True)
class Choice:
    """The limit to deploy.

    Attributes
    ----------
    limit : int or None
        None if no limit fits the budget.
    best : int
        The limit of the highest accuracy (or agreement) within the budget, the smallest of equal ones. If no limit fits
        the budget, the cheapest one.
    no_worse : int or None
        The smallest limit that is not significantly worse than ``best``; ``limit`` is smaller if ``min_gain`` says so.
    p : dict
        Limit -> one-sided p-value of its loss against ``best``, for the limits within the budget.
    points : dict
        Limit -> accuracy (or agreement) in per cent, for the limits within the budget, in ascending order.
    costs : dict
        Limit -> milliseconds; multiples of limit 1's latency if the budget is ``max_slowdown``.
    """

    limit: int | None
    best: int
    no_worse: int | None
    p: Mapping[int, float]
    points: Mapping[int, float]
    costs: Mapping[int, float]


def choose(
    right: Mapping[int, Right],
    dialogues: Mapping[str, str],
    latency_ms: Mapping[int, float],
    slowdown: Mapping[int, float],
    decision: Decision,
    answers: bool,
    seed: int,
) -> Choice:
    """Choose among the limits of ``right``.

    Parameters
    ----------
    right : mapping
        Limit -> sample id -> whether it is right; without answers, whether it agrees with the largest limit's vote.
    dialogues : mapping
        Sample id -> its dialogue, which the bootstrap resamples.
    latency_ms, slowdown : mapping
        Limit -> median milliseconds, and latency as a multiple of limit 1's.
    answers : bool
        Whether ``right`` is accuracy.
    """
    limits = sorted(right)
    costs = latency_ms if decision.max_slowdown is None else slowdown
    budget = decision.max_latency_ms or decision.max_slowdown or math.inf
    fitting = [n for n in limits if costs[n] <= budget]
    if not fitting:
        return Choice(None, min(limits, key=lambda n: (costs[n], n)), None, {}, {}, costs)
    points = {n: 100 * sum(right[n].values()) / len(right[n]) for n in fitting}
    best = max(fitting, key=lambda n: (points[n], -n))
    if answers:
        p = {n: p_of_loss(right[n], right[best], dialogues, decision.rule, seed) for n in fitting}
        enough = [n for n in fitting if n == best or p[n] > decision.level]
    else:
        p = {n: _p_of_disagreement(right[n], decision.margin) for n in fitting}
        enough = [n for n in fitting if n == limits[-1] or p[n] <= decision.level] or [best]
    no_worse = min(enough)
    limit = no_worse if decision.min_gain is None else min(no_worse, _worth(points, decision.min_gain))
    return Choice(limit, best, no_worse, p, points, costs)


def _worth(points: Mapping[int, float], min_gain: float) -> int:
    """Return the limit at the end of a walk to larger limits, each step gaining ``min_gain`` points or more."""
    limits = sorted(points)
    worth = limits[0]
    for limit in limits[1:]:
        if points[limit] - points[worth] >= min_gain - 1e-9:
            worth = limit
    return worth


def p_of_loss(limit: Right, best: Right, dialogues: Mapping[str, str], rule: Rule, seed: int) -> float:
    """Return the one-sided p-value: could ``limit`` lose as much against ``best`` by chance? 1 if it loses nothing."""
    lost = {i: int(best[i]) - int(limit[i]) for i in best}
    if rule == "mcnemar":
        losses, gains = sum(d > 0 for d in lost.values()), sum(d < 0 for d in lost.values())
        return float(binomtest(losses, losses + gains, alternative="greater").pvalue) if losses + gains else 1.0
    by_dialogue: dict[str, int] = {}
    for identifier, difference in lost.items():
        by_dialogue[dialogues[identifier]] = by_dialogue.get(dialogues[identifier], 0) + difference
    differences = np.array([d for _, d in sorted(by_dialogue.items())])
    return _share_without_gain(differences, seed) if differences.any() else 1.0


def _share_without_gain(differences: np.ndarray, seed: int) -> float:
    """Return the share of resamples whose sum is 0 or less."""
    generator = np.random.default_rng(seed)
    # a resample is determined by how often it has each value
    values, counts = np.unique(differences, return_counts=True)
    drawn = generator.multinomial(len(differences), counts / len(differences), size=RESAMPLES)
    return float(np.mean(drawn @ values <= 0))


def _p_of_disagreement(agrees: Right, margin: float) -> float:
    """Exact one-sided binomial test of a share of disagreement of ``margin`` per cent against a smaller one."""
    disagreeing = sum(not a for a in agrees.values())
    return float(binomtest(disagreeing, len(agrees), min(1.0, margin / 100), alternative="less").pvalue)
