"""A decoded call, what the vote made of its candidates, and what is certain while a prompt is decoded."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from inspect import BoundArguments
from typing import Any, Literal, NamedTuple

from lookup.schema.equality import identity
from tooldecoding.decoding.bound_call import bind
from tooldecoding.decoding.calibration import ARGUMENT, USUAL, Calibration
from tooldecoding.formats.thinking import NO_ANSWER, Answer
from tooldecoding.grounding.grounding import Grounding
from voting import CandidateCall, VotedCall, VotedParameter


@dataclass(frozen=True, repr=False)
class DecodedCall:
    """A call with the vote behind it: ``call.name``, ``call.arguments["city"]``, ``call.confidence("city")``.

    Attributes
    ----------
    voted : VotedCall
        The call with the votes for each parameter.
    candidates : tuple of CandidateCall
        One for each decoded order.
    min_confidence : float, optional
        A call below it needs confirmation, and so does each argument below it.
    groundings : tuple of Grounding, or None
        Where each of ``voted.parameters`` was said; None if nobody knows who said what.
    ungrounded : tuple of str
        The required arguments that nobody said, or what of them, such as ``period.start``.
    left_out : tuple of VotedParameter
        The optional arguments that were voted and left out, because nobody said them.
    not_offered : tuple of str
        The optional keys of which nobody said any value: the model could not choose them.
    name_confidence : float or None
        The probability of the name among those of all tools, in [0, 1]; None if the model wrote it within free text.
    calibration : Calibration
        What makes the probability of being right of the call's score.
    """

    voted: VotedCall
    candidates: tuple[CandidateCall, ...]
    min_confidence: float | None = None
    groundings: tuple[Grounding, ...] | None = None
    ungrounded: tuple[str, ...] = ()
    left_out: tuple[VotedParameter, ...] = ()
    not_offered: tuple[str, ...] = ()
    name_confidence: float | None = None
    calibration: Calibration = USUAL

    @property
    def name(self) -> str:
        """Name of the tool."""
        return self.voted.name

    @property
    def arguments(self) -> dict[str, Any]:
        """Key -> Python value, in documentation order."""
        return self.voted.arguments

    @property
    def cut(self) -> bool:
        """Whether a value was not written to its end; ``voted.cut`` names the keys. Such a call is not valid."""
        return bool(self.voted.cut)

    @property
    def identity(self) -> Hashable:
        """A key that is equal for calls of the same tool with equal arguments, in any sequence."""
        return self.name, identity(self.arguments)

    @property
    def as_decoded(self) -> Hashable:
        """As ``identity``, with what was left out."""
        return self.name, identity(self.arguments | {p.key: p.value for p in self.left_out})

    @property
    def is_ungrounded(self) -> bool:
        """Whether the conversation says no argument in whole, and the model may not work out all of them itself."""
        return bool(self.ungrounded) and all(grounding.missing for grounding in self.groundings or ())

    @property
    def confidences(self) -> tuple[float, ...]:
        """The probability that each of ``voted.parameters`` is right, in [0, 1]."""
        return tuple(ARGUMENT.probability(p.score) for p in self.voted.parameters)

    @property
    def score(self) -> float:
        """The product of the scores of the arguments and of ``name_confidence``, in [0, 1]; ranks calls."""
        return self.voted.score if self.name_confidence is None else self.name_confidence * self.voted.score

    def confidence(self, key: str | None = None) -> float:
        """Return the probability that the call is right, or the value of a key, in [0, 1].

        It is a probability only as far as ``calibration`` was fitted to calls of the same kind (``tooldecoding tune``).
        KeyError if the call does not have the key.
        """
        if key is None:
            return self.calibration.probability(self.score)
        return dict(zip(self.arguments, self.confidences, strict=True))[key]

    def bind(self, function: Callable[..., Any]) -> BoundArguments:
        """Return the arguments in the types of a function's hints: ``function(*bound.args, **bound.kwargs)`` calls it.

        A date, an enum, a dataclass or a pydantic model is made of its JSON; kinds of JSON do not change into others.
        The function may be a dataclass, a ``TypedDict`` or a pydantic model: the call makes one of it.

        BindError, which names the key, if a value does not fit its hint, one is missing, or the function takes
        none of this name; DocumentationError if it cannot be a tool.
        """
        return bind(function, self.arguments)

    def shown(self, show: Callable[[str], str]) -> "DecodedCall":
        """Return this call with the texts of its candidates as users see them."""
        return replace(self, candidates=tuple(_shown(candidate, show) for candidate in self.candidates))

    @property
    def is_unsure(self) -> bool:
        """Whether the call is below ``min_confidence``."""
        return self.min_confidence is not None and self.confidence() < self.min_confidence

    @property
    def doubts_tool(self) -> bool:
        """Whether the name is less sure than each argument."""
        least = min((p.score for p in self.voted.parameters), default=1.0)
        return self.name_confidence is not None and self.name_confidence < least

    @property
    def needs_confirmation(self) -> tuple[bool, ...]:
        """Whether each of ``voted.parameters`` is below ``min_confidence``, in an unsure call at least one."""
        most = self.min_confidence if self.min_confidence is not None else 0.0
        if self.is_unsure and min(self.confidences, default=0.0) >= most:
            return tuple(c == min(self.confidences) for c in self.confidences)
        return tuple(c < most for c in self.confidences)

    def __str__(self) -> str:
        pairs = ", ".join(f"{key}={value!r}" for key, value in self.arguments.items())
        return f"{self.name}({pairs})"

    def __repr__(self) -> str:
        return f"<DecodedCall {self}, {len(self.candidates)} orders>"


def _shown(candidate: CandidateCall, show: Callable[[str], str]) -> CandidateCall:
    values = tuple(replace(value, text=show(value.text)) for value in candidate.values)
    return replace(candidate, text=show(candidate.text), values=values)


class TextPiece(NamedTuple):
    """A piece of what the model writes; the pieces of a kind add up to ``DecodeResult.thinking`` and ``content``."""

    kind: Literal["thinking", "content"]
    text: str


class ResultStream:
    """Turns an answer that grows, and calls behind it, into what is new."""

    def __init__(self) -> None:
        self._answer = self._given = NO_ANSWER
        self._calls: list[DecodedCall] = []

    def show(self, answer: Answer) -> None:
        """Note the answer so far."""
        self._answer = answer

    def voted(self, call: DecodedCall) -> None:
        """Note a call."""
        self._calls.append(call)

    def take(self) -> Iterator[TextPiece | DecodedCall]:
        """Yield what is new."""
        thinking, content = self._answer
        if thinking.startswith(self._given.thinking) and thinking != self._given.thinking:
            yield TextPiece("thinking", thinking[len(self._given.thinking) :])
            self._given = self._given._replace(thinking=thinking)
        if content.startswith(self._given.content) and content != self._given.content:
            yield TextPiece("content", content[len(self._given.content) :])
            self._given = self._given._replace(content=content)
        while self._calls:
            yield self._calls.pop(0)
