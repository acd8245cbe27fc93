"""Early stopping: whether a vote is settled before all orders are decoded, and how many more orders it needs."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from lookup.dictionary import ParameterSpec, ToolSpec
from voting.call import CandidateCall
from voting.merge import DEFAULT_OPTIONAL_SHARE, ballots_for, carries_enough
from voting.type_check import has_one_spelling, vote_identity

Stopping = Literal["none", "exact"]


class _Vote(NamedTuple):
    """The vote over one parameter, without truncated values, as in ``merge``.

    Attributes
    ----------
    done, left : int
        Candidates so far, and those that are still to come.
    carrying : int
        Candidates with a valid value.
    safe : int
        Votes of the most frequent value whose spelling cannot change any more; 0 if there is none.
    rival : int
        Votes of the most frequent other value.
    """

    done: int
    left: int
    optional_share: float
    carrying: int
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
        return not left or self.safe + more > self.rival + left

    def _kept(self, more: int) -> bool:
        """Whether an optional key is certainly kept after ``more`` orders with it."""
        return carries_enough(self.carrying + more, self.done + self.left, self.optional_share)

    def _left_out(self, more: int) -> bool:
        """Whether an optional key is certainly left out after ``more`` orders without it."""
        return not carries_enough(self.carrying + self.left - more, self.done + self.left, self.optional_share)


def orders_needed(
    candidates: Sequence[CandidateCall],
    tool: ToolSpec,
    total: int,
    stopping: Stopping = "none",
    optional_share: float = DEFAULT_OPTIONAL_SHARE,
    unfinished: Sequence[CandidateCall] = (),
) -> int:
    """The smallest number of further orders that can settle the vote; 0 if it is settled.

    This many orders settle it if they agree with each other and with the leading values; fewer never do. A decoder
    that never begins more than these therefore stops at the first order that settles the vote.

    ``exact``: a parameter is settled if its value leads by more votes than there are orders left; an optional key, if
    the remaining orders can no longer change whether it is kept. The voted name, arguments and validity are then those
    of all orders. ``none``: all orders at once.

    Parameters
    ----------
    candidates : sequence of CandidateCall
        The candidates so far.
    total : int
        The number of all orders.
    optional_share : float
        As in ``merge``.
    unfinished : sequence of CandidateCall
        Orders that are being decoded, with the required values that they have so far. They count as further orders.
    """
    left = total - len(candidates)
    if left <= 0 or stopping == "none":
        return max(left, 0)
    further = [0 if candidates else 1]
    for spec in tool.parameters:
        begun = [call for call in unfinished if spec.required and any(v.key == spec.name for v in call.values)]
        votes = _votes([*candidates, *begun], tool, spec)
        vote = _Vote(len(candidates) + len(begun), left - len(begun), optional_share, *votes)
        further.append(len(begun) + vote.further(bool(spec.required)))
    return max(further)


def _votes(candidates: Sequence[CandidateCall], tool: ToolSpec, spec: ParameterSpec) -> tuple[int, int, int]:
    """The last three fields of ``_Vote``."""
    valid = [ballot for ballot in ballots_for(spec, tool, candidates) if ballot.reason is None]
    ended = [(vote_identity(ballot.value), ballot) for ballot in valid if not ballot.truncated]
    counts = Counter(identity for identity, _ in ended)
    spelled = {i for i, b in ended if has_one_spelling(b.value) or list(b.order) == sorted(b.order)}
    safe = max(spelled, key=counts.__getitem__, default=None)
    rival = max((count for identity, count in counts.items() if identity != safe), default=0)
    return len(valid), counts.get(safe, 0), rival
