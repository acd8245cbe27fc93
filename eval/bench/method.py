"""The interface of a decoding method that the bench measures, and the cost of one run."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import torch

from eval.errors import EvalError


@dataclass(frozen=True)
class Run:
    """The cost of one run.

    Attributes
    ----------
    decode, total : float
        Seconds after the prompt's forward pass, and of the whole run; both without the teacher's time.
    outside : float, optional
        Seconds of ``decode`` outside of forward passes and output layer; None if passes were not timed.
    longest : float, optional
        Seconds of the longest such stretch between two passes.
    constraint : float, optional
        Seconds of the constraint: for Tool Decoding all of ``outside``, for the others the time in their logits
        processor.
    teacher : float
        Seconds of the teacher.
    passes : int
        Forward passes of the prompt that takes part in the most.
    model_calls : int
        Forward passes of all prompts together.
    positions, padding : int
        Token positions computed for prompts and calls, and for padding.
    written : int
        Tokens of the calls. Tool Decoding counts those of all orders, shared ones once.
    cache_bytes : int
        KV cache of all prompts.
    """

    decode: float
    total: float
    outside: float | None
    longest: float | None
    constraint: float | None
    teacher: float
    passes: int
    model_calls: int
    positions: int
    padding: int
    written: int
    cache_bytes: int

    def outside_us(self) -> float | None:
        """Microseconds outside of the model per pass, the prompt's not counted."""
        return None if self.outside is None else 1e6 * self.outside / max(1, self.passes - 1)

    def constraint_us(self) -> float | None:
        """Microseconds of the constraint per written token."""
        return None if self.constraint is None else 1e6 * self.constraint / max(1, self.written)

    def longest_ms(self) -> float | None:
        """Milliseconds of the longest stretch between two passes."""
        return None if self.longest is None else 1e3 * self.longest

    def to_json(self) -> dict[str, Any]:
        """Return all figures by name."""
        return asdict(self)


Figure = Callable[[Run], float | None]


class Method(Protocol):
    """A decoding method."""

    name: str
    formula: int | None
    """Forward passes by the formula, if the method has one."""
    preparation: Mapping[str, float]
    """Seconds by what was prepared once, before all runs."""
    more_tokens: int
    """Tokens of all calls in addition to the tokenizer's own."""

    @property
    def device(self) -> torch.device:
        """Where it runs."""

    def run(self, every_pass: bool) -> Run:
        """Decode all prompts together, once."""


def require_same(method: str, wanted: Any, written: Any) -> None:
    """Raise EvalError if a method has not written the wanted call."""
    if wanted != written:
        raise EvalError(f"{method} has not written the wanted call: expected {wanted!r}, got {written!r}")
