"""The steps of ``tune``, in order, and the record of what they find."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from random import Random
from typing import Any

import pandas as pd

from eval.statistics import Accuracy
from eval.tuning.choice import choose, demand_enough
from eval.tuning.confidence import ranking, study
from eval.tuning.evidence import Evidence
from eval.tuning.latency import latency
from eval.tuning.options import TuneOptions
from tooldecoding.request import Request

Row = dict[str, Any]
Measure = Callable[[Mapping[str, Request], Sequence[int]], pd.DataFrame]
"""As ``latency.measure``, of the prompts and the limits alone."""


def tuned(evidence: Evidence, wanted: TuneOptions, measure: Measure, seed: int, about: Mapping[str, Any]) -> Row:
    """Take all steps, and return the record as it stands in ``tune.json``; ``about`` becomes part of it.

    Proportions lie between 0 and 1. There are no settings to deploy if no limit fits the budget.

    EvalError if too few prompts could be decoded.
    """
    demand_enough(len(evidence.requests), wanted, len(evidence.failures))
    limits = _compare_limits(evidence, wanted, measure, seed)
    times = "median_ms" if wanted.max_slowdown is None else "ratio"
    costs = {row["limit"]: row["latency"][times] for row in limits if row["candidate"]}
    choice = choose({n: evidence.right(n) for n in costs}, costs, wanted)
    reasons = choice.reasons
    for row in limits:
        row["p"] = choice.p.get(row["limit"])
    settings: Row | None = None
    confidence: Row | None = None
    if choice.limit is not None:
        confidence = study(evidence.labelled(choice.limit), wanted.risk, seed)
        settings = {"order_limit": choice.limit} | _settings(confidence)
        reasons = [*reasons, *_reasons(confidence)]
    chosen = {"order_limit": choice.limit, "best": choice.best, "settings": settings}
    return {
        **about,
        "samples": len(evidence.samples),
        "failures": evidence.failures,
        "decision": wanted.to_json(),
        "chosen": chosen | {"reasons": reasons},
        "limits": limits,
        "confidence": confidence,
    }


def _compare_limits(evidence: Evidence, wanted: TuneOptions, measure: Measure, seed: int) -> list[Row]:
    limits = sorted({1, *wanted.limits})  # limit 1 is the base of ratios
    right = {n: evidence.right(n) for n in limits}  # all decoding before any measuring
    errors = {n: evidence.value_errors(n) for n in limits}
    drawn = list(evidence.requests.items())
    Random(seed).shuffle(drawn)
    measured = measure(dict(drawn[: wanted.latency_prompts]), limits)
    return [
        {
            "limit": limit,
            "candidate": limit in wanted.limits,
            **_accuracy(right[limit]),
            "value_errors": errors[limit],
            "auroc": ranking(evidence.labelled(limit)),
            "value_errors_removed_percent": 100 * (errors[1] - errors[limit]) / errors[1] if errors[1] else None,
            "again": evidence.again[limit],
            "latency": latency(measured, limit, seed),
        }
        for limit in limits
    ]


def _settings(confidence: Row) -> Row:
    limit = confidence.get("min_confidence")
    found = {"confidence_offset": confidence["offset"], "confidence_slope": confidence["slope"]}
    return found if limit is None else found | {"min_confidence": limit}


def _reasons(confidence: Row) -> list[str]:
    calls, held_out = confidence["calls"], confidence["held_out"]
    rank = confidence["auroc"]
    ranked = "" if rank is None else f"; a right one scores higher than a wrong one in {rank:.0%} of pairs"
    off, usual = held_out["calibration_error"], confidence["calibration_error_by_default"]
    reasons = [
        f"confidence is fitted to {calls} answers with calls, {confidence['right']} of them right{ranked}; it is off "
        f"by {100 * off:.1f} points on the half that it was not fitted to, by {100 * usual:.1f} as it is by default"
    ]
    if "risk" in confidence:
        risk, limit = confidence["risk"], confidence["min_confidence"]
        found = f"no limit shows a risk of {risk:g}: take more samples, or a larger --risk"
        if limit is not None:
            found = f"{limit:.3f} for a risk of {risk:g}: {confidence['passing']} of {calls} answers pass"
        wrong = f"{held_out['wrong']} of the {held_out['passing']} that pass are wrong on the other half"
        reasons.append(f"min_confidence: {found}; chosen on one half of the dialogues, {wrong}")
    return reasons


def _accuracy(right: Mapping[str, bool]) -> Row:
    found = Accuracy(sum(right.values()), len(right))
    estimate = found.estimate
    interval = estimate and [estimate.low, estimate.high]
    return {**asdict(found), "accuracy": estimate and estimate.value, "interval": interval}
