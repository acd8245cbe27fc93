"""The plan as JSON."""

from collections.abc import Sequence
from typing import Any

from eval.capacity.check import Check
from eval.capacity.cost import Cost
from eval.capacity.plan import MIB, Ask, Costs, Replays
from eval.capacity.sizes import SIZES
from eval.capacity.trace import Trace


def plan_to_json(ask: Ask, traces: Sequence[Trace], costs: Costs, replays: Replays, cached: Trace) -> dict[str, Any]:
    """Return all figures of the tables, and the assumptions.

    Parameters
    ----------
    cached : Trace
        The one whose costs say when a prefix cache pays.
    """
    return {
        "assumed": vars(ask.assumed),
        "demand": vars(ask.demand),
        "models": {name: vars(SIZES[name]) | {"parameters": SIZES[name].parameters} for name in ask.shapes},
        "traces": [
            {"run": trace.name, "samples": len(trace.calls), "largest_slots": trace.longest}
            | {what: trace.mean(what) for what in ("prompt", "passes", "positions", "written")}
            for trace in traces
        ],
        "calls": [
            {"gpu": gpu, "model": shape, "run": traces[number].name} | _cost(ask, cost)
            for (gpu, shape, number), cost in costs.items()
        ],
        "prefix_cache": {
            "run": cached.name,
            "streams": [
                {"stream": name, "model": shape, "mib": size, "share": found.share}
                | vars(found)
                | {
                    "rate_ratio": {
                        gpu: ask.machine(shape, gpu).gain(cached, size * MIB, found.share) for gpu in ask.gpus
                    }
                }
                for (name, shape, size), found in replays.items()
            ],
            "needed": [
                {"gpu": gpu, "model": shape, "mib": size, "share": ask.machine(shape, gpu).worth(cached, size * MIB)}
                for gpu in ask.gpus
                for shape in ask.shapes
                for size in ask.cache_mb
            ],
        },
    }


def check_to_json(check: Check) -> dict[str, Any]:
    """Return predicted and measured seconds of each run, and what they are predicted from."""
    return {
        "host": check.host._asdict(),
        "pass_seconds": check.passes._asdict(),
        "constraint": check.constraint._asdict(),
        "runs": [vars(each) | {"error": each.error} for each in check.runs],
    }


def _cost(ask: Ask, cost: Cost | None) -> dict[str, Any]:
    if cost is None:
        return {"fits": False}
    return {
        "fits": True,
        **vars(cost),
        "seconds": cost.seconds,
        "calls_a_second": cost.rate,
        "latency": cost.latency,
        "gpus": ask.demand.gpus(cost),
    }
