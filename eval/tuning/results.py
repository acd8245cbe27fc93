"""What ``tune`` found, as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.metrics.accuracy import Accuracy
from eval.tuning.choice import Choice, Decision
from eval.tuning.confidence_study import Study
from eval.tuning.latency import Latency
from eval.tuning.optional_keys import Presence
from eval.tuning.order_sensitivity import Sensitivity
from eval.tuning.vote_options import VoteOptions
from voting import Calibration


@dataclass(frozen=True)
class LimitRow:
    """An order limit.

    Attributes
    ----------
    variant : VoteOptions
    candidate : bool
        Whether it was asked for; limit 1 is always there, as the base.
    right : Accuracy
        Samples that are right; without answers, prompts whose calls are those of the largest limit.
    by_category : dict
    value_errors : int
        0 without answers.
    flipped, parameters : int
        Parameters whose value is not the one of the largest limit, of how many that both have.
    again : int
        Prompts that had to be decoded again.
    latency : Latency
    """

    variant: VoteOptions
    candidate: bool
    right: Accuracy
    by_category: Mapping[str, Accuracy]
    value_errors: int
    flipped: int
    parameters: int
    again: int
    latency: Latency


@dataclass(frozen=True)
class ShareRow:
    """A share of optional keys at the largest limit; ``p`` is its gain over the default, adjusted (Holm)."""

    share: float
    right: Accuracy
    p: float | None
    presence: Presence
    again: int


@dataclass(frozen=True)
class StoppingRow:
    """A stopping rule at a limit.

    Attributes
    ----------
    variant : VoteOptions
    right : Accuracy
    changed : int
        Prompts whose calls are not those without the rule.
    orders_used, orders_possible : float
        Mean over the calls.
    latency : Latency or None
        Its ratio is to the same limit without the rule; None where it was not measured.
    """

    variant: VoteOptions
    right: Accuracy
    changed: int
    orders_used: float
    orders_possible: float
    latency: Latency | None


@dataclass(frozen=True)
class Tuning:
    """Everything that ``tune`` found.

    Attributes
    ----------
    about : dict
        What was asked for, where and when.
    answers : bool
        Whether there are reference answers.
    failures : sequence of str
        Why prompts could not be decoded.
    deployed : VoteOptions or None
        None if no limit fits the budget.
    """

    about: Mapping[str, Any]
    answers: bool
    decision: Decision
    samples: int
    failures: Sequence[str]
    limits: Sequence[LimitRow]
    shares: Sequence[ShareRow]
    stopping: Sequence[StoppingRow]
    sensitivity: Sensitivity
    study: Study | None
    calibration: Calibration | None
    choice: Choice
    deployed: VoteOptions | None
    reasons: Sequence[str]

    @property
    def base(self) -> LimitRow:
        """Limit 1."""
        return self.limits[0]

    def reduction(self, row: LimitRow) -> float | None:
        """Value errors that a limit removes, in per cent of those of limit 1 (paper, table 4); None if it has none."""
        before = self.base.value_errors
        return 100 * (before - row.value_errors) / before if before else None
