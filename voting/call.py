"""Calls as data: the candidate call of each order, and the voted call."""

import math
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class CandidateValue:
    """A value in a candidate call.

    Attributes
    ----------
    value : object
        The Python value of the literal.
    text : str
        The literal as written.
    logprob : float
        Mean natural log-probability of the tokens that the model chose; 0.0 if it chose none.
    truncated : bool
        Whether the value is cut: the model did not write it to its end. ``value`` is then what is whole of it, such as
        the whole items of a list.
    tokens : int
        How many tokens the model chose; at least 1.
    why : str
        Why the value is cut; empty for the limit of tokens.
    """

    key: str
    value: Any
    text: str
    logprob: float
    truncated: bool = False
    tokens: int = 1
    why: str = ""

    @property
    def is_lost(self) -> bool:
        """Whether nothing of a cut value is whole: half a number is another number."""
        return self.truncated and not self.text


AT_LIMIT: Final = "the value did not end within the limit of tokens and is cut there"
"""Why a value is cut if it does not say."""
STOPPED: Final = "its order could no longer change the vote"
"""Why the last value of an order that was not decoded to its end is cut."""


@dataclass(frozen=True)
class CandidateCall:
    """The call decoded with one order of the required keys.

    Attributes
    ----------
    name : str
        Tool name.
    order : tuple of str
        The order in which the required keys were injected.
    values : tuple of CandidateValue
        Values as written: required keys in ``order``, then optional keys.
    text : str
        The call as written, ``Name(key=value)``.
    token_ids : tuple of int
        The tokens behind the prompt up to the end of ``text``.
    labels : tuple of str
        How each of them came about: ``forced``, ``constrained`` or ``free``.
    """

    name: str
    order: tuple[str, ...]
    values: tuple[CandidateValue, ...]
    text: str = ""
    token_ids: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def is_stopped(self) -> bool:
        """Whether the order was stopped before its end, so that later keys have no value in it."""
        return bool(self.values) and self.values[-1].why == STOPPED


@dataclass(frozen=True)
class VotedParameter:
    """The winning value of one parameter.

    Attributes
    ----------
    votes : int
        The number of candidates with this value or an equal one.
    share : float
        ``votes`` divided by the number of all candidates that came to this key, in (0, 1].
    logprob : float
        Mean log-probability of the value over these candidates.
    truncated : bool
        Whether every valid value, including the winner, was cut.
    runner_up : VotedParameter or None
        The value that would have won without this one, if any candidate has another.
    tokens : float
        Mean number of its tokens over these candidates.
    """

    key: str
    value: Any
    votes: int
    share: float
    logprob: float
    truncated: bool = False
    runner_up: "VotedParameter | None" = None
    tokens: float = 1.0

    @property
    def score(self) -> float:
        """In [0, 1]: ``share * exp(logprob * sqrt(tokens))``. It ranks values, but is not a probability.

        Without the root a wrong word in a long value hardly counts; with all tokens no long text would be sure
        (docs/votes.md).
        """
        return min(1.0, self.share * math.exp(min(0.0, self.logprob) * math.sqrt(self.tokens)))


@dataclass(frozen=True)
class VotedCall:
    """The merged call. Parameters are in documentation order.

    ``valid`` is true if every required key has a value of its type, and no value is cut. A key without such a value
    keeps its most frequent one and is named in ``errors``.

    Attributes
    ----------
    cut : tuple of str
        The keys of values that the model did not write to their ends. Of some nothing is whole: they are no parameters.
    """

    name: str
    parameters: tuple[VotedParameter, ...]
    valid: bool
    errors: tuple[str, ...]
    candidates: int
    cut: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """The product of the scores of the parameters."""
        return math.prod(p.score for p in self.parameters)

    @property
    def arguments(self) -> dict[str, Any]:
        """Key -> value, in documentation order."""
        return {p.key: p.value for p in self.parameters}
