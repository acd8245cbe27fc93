"""The rules for adaptive stopping side by side, and which one to deploy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eval.metrics.accuracy import Accuracy
from eval.tuning.evidence import Evidence
from eval.tuning.latency import Latency
from eval.tuning.verdicts import accuracy
from eval.tuning.vote_options import VoteOptions
from voting import Stopping

RULES: Final[tuple[Stopping, ...]] = ("exact", "posterior")


@dataclass(frozen=True)
class StoppingRow:
    """A stopping rule at a limit.

    Attributes
    ----------
    options : VoteOptions
    right : Accuracy
    changed : int
        Prompts whose calls differ from those without the rule.
    orders_used, orders_possible : float
        Mean over the calls.
    latency : Latency or None
        The ratio is to the same limit without the rule; None if it was not measured.
    """

    options: VoteOptions
    right: Accuracy
    changed: int
    orders_used: float
    orders_possible: float
    latency: Latency | None


def stopping_row(
    evidence: Evidence, options: VoteOptions, plain: VoteOptions, largest: VoteOptions, latency: Latency | None
) -> StoppingRow:
    """Return the row of ``options``; ``plain`` is the same without the rule."""
    outcomes, reference = evidence.outcomes(options), evidence.outcomes(plain)
    calls = max(1, sum(len(o.calls) for o in outcomes.values()))
    return StoppingRow(
        options,
        accuracy(evidence.right(options, largest)),
        sum(outcome.text != reference[i].text for i, outcome in outcomes.items()),
        sum(o.orders_used for o in outcomes.values()) / calls,
        sum(o.orders_possible for o in outcomes.values()) / calls,
        latency,
    )


def measured_exact(rows: Sequence[StoppingRow], limit: int | None) -> StoppingRow | None:
    """Return the row of exact stopping at a limit, if its latency was measured. Limit 1 has nothing to stop."""
    rows = [r for r in rows if (r.options.order_limit, r.options.stopping) == (limit, "exact") and r.latency]
    return rows[0] if rows and limit != 1 else None


def choose_stopping(exact: StoppingRow | None) -> Stopping:
    """Return ``exact`` if it is significantly faster and changes no call."""
    faster = exact is not None and exact.latency is not None and exact.latency.ratio_high < 1 and not exact.changed
    return "exact" if faster else "none"
