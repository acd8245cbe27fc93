"""The majority vote over the candidate calls of one tool (paper, section 3.2)."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from lookup.dictionary import ParameterSpec, ToolSpec
from voting.call import CandidateCall, CandidateValue, VotedCall, VotedParameter
from voting.type_check import TypeCheckError, check_value, vote_identity


class Ballot(NamedTuple):
    """What a candidate gives for a parameter: its checked value, or the one that it wrote and why that is invalid."""

    value: Any
    logprob: float
    order: tuple[int, ...]
    truncated: bool
    tokens: int
    reason: str | None


DEFAULT_OPTIONAL_SHARE = 0.5
"""The majority rule."""


def merge(
    candidates: Sequence[CandidateCall], tool: ToolSpec, optional_share: float = DEFAULT_OPTIONAL_SHARE
) -> VotedCall:
    """Merge candidate calls into one, parameter by parameter.

    Values that fail the type check are dropped; the most frequent of the others wins. Ties are broken by the higher
    mean log-probability, then by the order nearest to documentation order. Values closed at the token limit count
    only if all values were. An optional key is kept if more than ``optional_share`` of the candidates have a valid
    value for it; at exactly that share it is left out. The result does not depend on the order of ``candidates``.

    ValueError if there are no candidates, or one of them calls another tool.
    """
    if not candidates:
        raise ValueError("nothing to merge: no candidate calls")
    for candidate in candidates:
        if candidate.name != tool.name:
            raise ValueError(f"cannot merge a call of {candidate.name!r} into one of {tool.name!r}")
    parameters: list[VotedParameter] = []
    errors: list[str] = []
    valid = True
    for spec in tool.parameters:
        written = _ballots_for(spec, tool, candidates)
        ballots = [ballot for ballot in written if ballot.reason is None]
        reasons = [ballot.reason for ballot in written if ballot.reason is not None]
        if not spec.required and not _carries_enough(len(ballots), len(candidates), optional_share):
            if _carries_enough(len(written), len(candidates), optional_share):
                carried = "most" if optional_share >= 0.5 else "enough"
                errors.append(
                    f"optional parameter {spec.name!r} of {tool.name} is left out: {carried} candidates carry it, "
                    f"but too few values pass the type check: {min(reasons)}"
                )
            continue
        if not ballots:
            valid = False
            detail = f"every value fails the type check: {min(reasons)}" if reasons else "no candidate gives a value"
            errors.append(f"required parameter {spec.name!r} of {tool.name}: {detail}")
            if not written:
                continue
        winner = _winner(spec.name, ballots or written, len(candidates))
        parameters.append(winner)
        if winner.truncated:
            errors.append(
                f"parameter {spec.name!r} of {tool.name}: the value did not end within the limit of tokens "
                "and was closed there"
            )
    if valid and tool.conditions is not None:
        try:
            tool.conditions.check({p.key: p.value for p in parameters})
        except ValueError as error:
            valid = False
            errors.append(f"the arguments of {tool.name} break its documentation: {error}")
    return VotedCall(tool.name, tuple(parameters), valid, tuple(errors), len(candidates))


def agrees(candidate: CandidateCall, voted: VotedCall, tool: ToolSpec) -> bool:
    """Whether a candidate has exactly the keys of the voted call, each with the voted value."""
    winners = {p.key: p for p in voted.parameters}
    return sorted(v.key for v in candidate.values) == sorted(winners) and all(
        carries(v, winners[v.key], tool.parameter(v.key)) for v in candidate.values
    )


def carries(value: CandidateValue, parameter: VotedParameter, spec: ParameterSpec) -> bool:
    """Whether a candidate's value is the voted value."""
    try:
        checked = check_value(value.value, spec)
    except TypeCheckError:
        checked = value.value  # if all values fail the check, the voted value is an unchecked one
    return vote_identity(checked) == vote_identity(parameter.value)


def _carries_enough(carrying: int, candidates: int, optional_share: float) -> bool:
    """Whether an optional key is kept if ``carrying`` of the candidates have a valid value for it."""
    # Divide rather than multiply: 7 / 10 is the float 0.7, but 10 * 0.7 may not be 7.
    return carrying / candidates > optional_share


def order_ranks(order: Sequence[str], rank: Mapping[str, int]) -> tuple[int, ...]:
    """The documented positions of an order's keys. A smaller tuple is nearer to documentation order."""
    return tuple(rank.get(key, len(rank)) for key in order)


def _ballots_for(spec: ParameterSpec, tool: ToolSpec, candidates: Sequence[CandidateCall]) -> list[Ballot]:
    """What the candidates give for a parameter, valid or not, in their sequence."""
    rank = {known.name: i for i, known in enumerate(tool.parameters)}
    ballots = []
    for candidate in candidates:
        for written in candidate.values:
            if written.key == spec.name:
                value, reason = written.value, None
                try:
                    value = check_value(value, spec)
                except TypeCheckError as error:
                    reason = str(error)
                order = order_ranks(candidate.order, rank)
                ballots.append(Ballot(value, written.logprob, order, written.truncated, written.tokens, reason))
    return ballots


def _winner(key: str, ballots: list[Ballot], candidates: int) -> VotedParameter:
    ended = [b for b in ballots if not b.truncated]
    groups: dict[Hashable, list[Ballot]] = {}
    for ballot in ended or ballots:
        groups.setdefault(vote_identity(ballot.value), []).append(ballot)
    # Sum in sorted order, so that rounding does not depend on the order of the candidates.
    means = {k: sum(sorted(b.logprob for b in g)) / len(g) for k, g in groups.items()}
    ranked = sorted(groups, key=lambda k: (-len(groups[k]), -means[k], min(b.order for b in groups[k])))

    def voted(identity: Hashable, runner_up: VotedParameter | None = None) -> VotedParameter:
        group = groups[identity]
        chosen, share = min(group, key=lambda b: b.order), len(group) / candidates
        tokens = sum(b.tokens for b in group) / len(group)
        return VotedParameter(key, chosen.value, len(group), share, means[identity], not ended, runner_up, tokens)

    return voted(ranked[0], *map(voted, ranked[1:2]))
