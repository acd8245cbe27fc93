"""When a vote is settled before all orders are decoded, and how many further orders that takes at least."""

import math
from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from typing import Literal, NamedTuple

from lookup.dictionary import ParameterSpec, ToolSpec
from voting.call import CandidateCall
from voting.merge import DEFAULT_OPTIONAL_SHARE, carries_enough, order_ranks
from voting.type_check import TypeCheckError, check_value, has_one_spelling, vote_identity

Stopping = Literal["none", "exact", "posterior"]

DEFAULT_STOPPING_LEVEL = 0.05
"""One minus the threshold of Adaptive-Consistency (Aggarwal et al. 2023), 0.95."""


class _Votes(NamedTuple):
    """How the vote of one parameter stands. Only values count that ended by themselves, as in ``merge``.

    ``safe`` is the largest number of votes of a value that no further vote can spell differently, 0 where there is
    none yet, and ``rival`` the largest one of the other values.
    """

    carrying: int
    leader: int
    runner_up: int
    safe: int
    rival: int


def orders_needed(
    candidates: Sequence[CandidateCall],
    tool: ToolSpec,
    total: int,
    stopping: Stopping = "none",
    level: float = DEFAULT_STOPPING_LEVEL,
    optional_share: float = DEFAULT_OPTIONAL_SHARE,
) -> int:
    """How many further orders must be decoded at least until the vote can be settled; 0 where it is settled.

    That many settle it if they agree with one another and with the leading values; fewer never do, whatever they
    say. So a call that decodes in rounds of this size stops at the first order that settles it.

    ``exact``: a parameter is settled when its value leads by more votes than there are orders left, and an optional
    key when the orders left can neither bring it in nor out. The voted name, arguments and validity are those of
    all orders, whatever these would have said. ``posterior``: it is also settled when the probability of a change
    is below ``level``, with a uniform prior: that the value's true share is not above the runner-up's, given only
    the votes of these two (Beta rule of Adaptive-Consistency), or that the true share of calls with the optional
    key lies on the other side of ``optional_share``. At level 0 this is ``exact``. ``none``: all orders at once.

    Parameters
    ----------
    candidates : sequence of CandidateCall
        The candidates so far.
    total : int
        Number of orders that there are.
    level : float
        0 to 0.5, of ``posterior``.
    optional_share : float
        As in ``merge``.
    """
    left = total - len(candidates)
    if left <= 0 or stopping == "none":
        return max(left, 0)
    vote = _Vote(len(candidates), left, level if stopping == "posterior" else 0.0, optional_share)
    further = [vote.further(_count(candidates, tool, spec), bool(spec.required)) for spec in tool.parameters]
    return max(further, default=vote.fewest)


class _Vote(NamedTuple):
    """``done`` candidates are there, ``left`` are not."""

    done: int
    left: int
    level: float
    optional_share: float

    @property
    def fewest(self) -> int:
        """Further orders without which nothing is settled: there is no vote without a candidate."""
        return 0 if self.done else 1

    def further(self, votes: _Votes, required: bool) -> int:
        """Orders after which a parameter can be settled at the earliest."""
        value = self._earliest(lambda more: self._value_settled(votes, more))
        if required:
            return value
        kept = self._earliest(lambda more: self._kept(votes.carrying, more))
        return min(max(kept, value), self._earliest(lambda more: self._left_out(votes.carrying, more)))

    def _earliest(self, settled: Callable[[int], bool]) -> int:
        """The fewest orders that settle something, of which more never do worse; ``left + 1`` if all do not."""
        return bisect_left(range(self.left + 1), True, lo=self.fewest, key=settled)

    def _value_settled(self, votes: _Votes, more: int) -> bool:
        """Whether the value is settled if ``more`` orders vote for the leader."""
        left = self.left - more
        if not left or votes.safe + more > votes.rival + left:
            return True
        leader, runner_up = votes.leader + more, votes.runner_up
        return _at_least(leader + 1, leader + runner_up + 1, 0.5) < self.level

    def _kept(self, carrying: int, more: int) -> bool:
        """Whether an optional key is settled as kept if ``more`` orders carry it."""
        done, share = self.done + more, self.optional_share
        carrying += more
        if carries_enough(carrying, self.done + self.left, share):
            return True
        return carries_enough(carrying, done, share) and _at_least(carrying + 1, done + 1, share) < self.level

    def _left_out(self, carrying: int, more: int) -> bool:
        """Whether an optional key is settled as left out if ``more`` orders lack it."""
        done, share = self.done + more, self.optional_share
        if not carries_enough(carrying + self.left - more, self.done + self.left, share):
            return True
        lacking = done - carrying
        return not carries_enough(carrying, done, share) and _at_least(lacking + 1, done + 1, 1 - share) < self.level


def _count(candidates: Sequence[CandidateCall], tool: ToolSpec, spec: ParameterSpec) -> _Votes:
    rank = {known.name: i for i, known in enumerate(tool.parameters)}
    carrying = 0
    counts: dict[Hashable, int] = {}
    spelled: set[Hashable] = set()
    for candidate in candidates:
        for value in candidate.values:
            if value.key != spec.name:
                continue
            try:
                checked = check_value(value.value, spec)
            except TypeCheckError:
                continue
            carrying += 1
            if value.truncated:
                continue
            identity = vote_identity(checked)
            counts[identity] = counts.get(identity, 0) + 1
            order = order_ranks(candidate.order, rank)
            if has_one_spelling(checked) or list(order) == sorted(order):
                spelled.add(identity)
    leader, runner_up, *_ = [*sorted(counts.values(), reverse=True), 0, 0]
    safe = max(spelled, key=counts.__getitem__, default=None)
    rival = max((count for identity, count in counts.items() if identity != safe), default=0)
    return _Votes(carrying, leader, runner_up, counts.get(safe, 0), rival)


def _at_least(hits: int, trials: int, chance: float) -> float:
    """Probability of so many hits or more. It is that of a Beta(hits, trials - hits + 1) variable below ``chance``.

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
