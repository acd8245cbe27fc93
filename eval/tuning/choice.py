"""Which order limit to deploy: the smallest that is statistically no worse than the best one within the budget.

**No worse.** Limits are compared on the same samples. A limit is worse than the best one if the one-sided p-value of
its loss is at most the level:

``mcnemar``
    Exact McNemar test (McNemar 1947): among the samples that only one of both gets right, the probability of as many
    losses or more if both were equally likely.
``bootstrap``
    Paired bootstrap over dialogues (Efron and Tibshirani 1993, chapter 16): the share of resamples in which the best
    limit gains nothing.

Without answers there is no accuracy, and the vote at the largest limit stands in for it (``agreement``): a limit is no
worse if the share of prompts that it answers otherwise is below the margin, by an exact binomial test at the level.

**Too few samples.** The smallest number n of samples at which a loss of ``margin`` points could be significant at all:
n * margin / 100 samples must be enough to reject when every one of them is a loss and none a gain. ``mcnemar`` then has
the p-value 0.5 ** d, so d = ceil(log2(1 / level)) losses are needed, 5 at 0.05; ``bootstrap`` finds no loss in a
resample with the probability of about exp(-d), so d = ceil(ln(1 / level)), 3 at 0.05; n = ceil(d / (margin / 100)).
Without answers n prompts must be able to show agreement: (1 - margin / 100) ** n <= level.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from scipy.stats import binomtest

from eval.errors import EvalError

Rule = Literal["mcnemar", "bootstrap"]
RULES: tuple[Rule, ...] = get_args(Rule)

RESAMPLES: Final = 10_000

Right = Mapping[str, bool]
"""Sample id -> whether it is right, or agrees."""

Worse = Callable[[int], float]
"""Order limit -> one-sided p-value of its loss against the best one."""


@dataclass(frozen=True)
class Decision:
    """How a choice is made.

    Attributes
    ----------
    rule : {"mcnemar", "bootstrap"}
    level : float
        Of the test, between 0 and 0.5.
    margin : float
        Points of a loss that the samples must be able to show.
    max_latency_ms : float, optional
        Budget: most milliseconds a prompt, as the median.
    max_slowdown : float, optional
        Budget: most times the latency of limit 1.
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
        given = [name for name, value in budgets.items() if value is not None]
        if len(given) > 1:
            raise EvalError(f"expected one budget, got {' and '.join(given)}; leave out all but one")
        for name in given:
            value = budgets[name]
            _demand(name, value, value is not None and 0 < value < math.inf, "a number above 0")

    @property
    def samples_needed(self) -> int:
        """The smallest number of samples for a decision with answers; the rule is this module's docstring."""
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
        """EvalError, which says how many are needed, if so many samples cannot decide.

        Parameters
        ----------
        answers : bool
            Whether there are reference answers.
        lost : int
            How many more there are that cannot be decoded, with any limit.
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


def read_rule(text: str) -> Rule:
    """The rule of that name; EvalError for an unknown one."""
    for rule in RULES:
        if text == rule:
            return rule
    raise EvalError(f"--rule: expected {' or '.join(RULES)}, got {text!r}")


def _demand(name: str, value: object, holds: bool, expected: str) -> None:
    if not holds:
        raise EvalError(f"{name}: expected {expected}, got {value!r}")


@dataclass(frozen=True)
class Choice:
    """The limit to deploy.

    Attributes
    ----------
    limit : int or None
        None if no limit fits the budget.
    best : int
        The limit of the highest accuracy (or agreement) within the budget, the smallest of equal ones; the nearest
        limit where none fits.
    p : dict
        Limit -> one-sided p-value of its loss against ``best``; limits outside of the budget have none.
    reasons : tuple of str
        Sentences for a reader.
    """

    limit: int | None
    best: int
    p: Mapping[int, float]
    reasons: tuple[str, ...]


def choose(
    right: Mapping[int, Right],
    groups: Mapping[str, str],
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
    groups : mapping
        Sample id -> its dialogue, which the bootstrap resamples.
    latency_ms, slowdown : mapping
        Limit -> median milliseconds, and how many times limit 1.
    answers : bool
        Whether ``right`` is accuracy.
    """
    limits = sorted(right)
    cost, budget, unit = _budget(latency_ms, slowdown, decision)
    fitting = [n for n in limits if cost[n] <= budget]
    if not fitting:
        nearest = min(limits, key=lambda n: (cost[n], n))
        reason = f"no limit keeps within {budget:g} {unit}: the nearest is limit {nearest} with {cost[nearest]:.4g}"
        return Choice(None, nearest, {}, (reason,))
    points = {n: 100 * _share(right[n]) for n in fitting}
    best = max(fitting, key=lambda n: (points[n], -n))
    if answers:
        p = {n: p_of_loss(right[n], right[best], groups, decision.rule, seed) for n in fitting}
        enough = [n for n in fitting if n == best or p[n] > decision.level]
    else:
        p = {n: _p_of_disagreement(right[n], decision.margin) for n in fitting}
        enough = [n for n in fitting if n == limits[-1] or p[n] <= decision.level] or [best]
    limit = min(enough)
    reasons = [_within(fitting, limits, budget, unit), _reason(limit, best, p, points, decision, answers)]
    if decision.min_gain is not None:
        worth = _worth(points, decision.min_gain)
        if worth < limit:
            limit = worth
            reasons.append(
                f"no larger limit gains {decision.min_gain:g} points over limit {worth}, so it is not worth its time"
            )
    return Choice(limit, best, p, tuple(r for r in reasons if r))


def _budget(
    latency_ms: Mapping[int, float], slowdown: Mapping[int, float], decision: Decision
) -> tuple[Mapping[int, float], float, str]:
    if decision.max_slowdown is not None:
        return slowdown, decision.max_slowdown, "times the latency of limit 1"
    return latency_ms, math.inf if decision.max_latency_ms is None else decision.max_latency_ms, "ms"


def _within(fitting: Sequence[int], limits: Sequence[int], budget: float, unit: str) -> str:
    if budget == math.inf:
        return ""
    named = "all of them" if len(fitting) == len(limits) else ", ".join(map(str, fitting))
    return f"order limits within {budget:g} {unit}: {named}"


def _reason(
    limit: int, best: int, p: Mapping[int, float], points: Mapping[int, float], decision: Decision, answers: bool
) -> str:
    if not answers:
        text = f"limit {limit} answers {100 - points[limit]:.1f} % of the prompts otherwise than the largest limit"
        if p[limit] <= decision.level:
            return f"{text}, significantly fewer than {decision.margin:g} % (exact binomial test, p = {p[limit]:.3g})"
        return f"{text}; no smaller one is shown to stay below {decision.margin:g} % (exact binomial test)"
    if not points[best]:
        return f"nothing is right at any limit, so that accuracy cannot tell them apart: limit {limit} is the smallest"
    test = "exact McNemar test" if decision.rule == "mcnemar" else f"paired bootstrap, {RESAMPLES} resamples"
    if limit == best:
        smaller = [n for n in points if n < limit]
        others = f", and every smaller one is significantly worse ({test}, level {decision.level:g})" if smaller else ""
        return f"limit {limit} has the highest accuracy, {points[limit]:.1f} %{others}"
    return (
        f"limit {limit} is the smallest that is not significantly worse than limit {best}, the most accurate one: "
        f"{points[limit]:.1f} against {points[best]:.1f} % ({test}, one-sided p = {p[limit]:.3g}, "
        f"level {decision.level:g})"
    )


def _worth(points: Mapping[int, float], min_gain: float) -> int:
    """The limit that one arrives at by going to a larger one only where it gains so many points."""
    limits = sorted(points)
    worth = limits[0]
    for limit in limits[1:]:
        if points[limit] - points[worth] >= min_gain - 1e-9:
            worth = limit
    return worth


def p_of_loss(limit: Right, best: Right, groups: Mapping[str, str], rule: Rule, seed: int) -> float:
    """One-sided p-value: could ``limit`` lose so much against ``best`` by chance? 1 where it loses nothing."""
    lost = {i: int(best[i]) - int(limit[i]) for i in best}
    if rule == "mcnemar":
        losses, gains = sum(d > 0 for d in lost.values()), sum(d < 0 for d in lost.values())
        return float(binomtest(losses, losses + gains, alternative="greater").pvalue) if losses + gains else 1.0
    by_group: dict[str, int] = {}
    for identifier, difference in lost.items():
        by_group[groups[identifier]] = by_group.get(groups[identifier], 0) + difference
    differences = np.array([d for _, d in sorted(by_group.items())])
    if not differences.any():
        return 1.0
    return _share_without_gain(differences, seed)


def _share_without_gain(differences: np.ndarray, seed: int) -> float:
    """The share of resamples whose sum is 0 or less."""
    generator = np.random.default_rng(seed)
    # only how often each difference is drawn counts: groups without one need not be drawn apart
    values, counts = np.unique(differences, return_counts=True)
    drawn = generator.multinomial(len(differences), counts / len(differences), size=RESAMPLES)
    return float(np.mean(drawn @ values <= 0))


def _p_of_disagreement(agrees: Right, margin: float) -> float:
    """Exact one-sided test of a share of disagreement of ``margin`` per cent against a smaller one."""
    disagreeing = sum(not a for a in agrees.values())
    return float(binomtest(disagreeing, len(agrees), min(1.0, margin / 100), alternative="less").pvalue)


def _share(right: Right) -> float:
    return sum(right.values()) / len(right)
