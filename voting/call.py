"""Calls as data: what one order gives (a candidate) and what the vote makes of all of them."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CandidateValue:
    """One value that one order wrote.

    Attributes
    ----------
    key : str
    value : object
        The Python value read from the literal.
    text : str
        The literal as written.
    logprob : float
        Mean natural log-probability of the tokens that the model chose for it; 0.0 if it chose none.
    truncated : bool
        The value reached the limit of tokens and was closed there.
    """

    key: str
    value: Any
    text: str
    logprob: float
    truncated: bool = False


@dataclass(frozen=True)
class CandidateCall:
    """The call that one order of the required keys gave.

    Attributes
    ----------
    name : str
        Tool name.
    order : tuple of str
        The order in which the required keys were injected.
    values : tuple of CandidateValue
        Values as written: required keys in ``order``, then the optional ones.
    text : str
        The call as written, ``Name(key=value)``.
    token_ids : tuple of int
        Tokens whose texts join to ``text``.
    """

    name: str
    order: tuple[str, ...]
    values: tuple[CandidateValue, ...]
    text: str = ""
    token_ids: tuple[int, ...] = ()


@dataclass(frozen=True)
class VotedParameter:
    """The winner of one parameter.

    Attributes
    ----------
    votes : int
        Candidates that wrote this value (or one equal to it).
    share : float
        ``votes`` divided by the number of all candidates, in (0, 1].
    logprob : float
        Mean of the log-probabilities of the candidates that wrote it.
    truncated : bool
        No candidate ended a valid value by itself: the winner was closed at the limit of tokens.
    """

    key: str
    value: Any
    votes: int
    share: float
    logprob: float
    truncated: bool = False


@dataclass(frozen=True)
class VotedCall:
    """The merged call; parameters stand in documentation order.

    ``valid`` says that every required key carries a value of its type. A key without one keeps its
    most frequent value, and ``errors`` names it. A truncated value is named there too.
    """

    name: str
    parameters: tuple[VotedParameter, ...]
    valid: bool
    errors: tuple[str, ...]
    candidates: int

    @property
    def arguments(self) -> dict[str, Any]:
        """Key -> value, in documentation order."""
        return {p.key: p.value for p in self.parameters}
