"""The reasons for a choice, as sentences."""

from eval.tuning.choice import Choice
from eval.tuning.options import TuneOptions
from eval.tuning.tuner import Tuning


def reasons(tuning: Tuning) -> list[str]:
    """Return all reasons, in the order of the decisions."""
    return [
        *_share_reasons(tuning),
        *limit_reasons(tuning.choice, tuning.wanted, tuning.answers),
        *_stopping_reasons(tuning),
    ]


def _share_reasons(tuning: Tuning) -> list[str]:
    if len({row.right.right for row in tuning.shares}) < 2:
        return []
    default = next(row for row in tuning.shares if row.p is None)
    chosen = next(row for row in tuning.shares if row.share == tuning.optional_share)
    at = f"at limit {tuning.limits[-1].limit}"
    comparisons = f"adjusted for {len(tuning.shares) - 1} comparisons"
    if chosen is default:
        return [
            f"optional_share stays {default.share:g}: no other share is significantly more accurate {at} "
            f"(level {tuning.wanted.level:g}, {comparisons})"
        ]
    gain = 100 * (chosen.right.right - default.right.right) / chosen.right.total
    return [
        f"optional_share {chosen.share:g} is {gain:.1f} points more accurate than {default.share:g} {at} "
        f"(p = {chosen.p:.3g}, {comparisons})"
    ]


def limit_reasons(choice: Choice, wanted: TuneOptions, answers: bool) -> list[str]:
    """Return the reasons for the order limit."""
    unit = "ms" if wanted.max_slowdown is None else "times the latency of limit 1"
    budget = wanted.max_latency_ms or wanted.max_slowdown
    if choice.limit is None or choice.no_worse is None:
        return [
            f"no limit keeps within {budget:g} {unit}: the nearest is limit {choice.best} with "
            f"{choice.costs[choice.best]:.4g}"
        ]
    sentences = []
    if budget is not None:
        within = "all of them" if len(choice.points) == len(choice.costs) else ", ".join(map(str, choice.points))
        sentences.append(f"order limits within {budget:g} {unit}: {within}")
    said = _accuracy_reason if answers else _agreement_reason
    sentences.append(said(choice, choice.no_worse, wanted))
    if choice.limit < choice.no_worse:
        sentences.append(
            f"no larger limit gains {wanted.min_gain:g} points over limit {choice.limit}, so it is not worth its time"
        )
    return sentences


def _accuracy_reason(choice: Choice, limit: int, wanted: TuneOptions) -> str:
    points, best = choice.points, choice.best
    test = f"exact McNemar test, level {wanted.level:g}"
    if not points[best]:
        return f"nothing is right at any limit, so that accuracy cannot tell them apart: limit {limit} is the smallest"
    if limit == best:
        smaller = any(n < limit for n in points)
        others = f", and every smaller one is significantly worse ({test})" if smaller else ""
        return f"limit {limit} has the highest accuracy, {points[limit]:.1f} %{others}"
    return (
        f"limit {limit} is the smallest that is not significantly worse than limit {best}, the most accurate one: "
        f"{points[limit]:.1f} against {points[best]:.1f} % ({test}, one-sided p = {choice.p[limit]:.3g})"
    )


def _agreement_reason(choice: Choice, limit: int, wanted: TuneOptions) -> str:
    text = f"limit {limit} answers {100 - choice.points[limit]:.1f} % of the prompts otherwise than the largest limit"
    if choice.p[limit] <= wanted.level:
        return f"{text}, significantly fewer than {wanted.margin:g} % (exact binomial test, p = {choice.p[limit]:.3g})"
    return f"{text}; no smaller one is shown to stay below {wanted.margin:g} % (exact binomial test)"


def _stopping_reasons(tuning: Tuning) -> list[str]:
    if tuning.deployed is None or tuning.choice.limit == 1:
        return []
    latency = next(row for row in tuning.stopping if row.stopping == "exact").latency
    ratio = f"{latency.ratio:.2f} ({latency.ratio_low:.2f}-{latency.ratio_high:.2f})"
    if tuning.deployed.stopping == "exact":
        return [f"stopping exact changes no call and takes {ratio} times the latency of none"]
    return [f"stopping stays none: exact takes {ratio} times its latency"]
