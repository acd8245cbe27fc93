"""Early stopping: whether a vote is settled before all orders are decoded, and how many more orders it needs."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from lookup.dictionary import ParameterSpec, ToolSpec
from voting.call import CandidateCall
from voting.merge import DEFAULT_OPTIONAL_SHARE, ballots_for, carries_enough
from voting.type_check import has_one_spelling, vote_identity

Stopping = Literal["none", "exact", "posterior"]

DEFAULT_STOPPING_LEVEL = 0.05
"""One minus the threshold of Adaptive-Consistency (Aggarwal et al. 2023), 0.95."""


class _Vote(NamedTuple):
    """The vote over one parameter, without truncated values, as in ``merge``.

    Attributes
    ----------
    done, left : int
        Candidates so far, and those that are still to come.
    carrying : int
        Candidates with a valid value.
    leader, runner_up : int
        Votes of the two most frequent values.
    safe : int
        Votes of the most frequent value whose spelling cannot change any more; 0 if there is none.
    rival : int
        Votes of the most frequent other value.
    """

    done: int
    left: int
    level: float
    optional_share: float
    carrying: int
    leader: int
    runner_up: int
    safe: int
    rival: int

    def further(self, required: bool) -> int:
        """The smallest number of further orders that can settle a parameter."""
        value = self._earliest(self._value_settled)
        if required:
            return value
        return min(max(self._earliest(self._kept), value), self._earliest(self._left_out))

    def _earliest(self, settled: Callable[[int], bool]) -> int:
        """The smallest number of orders for which ``settled`` is true (monotonic); ``left + 1`` if there is none."""
        fewest = 0 if self.done else 1  # at least one candidate is needed
        return bisect_left(range(self.left + 1), True, lo=fewest, key=settled)

    def _value_settled(self, more: int) -> bool:
        """Whether the value is settled after ``more`` votes for the leader."""
        left = self.left - more
        if not left or self.safe + more > self.rival + left:
            return True
        leader = self.leader + more
        return _at_least(leader + 1, leader + self.runner_up + 1, 0.5) < self.level

    def _kept(self, more: int) -> bool:
        """Whether an optional key is certainly kept after ``more`` orders with it."""
        done, carrying, share = self.done + more, self.carrying + more, self.optional_share
        if carries_enough(carrying, self.done + self.left, share):
            return True
        return carries_enough(carrying, done, share) and _at_least(carrying + 1, done + 1, share) < self.level

    def _left_out(self, more: int) -> bool:
        """Whether an optional key is certainly left out after ``more`` orders without it."""
        done, share = self.done + more, self.optional_share
        if not carries_enough(self.carrying + self.left - more, self.done + self.left, share):
            return True
        if carries_enough(self.carrying, done, share):
            return False
        return _at_least(done - self.carrying + 1, done + 1, 1 - share) < self.level


def orders_needed(
    candidates: Sequence[CandidateCall],
    tool: ToolSpec,
    total: int,
    stopping: Stopping = "none",
    level: float = DEFAULT_STOPPING_LEVEL,
    optional_share: float = DEFAULT_OPTIONAL_SHARE,
    unfinished: Sequence[CandidateCall] = (),
) -> int:
    """The smallest number of further orders that can settle the vote; 0 if it is settled.

    This many orders settle it if they agree with each other and with the leading values; fewer never do. A decoder
    that never begins more than these therefore stops at the first order that settles the vote.

    ``exact``: a parameter is settled if its value leads by more votes than there are orders left; an optional key, if
    the remaining orders can no longer change whether it is kept. The voted name, arguments and validity are then those
    of all orders. ``posterior``: a parameter is also settled if the probability of a change is below ``level``, with a
    uniform prior. A change means that the value's true share is not above the runner-up's, given the votes of these
    two (Beta rule of Adaptive-Consistency), or that the true share of calls with the optional key is on the other side
    of ``optional_share``. Level 0 is the same as ``exact``. ``none``: all orders at once.

    Parameters
    ----------
    candidates : sequence of CandidateCall
        The candidates so far.
    total : int
        The number of all orders.
    level : float
        The level of ``posterior``, 0 to 0.5.
    optional_share : float
        As in ``merge``.
    unfinished : sequence of CandidateCall
        Orders that are being decoded, with the required values that they have so far. They count as further orders.
    """
    left = total - len(candidates)
    if left <= 0 or stopping == "none":
        return max(left, 0)
    level = level if stopping == "posterior" else 0.0
    further = [0 if candidates else 1]
    for spec in tool.parameters:
        begun = [call for call in unfinished if spec.required and any(v.key == spec.name for v in call.values)]
        votes = _votes([*candidates, *begun], tool, spec)
        vote = _Vote(len(candidates) + len(begun), left - len(begun), level, optional_share, *votes)
        further.append(len(begun) + vote.further(bool(spec.required)))
    return max(further)


def _votes(candidates: Sequence[CandidateCall], tool: ToolSpec, spec: ParameterSpec) -> tuple[int, int, int, int, int]:
    """The last five fields of ``_Vote``."""
    valid = [ballot for ballot in ballots_for(spec, tool, candidates) if ballot.reason is None]
    ended = [(vote_identity(ballot.value), ballot) for ballot in valid if not ballot.truncated]
    counts = Counter(identity for identity, _ in ended)
    spelled = {i for i, b in ended if has_one_spelling(b.value) or list(b.order) == sorted(b.order)}
    leader, runner_up, *_ = [*sorted(counts.values(), reverse=True), 0, 0]
    safe = max(spelled, key=counts.__getitem__, default=None)
    rival = max((count for identity, count in counts.items() if identity != safe), default=0)
    return len(valid), leader, runner_up, counts.get(safe, 0), rival


def _at_least(hits: int, trials: int, chance: float) -> float:
    """Probability of at least ``hits`` hits. Equal to P(X < chance) for X ~ Beta(hits, trials - hits + 1).

    Rounded to nine digits, so that a tie is exactly one half.
    """
    if not 0 < chance < 1:
        return float(chance >= 1)
    hit, miss, every = math.log(chance), math.log1p(-chance), math.lgamma(trials + 1)
    terms = (
        math.exp(every - math.lgamma(n + 1) - math.lgamma(trials - n + 1) + n * hit + (trials - n) * miss)
        for n in range(hits, trials + 1)
    )
    return round(math.fsum(terms), 9)
