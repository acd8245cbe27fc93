"""The steps of ``tune``, in order, and the record of what they find."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any, Final

import pandas as pd

from eval.statistics import Accuracy
from eval.tuning.choice import Choice, choose, demand_enough, p_of_loss
from eval.tuning.confidence import ranking, study
from eval.tuning.decoded_prompt import VoteOptions
from eval.tuning.evidence import Evidence
from eval.tuning.latency import latency
from eval.tuning.options import TuneOptions
from tooldecoding.request import Request

SHARES: Final = tuple(n / 10 for n in range(11))
"""From 0 (any candidate with the key is enough) to 1 (the key is never given)."""

Row = dict[str, Any]
Measure = Callable[[Mapping[str, Request], Sequence[VoteOptions]], pd.DataFrame]
"""As ``latency.measure``, of the prompts and the options alone."""


@dataclass(frozen=True)
class Tuner:
    """One tuning.

    ``base``: the settings before tuning, with the largest limit.
    """

    evidence: Evidence
    wanted: TuneOptions
    base: VoteOptions
    measure: Measure
    seed: int

    def run(self, about: Mapping[str, Any]) -> Row:
        """Take all steps, and return the record as it stands in ``tune.json``; ``about`` becomes part of it.

        Proportions lie between 0 and 1. There are no settings to deploy if no limit fits the budget.

        EvalError if too few prompts could be decoded.
        """
        failures = self.evidence.failures
        demand_enough(len(self.evidence.requests), self.wanted, len(failures))
        shares, share, reasons = self._choose_share()
        largest = replace(self.base, optional_share=share)
        limits = self._compare_limits(largest)
        choice = self._choose(limits, largest)
        reasons += choice.reasons
        deployed = None if choice.limit is None else replace(largest, order_limit=choice.limit)
        for row in limits:
            row["p"] = choice.p.get(row["limit"])
        settings: Row | None = None
        confidence: Row | None = None
        if deployed is not None:
            confidence = study(self.evidence.labelled(deployed), self.wanted.risk, self.seed)
            settings = asdict(deployed) | _settings(confidence)
            reasons += _reasons(confidence)
        chosen = {"order_limit": choice.limit, "best": choice.best, "settings": settings}
        return {
            **about,
            "samples": len(self.evidence.samples),
            "failures": failures,
            "decision": self.wanted.to_json(),
            "chosen": chosen | {"reasons": reasons},
            "limits": limits,
            "optional_shares": shares,
            "confidence": confidence,
        }

    def _measured(self, every: Sequence[VoteOptions]) -> pd.DataFrame:
        """Measure some prompts, drawn by the seed."""
        drawn = list(self.evidence.requests.items())
        Random(self.seed).shuffle(drawn)
        return self.measure(dict(drawn[: self.wanted.latency_prompts]), every)

    def _choose_share(self) -> tuple[list[Row], float, list[str]]:
        """Compare ``SHARES`` and the default share at the largest limit: rows, the share to deploy, and why.

        The most accurate one is deployed, the nearest to the default of equal ones, if the default is significantly
        worse; p is multiplied by the number of comparisons (Bonferroni).
        """
        default, level, at = self.base.optional_share, self.wanted.level, f"at limit {self.base.order_limit}"
        shares = sorted({*SHARES, default})
        right = {share: self.evidence.right(replace(self.base, optional_share=share)) for share in shares}
        counts = {share: sum(right[share].values()) for share in shares}
        best = max(shares, key=lambda share: (counts[share], -abs(share - default)))
        p = min(1.0, (len(shares) - 1) * p_of_loss(right[default], right[best]))
        rows = [{"share": share, **_accuracy(right[share])} for share in shares]
        if len({*counts.values()}) == 1:
            return rows, default, []
        if p > level:
            why = f"no other share is significantly more accurate {at} (level {level:g}, {len(shares) - 1} comparisons)"
            return rows, default, [f"optional_share stays {default:g}: {why}"]
        gain = 100 * (counts[best] - counts[default]) / len(right[best])
        why = f"{gain:.1f} points more accurate than {default:g} {at} (p = {p:.3g}, {len(shares) - 1} comparisons)"
        return rows, best, [f"optional_share {best:g} is {why}"]

    def _compare_limits(self, largest: VoteOptions) -> list[Row]:
        # limit 1 is the base of ratios
        every = {n: replace(largest, order_limit=n) for n in sorted({1, *self.wanted.limits})}
        right = {n: self.evidence.right(options) for n, options in every.items()}  # all decoding before any measuring
        errors = {n: self.evidence.value_errors(options) for n, options in every.items()}
        measured = self._measured(list(every.values()))
        return [
            {
                "limit": limit,
                "candidate": limit in self.wanted.limits,
                **_accuracy(right[limit]),
                "value_errors": errors[limit],
                "auroc": ranking(self.evidence.labelled(options)),
                "value_errors_removed_percent": 100 * (errors[1] - errors[limit]) / errors[1] if errors[1] else None,
                "again": self.evidence.again[options],
                "latency": latency(measured, options, every[1], self.seed),
            }
            for limit, options in every.items()
        ]

    def _choose(self, rows: Sequence[Row], largest: VoteOptions) -> Choice:
        times = "median_ms" if self.wanted.max_slowdown is None else "ratio"
        costs = {row["limit"]: row["latency"][times] for row in rows if row["candidate"]}
        right = {n: self.evidence.right(replace(largest, order_limit=n)) for n in costs}
        return choose(right, costs, self.wanted)


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
