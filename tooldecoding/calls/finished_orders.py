"""Decoded orders: their candidate calls, and the branch from which decoding goes on behind the vote."""

from lookup.dictionary import ToolSpec
from tooldecoding.calls.order_tree import Order
from tooldecoding.tokens.branch import Branch
from voting import CandidateCall, VotedCall, agrees, order_ranks


class FinishedOrders:
    """The decoded orders of one call.

    Parameters
    ----------
    keep_branches : bool
        Whether to keep a branch for each different call. Other branches are released when they finish.

    Attributes
    ----------
    candidates : dict
        The candidate call of each decoded order.
    """

    def __init__(self, spec: ToolSpec, keep_branches: bool) -> None:
        self._spec = spec
        self._keep_branches = keep_branches
        self._places = {p.name: place for place, p in enumerate(spec.parameters)}
        self._kept: dict[frozenset[tuple[str, str]], tuple[CandidateCall, Branch]] = {}
        self.candidates: dict[Order, CandidateCall] = {}

    def add(self, candidate: CandidateCall, branch: Branch) -> None:
        """Note a decoded order; of orders with the same values the branch nearest to documentation order is kept."""
        self.candidates[candidate.order] = candidate
        values = frozenset((v.key, v.text) for v in candidate.values)
        known = self._kept.get(values)
        if not self._keep_branches or (known and self._rank(known[0]) < self._rank(candidate)):
            branch.end()
            return
        self._kept[values] = candidate, branch
        if known:
            known[1].end()

    def branch_of(self, voted: VotedCall) -> Branch | None:
        """Return the kept branch of a candidate that agrees with the voted call, or None; releases all others.

        Of several the one nearest to documentation order is taken.
        """
        same = [kept for kept in self._kept.values() if agrees(kept[0], voted, self._spec)]
        own = min(same, key=lambda kept: self._rank(kept[0]))[1] if same else None
        for _, branch in self._kept.values():
            if branch is not own:
                branch.end()
        return own

    def _rank(self, candidate: CandidateCall) -> tuple[int, ...]:
        return order_ranks(candidate.order, self._places)
