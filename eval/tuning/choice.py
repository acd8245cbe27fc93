"""Chooses the order limit: the smallest within the budget that is not significantly worse than the best one.

A limit is worse than the best one if the one-sided p-value of its loss is at most the level: the exact McNemar test
(McNemar 1947), among the samples that only one of the two gets right the probability of as many losses or more if both
were equally likely.

The number of samples needed is the smallest n at which a loss of ``margin`` points could be significant at all: if
n * margin / 100 samples are lost and none is won, the p-value is 0.5 to the power of the losses, which takes
ceil(log2(1 / level)) of them, 5 at 0.05.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from scipy.stats import binomtest

from eval.errors import EvalError
from eval.tuning.options import TuneOptions

Right = Mapping[str, bool]
"""Sample id -> whether it is right."""


@dataclass(frozen=True)
class Choice:
    """The limit to deploy, None if no limit fits the budget, and why, as sentences.

    ``best`` is the limit of the highest accuracy within the budget, the smallest of equal ones; if no limit fits the
    budget, the cheapest one. ``p`` has the one-sided p-value of each limit's loss against it, within the budget.
    """

    limit: int | None
    best: int
    p: Mapping[int, float]
    reasons: list[str]


def choose(right: Mapping[int, Right], costs: Mapping[int, float], wanted: TuneOptions) -> Choice:
    """Choose among the limits of ``right``.

    Parameters
    ----------
    right : mapping
        Limit -> sample id -> whether it is right.
    costs : mapping
        Limit -> what the budget limits.
    """
    limits, budget = sorted(right), math.inf if wanted.budget is None else wanted.budget
    unit = "ms" if wanted.max_slowdown is None else "times the latency of limit 1"
    fitting = [n for n in limits if costs[n] <= budget]
    if not fitting:
        best = min(limits, key=lambda n: (costs[n], n))
        nearest = f"the nearest is limit {best} with {costs[best]:.4g}"
        return Choice(None, best, {}, [f"no limit keeps within {budget:g} {unit}: {nearest}"])
    points = {n: 100 * sum(right[n].values()) / len(right[n]) for n in fitting}
    best = max(fitting, key=lambda n: (points[n], -n))
    p = {n: p_of_loss(right[n], right[best]) for n in fitting}
    limit = min(n for n in fitting if n == best or p[n] > wanted.level)
    reason = _reason(limit, best, points, p, wanted)
    within = "all of them" if fitting == limits else ", ".join(map(str, fitting))
    bound = [] if wanted.budget is None else [f"order limits within {budget:g} {unit}: {within}"]
    return Choice(limit, best, p, [*bound, reason])


def _reason(limit: int, best: int, points: Mapping[int, float], p: Mapping[int, float], wanted: TuneOptions) -> str:
    test = f"exact McNemar test, level {wanted.level:g}"
    if not points[best]:
        return f"nothing is right at any limit, so that accuracy cannot tell them apart: limit {limit} is the smallest"
    if limit == best:
        others = f", and every smaller one is significantly worse ({test})" if limit > min(points) else ""
        return f"limit {limit} has the highest accuracy, {points[limit]:.1f} %{others}"
    return (
        f"limit {limit} is the smallest that is not significantly worse than limit {best}, the most accurate one: "
        f"{points[limit]:.1f} against {points[best]:.1f} % ({test}, one-sided p = {p[limit]:.3g})"
    )


def p_of_loss(limit: Right, best: Right) -> float:
    """Return the one-sided p-value: could ``limit`` lose as much against ``best`` by chance? 1 if it loses nothing."""
    losses = sum(best[i] and not limit[i] for i in best)
    gains = sum(limit[i] and not best[i] for i in best)
    return float(binomtest(losses, losses + gains, alternative="greater").pvalue) if losses + gains else 1.0


def samples_needed(wanted: TuneOptions) -> int:
    """Return the smallest number of samples for a decision; see this module's docstring."""
    losses = math.ceil(math.log2(1 / wanted.level) - 1e-9)
    return math.ceil(100 * losses / wanted.margin - 1e-9)


def demand_enough(samples: int, wanted: TuneOptions, lost: int = 0) -> None:
    """Raise an EvalError that says how many samples are needed, if these are too few.

    ``lost``: number of further samples, which cannot be decoded at any limit.
    """
    needed = samples_needed(wanted)
    if samples < needed:
        others = f" ({lost} more cannot be decoded)" if lost else ""
        raise EvalError(
            f"too few samples for a decision: {samples}{others}, but {needed} are needed to show a loss of "
            f"{wanted.margin:g} points at the level {wanted.level:g}; take more samples, or a larger --margin"
        )
