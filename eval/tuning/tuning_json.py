"""``tune.json``: the whole result, for programs."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from eval.metrics.accuracy import Accuracy
from eval.tuning.confidence_study import Study
from eval.tuning.order_sensitivity import Sensitivity
from eval.tuning.reasons import reasons
from eval.tuning.results import Tuning
from eval.votes.value_groups import value_groups
from eval.votes.value_slot import ValueSlot
from eval.votes.vote_rows import vote_rows


def to_json(tuning: Tuning) -> dict[str, Any]:
    """Return one object. Proportions lie between 0 and 1; ``p`` and intervals are as in the tables."""
    return {
        **tuning.about,
        "measure": "accuracy" if tuning.answers else "agreement with the largest limit, which is not accuracy",
        "samples": tuning.samples,
        "failed": len(tuning.failures),
        "decision": asdict(tuning.decision),
        "chosen": {
            "order_limit": tuning.choice.limit,
            "best": tuning.choice.best,
            "settings": asdict(tuning.deployed) if tuning.deployed else None,
            "reasons": reasons(tuning),
        },
        "limits": [
            {
                "order_limit": row.options.order_limit,
                "candidate": row.candidate,
                **_accuracy(row.right),
                "p": tuning.choice.p.get(row.options.order_limit),
                "categories": {name: _accuracy(a) for name, a in row.by_category.items()},
                "value_errors": row.value_errors if tuning.answers else None,
                "value_errors_removed_percent": tuning.reduction(row) if tuning.answers else None,
                "flipped_values": row.flipped,
                "compared_values": row.parameters,
                "decoded_again": row.again,
                "latency": asdict(row.latency),
            }
            for row in tuning.limits
        ],
        "documentation": [
            {"documentation": row.detail, **_accuracy(row.right), "p": row.p, "prompt_tokens": row.tokens}
            for row in tuning.details
        ],
        "optional_shares": [
            {
                "optional_share": row.share,
                **_accuracy(row.right),
                "p": row.p,
                **asdict(row.presence),
                "precision": row.presence.precision,
                "recall": row.presence.recall,
                "f1": row.presence.f1,
                "decoded_again": row.again,
            }
            for row in tuning.shares
        ],
        "stopping": [
            {
                "stopping": row.options.stopping,
                "order_limit": row.options.order_limit,
                **_accuracy(row.right),
                "changed": row.changed,
                "orders_used": row.orders_used,
                "orders_possible": row.orders_possible,
                "latency": asdict(row.latency) if row.latency else None,
            }
            for row in tuning.stopping
        ],
        "order_sensitivity": _sensitivity(tuning.sensitivity),
        "values": [asdict(group) for group in value_groups(tuning.values)],
        "votes": _votes(tuning.values),
        "confidence": _study(tuning.study),
        "calibration": asdict(tuning.calibration) if tuning.calibration else None,
    }


def _accuracy(of: Accuracy) -> dict[str, Any]:
    estimate = of.estimate
    interval = [estimate.low, estimate.high] if estimate else None
    return {"right": of.right, "total": of.total, "share": estimate.value if estimate else None, "interval": interval}


def _sensitivity(found: Sensitivity) -> dict[str, Any]:
    return {
        "calls": found.calls,
        "total": asdict(found.total),
        "by_required_keys": {str(keys): asdict(flips) for keys, flips in sorted(found.by_keys.items())},
        "by_parameter": {name: asdict(flips) for name, flips in sorted(found.by_parameter.items())},
    }


def _votes(slots: Sequence[ValueSlot]) -> dict[str, Any]:
    """Return the votes over some of the orders, on the values that all of them have."""
    found = vote_rows({"orders": slots})
    return {
        "values": found.values,
        "calls": found.calls,
        "left_out": found.left_out,
        "rows": [asdict(r) for r in found.rows],
    }


def _study(study: Study | None) -> dict[str, Any] | None:
    if study is None:
        return None
    scores = {
        scored.name: {
            "right": float(scored.right.mean()),
            "auroc": asdict(scored.auroc),
            "auroc_gain_over_single_pass": asdict(scored.gain),
            "expected_calibration_error": asdict(scored.calibration_error),
        }
        for scored in study.scored
    }
    return {"values": study.slots, "verdicts_changed_by_vote": study.changed, "scores": scores}
