"""The reasons for a choice, as sentences."""

from collections.abc import Sequence

from eval.metrics.accuracy import Accuracy
from eval.tuning.choice import RESAMPLES, Choice
from eval.tuning.confidence_study import COMBINED, SINGLE, Study
from eval.tuning.decision import Decision
from eval.tuning.optional_keys import ShareRow
from eval.tuning.results import Tuning
from eval.tuning.stopping_rules import measured_exact


def reasons(tuning: Tuning) -> list[str]:
    """Return all reasons, in the order of the decisions."""
    return [
        *_documentation_reasons(tuning),
        *_share_reasons(tuning),
        *limit_reasons(tuning.choice, tuning.decision, tuning.answers),
        *_stopping_reasons(tuning),
        *_confidence_reasons(tuning.study),
    ]


def _documentation_reasons(tuning: Tuning) -> list[str]:
    if not tuning.details:
        return []
    full, *_ = tuning.details
    level = tuning.decision.level
    chosen = next(row for row in tuning.details if row.detail == tuning.about["settings"]["documentation"])
    if chosen is full:
        return [f"documentation stays full: with one order, less is significantly less accurate (level {level:g})"]
    return [
        f"documentation {chosen.detail} is the shortest that is not significantly less accurate with one order: "
        f"{_points(chosen.right)} against {_points(full.right)} % (one-sided p = {chosen.p:.3g}, level {level:g}); "
        f"prompts have {chosen.tokens:.0f} tokens instead of {full.tokens:.0f}"
    ]


def _points(of: Accuracy) -> str:
    return f"{100 * of.right / of.total:.1f}"


def _share_reasons(tuning: Tuning) -> list[str]:
    rows: Sequence[ShareRow] = tuning.shares
    if not any(row.presence.slots for row in rows):
        return []
    default = next(row for row in rows if row.p is None)
    chosen = next(row for row in rows if row.share == tuning.optional_share)
    comparisons = f"adjusted for {len(rows) - 1} comparisons"
    if chosen is default:
        return [
            f"optional_share stays {default.share:g}: no other share is significantly more accurate at limit "
            f"{tuning.largest_limit} (level {tuning.decision.level:g}, {comparisons})"
        ]
    gain = 100 * (chosen.right.right - default.right.right) / chosen.right.total
    return [
        f"optional_share {chosen.share:g} is {gain:.1f} points more accurate than {default.share:g} at limit "
        f"{tuning.largest_limit} (p = {chosen.p:.3g}, {comparisons})"
    ]


def limit_reasons(choice: Choice, decision: Decision, answers: bool) -> list[str]:
    """Return the reasons for the order limit."""
    unit = "ms" if decision.max_slowdown is None else "times the latency of limit 1"
    budget = decision.max_latency_ms or decision.max_slowdown
    if choice.limit is None or choice.no_worse is None:
        return [
            f"no limit keeps within {budget:g} {unit}: the nearest is limit {choice.best} with "
            f"{choice.costs[choice.best]:.4g}"
        ]
    sentences = []
    if budget is not None:
        within = "all of them" if len(choice.points) == len(choice.costs) else ", ".join(map(str, choice.points))
        sentences.append(f"order limits within {budget:g} {unit}: {within}")
    sentences.append(_accuracy_reason(choice, choice.no_worse, decision) if answers else _agreement(choice, decision))
    if choice.limit < choice.no_worse:
        sentences.append(
            f"no larger limit gains {decision.min_gain:g} points over limit {choice.limit}, so it is not worth its time"
        )
    return sentences


def _accuracy_reason(choice: Choice, limit: int, decision: Decision) -> str:
    points, best = choice.points, choice.best
    if not points[best]:
        return f"nothing is right at any limit, so that accuracy cannot tell them apart: limit {limit} is the smallest"
    test = "exact McNemar test" if decision.rule == "mcnemar" else f"paired bootstrap, {RESAMPLES} resamples"
    if limit == best:
        smaller = any(n < limit for n in points)
        others = f", and every smaller one is significantly worse ({test}, level {decision.level:g})" if smaller else ""
        return f"limit {limit} has the highest accuracy, {points[limit]:.1f} %{others}"
    return (
        f"limit {limit} is the smallest that is not significantly worse than limit {best}, the most accurate one: "
        f"{points[limit]:.1f} against {points[best]:.1f} % ({test}, one-sided p = {choice.p[limit]:.3g}, "
        f"level {decision.level:g})"
    )


def _agreement(choice: Choice, decision: Decision) -> str:
    limit = choice.no_worse or choice.best
    text = f"limit {limit} answers {100 - choice.points[limit]:.1f} % of the prompts otherwise than the largest limit"
    if choice.p[limit] <= decision.level:
        return (
            f"{text}, significantly fewer than {decision.margin:g} % (exact binomial test, p = {choice.p[limit]:.3g})"
        )
    return f"{text}; no smaller one is shown to stay below {decision.margin:g} % (exact binomial test)"


def _stopping_reasons(tuning: Tuning) -> list[str]:
    exact = measured_exact(tuning.stopping, tuning.choice.limit)
    if tuning.deployed is None or exact is None or exact.latency is None:
        return []
    ratio = f"{exact.latency.ratio:.2f} ({exact.latency.ratio_low:.2f}-{exact.latency.ratio_high:.2f})"
    if tuning.deployed.stopping == "exact":
        return [f"stopping exact changes no call and takes {ratio} times the latency of none"]
    return [f"stopping stays none: exact takes {ratio} times its latency"]


def _confidence_reasons(study: Study | None) -> list[str]:
    if study is None:
        return []
    gain, single = study[COMBINED].gain, study[SINGLE].auroc
    verdict = "no significant gain from voting"
    if gain.low > 0:
        verdict = "voting tells right from wrong values better"
    elif gain.high < 0:
        verdict = "voting tells right from wrong values worse"
    return [
        f"confidence: AUROC {study[COMBINED].auroc.value:.3f} from share and log-probability of the vote, "
        f"{single.value:.3f} from a single pass; difference {gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f}): "
        f"{verdict}"
    ]
