"""The majority vote over the candidate calls of one tool (paper, section 3.2)."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from lookup.dictionary import ParameterSpec, ToolSpec
from voting.call import AT_LIMIT, STOPPED, CandidateCall, CandidateValue, VotedCall, VotedParameter
from voting.type_check import TypeCheckError, check_value, spelled_alike, vote_identity


class Ballot(NamedTuple):
    """What a candidate gives for a parameter: its checked value, or the one that it wrote and why that is invalid.

    ``cut`` says why the value is cut, if it is. ``given`` is what is given for the value: 3 where it counts as 3.0.
    """

    value: Any
    given: Any
    logprob: float
    order: tuple[int, ...]
    cut: str
    tokens: int
    reason: str | None


DEFAULT_OPTIONAL_SHARE = 0.5
"""The majority rule."""


def merge(
    candidates: Sequence[CandidateCall], tool: ToolSpec, optional_share: float = DEFAULT_OPTIONAL_SHARE
) -> VotedCall:
    """Merge candidate calls into one, parameter by parameter.

    Values that fail the type check are dropped; the most frequent of the others wins. Free texts that differ in case
    and white space alone are one value, in its most frequent spelling. Ties are broken by the higher
    mean log-probability, then by the order nearest to documentation order. Cut values count only if all values were
    cut, and the call is then not valid. An optional key is kept if more than ``optional_share`` of the candidates that
    came to it have a valid value for it; at exactly that share it is left out. The result does not depend on the order
    of ``candidates``.

    ValueError if there are no candidates, or one of them calls another tool.
    """
    if not candidates:
        raise ValueError("nothing to merge: no candidate calls")
    for candidate in candidates:
        if candidate.name != tool.name:
            raise ValueError(f"cannot merge a call of {candidate.name!r} into one of {tool.name!r}")
    parameters: list[VotedParameter] = []
    errors: list[str] = []
    cut: list[str] = []
    valid = True
    for spec in tool.parameters:
        came, whole, lost = _ballots_for(spec, tool, candidates)
        ballots = [ballot for ballot in whole if ballot.reason is None]
        reasons = [ballot.reason for ballot in whole if ballot.reason is not None]
        about = f"{spec.name!r} of {tool.name}"
        if not spec.required and not _carries_enough(len(ballots) + len(lost), came, optional_share):
            if _carries_enough(len(whole) + len(lost), came, optional_share):
                carried = "most" if optional_share >= 0.5 else "enough"
                errors.append(
                    f"optional parameter {about} is left out: {carried} candidates carry it, "
                    f"but too few values pass the type check: {min(reasons)}"
                )
            continue
        if not ballots and (lost or not spec.required):
            valid = False
            cut.append(spec.name)
            errors.append(f"parameter {about}: {min(lost)}; nothing of it is whole")
            continue
        if not ballots:
            valid = False
            detail = f"every value fails the type check: {min(reasons)}" if reasons else "no candidate gives a value"
            errors.append(f"required parameter {about}: {detail}")
            if not whole:
                continue
        winner, why = _winner(spec, ballots or whole, came)
        parameters.append(winner)
        if winner.truncated:
            valid = False
            cut.append(spec.name)
            errors.append(f"parameter {about}: {why}")
    if valid and tool.conditions is not None:
        try:
            tool.conditions.check({p.key: p.value for p in parameters})
        except ValueError as error:
            valid = False
            errors.append(f"the arguments of {tool.name} break its documentation: {error}")
    return VotedCall(tool.name, tuple(parameters), valid, tuple(errors), len(candidates), tuple(cut))


def agrees(candidate: CandidateCall, voted: VotedCall, tool: ToolSpec) -> bool:
    """Whether a candidate has exactly the keys of the voted call, each with the voted value."""
    winners = {p.key: p for p in voted.parameters}
    return sorted(v.key for v in candidate.values) == sorted(winners) and all(
        carries(v, winners[v.key], tool.parameter(v.key)) for v in candidate.values
    )


def carries(value: CandidateValue, parameter: VotedParameter, spec: ParameterSpec) -> bool:
    """Whether a candidate's value is the voted value."""
    return vote_identity(_checked(value.value, spec)) == vote_identity(_checked(parameter.value, spec))


def _checked(value: Any, spec: ParameterSpec) -> Any:
    """The value in its type; as it is if it has another: if all values fail the check, the voted one does."""
    try:
        return check_value(value, spec)
    except TypeCheckError:
        return value


def _carries_enough(carrying: int, candidates: int, optional_share: float) -> bool:
    """Whether an optional key is kept if ``carrying`` of the candidates have a valid value for it."""
    # Divide rather than multiply: 7 / 10 is the float 0.7, but 10 * 0.7 may not be 7.
    return carrying / candidates > optional_share


def order_ranks(order: Sequence[str], rank: Mapping[str, int]) -> tuple[int, ...]:
    """The documented positions of an order's keys. A smaller tuple is nearer to documentation order."""
    return tuple(rank.get(key, len(rank)) for key in order)


def _ballots_for(
    spec: ParameterSpec, tool: ToolSpec, candidates: Sequence[CandidateCall]
) -> tuple[int, list[Ballot], list[str]]:
    """How many candidates came to a parameter, what they give for it, valid or not, and why the others give nothing."""
    rank = {known.name: i for i, known in enumerate(tool.parameters)}
    came, ballots, lost = 0, [], []
    for candidate in candidates:
        own = [value for value in candidate.values if value.key == spec.name]
        came += bool(own) or not candidate.is_stopped
        for written in own:
            cut = (written.why or AT_LIMIT) if written.truncated else ""
            if written.is_lost:
                lost += [cut] if cut != STOPPED else []
                continue
            value, reason = written.value, None
            try:
                value = check_value(value, spec)
            except TypeCheckError as error:
                reason = str(error)
                if cut:  # half a list is no text
                    lost.append(cut)
                    continue
            order = order_ranks(candidate.order, rank)
            given = written.value if written.value == value else value  # a number that is written 3 stays 3
            ballots.append(Ballot(value, given, written.logprob, order, cut, written.tokens, reason))
    return came, ballots, lost


def _winner(spec: ParameterSpec, ballots: list[Ballot], candidates: int) -> tuple[VotedParameter, str]:
    """The winning value, and why it is cut, if it is."""
    ended = [b for b in ballots if not b.cut]
    ranked = _ranked(ended or ballots, lambda ballot: spelled_alike(ballot.value, spec))

    def voted(group: list[Ballot], runner_up: VotedParameter | None = None) -> VotedParameter:
        spelling, share = _ranked(group, lambda ballot: vote_identity(ballot.value))[0], len(group) / candidates
        chosen, tokens = min(spelling, key=lambda b: b.order), sum(b.tokens for b in group) / len(group)
        mean = _mean_logprob(group)
        return VotedParameter(spec.name, chosen.given, len(group), share, mean, not ended, runner_up, tokens)

    return voted(ranked[0], *map(voted, ranked[1:2])), min(b.cut for b in ranked[0])


def _ranked(ballots: list[Ballot], key: Callable[[Ballot], Hashable]) -> list[list[Ballot]]:
    """The ballots in groups of one key each, the group that wins first."""
    groups: dict[Hashable, list[Ballot]] = {}
    for ballot in ballots:
        groups.setdefault(key(ballot), []).append(ballot)
    # what differs by rounding alone, as between two ways of running a model, is a tie
    return sorted(groups.values(), key=lambda g: (-len(g), -round(_mean_logprob(g), 3), min(b.order for b in g)))


def _mean_logprob(ballots: list[Ballot]) -> float:
    """Their mean; summed in sorted order, so that rounding does not depend on the order of the candidates."""
    return sum(sorted(b.logprob for b in ballots)) / len(ballots)


def is_settled(
    candidates: Sequence[CandidateCall],
    coming: int,
    tool: ToolSpec,
    optional_share: float = DEFAULT_OPTIONAL_SHARE,
) -> bool:
    """Whether ``coming`` further candidates, whatever they are, change nothing of the merged call but the shares.

    Three orders of four have ``city="Rome"``, whole and of its type: the fourth has one vote. Two of four may still
    lose to two others.
    """
    for spec in tool.parameters:
        came, ballots, lost = _ballots_for(spec, tool, candidates)
        if lost:
            return False
        whole = [b for b in ballots if b.reason is None and not b.cut]
        alike = Counter(spelled_alike(b.value, spec) for b in whole)
        first = next(iter(alike.most_common(1)), (None, 0))[0]
        spelled = Counter(vote_identity(b.value) for b in whole if spelled_alike(b.value, spec) == first)
        valid = sum(b.reason is None for b in ballots)
        if not spec.required and not _carries_enough(valid + coming, came + coming, optional_share):
            # what most candidates carry with a wrong type is told in an error
            if _carries_enough(len(ballots) + coming, came + coming, optional_share):
                return False
            continue
        if not spec.required and not _carries_enough(valid, came + coming, optional_share):
            return False
        if min(map(_lead, (alike, spelled))) <= coming:
            return False
    return True


def _lead(votes: Counter[Hashable]) -> int:
    """How many votes more the first has than the second."""
    counts = [*(count for _, count in votes.most_common(2)), 0, 0]
    return counts[0] - counts[1]
