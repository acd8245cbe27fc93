"""The result of a tuning, as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.tuning.choice import Choice
from eval.tuning.confidence_study import Study
from eval.tuning.decision import Decision
from eval.tuning.optional_keys import ShareRow
from eval.tuning.order_limits import LimitRow
from eval.tuning.order_sensitivity import Sensitivity
from eval.tuning.shorter_documentation import DetailRow
from eval.tuning.stopping_rules import StoppingRow
from eval.tuning.vote_options import VoteOptions
from eval.votes.value_slot import ValueSlot
from voting import Calibration


@dataclass(frozen=True)
class Tuning:
    """Everything that ``tune`` finds out.

    Attributes
    ----------
    about : dict
        What was asked for, where and when.
    answers : bool
        Whether there are reference answers.
    decision : Decision
    samples : int
        Number of prompts that figures are over.
    failures : sequence of str
        Why prompts could not be decoded.
    limits : sequence of LimitRow
        Ascending, limit 1 first.
    shares : sequence of ShareRow
    stopping : sequence of StoppingRow
    sensitivity : Sensitivity
    values : sequence of ValueSlot
        Which values are right, in the calls of all orders; empty without answers.
    study : Study or None
    calibration : Calibration or None
    choice : Choice
    optional_share : float
        The chosen share.
    deployed : VoteOptions or None
        None if no limit fits the budget.
    details : sequence of DetailRow
        Empty unless the documentation in prompts was to be chosen.
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
    values: Sequence[ValueSlot]
    study: Study | None
    calibration: Calibration | None
    choice: Choice
    optional_share: float
    deployed: VoteOptions | None
    details: Sequence[DetailRow] = ()

    @property
    def base(self) -> LimitRow:
        """Limit 1."""
        return self.limits[0]

    @property
    def largest_limit(self) -> int:
        """The largest order limit, which all prompts were decoded with."""
        return self.limits[-1].options.order_limit

    def reduction(self, row: LimitRow) -> float | None:
        """Return the value errors that a limit removes, in per cent of limit 1's (the paper's table 4)."""
        before = self.base.value_errors
        return 100 * (before - row.value_errors) / before if before else None
