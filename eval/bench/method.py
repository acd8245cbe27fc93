"""What a way to decode is to the bench, and what one run of it took."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from eval.errors import EvalError


@dataclass(frozen=True)
class Run:
    """What one run took.

    Attributes
    ----------
    decode, total : float
        Seconds behind the prompt's pass, and all in all; the teacher's are in neither.
    outside : float, optional
        Seconds of the decode outside of the model's forward passes and head.
    longest : float, optional
        Seconds of the longest stretch of them, between two passes.
    constraint : float, optional
        Seconds that the constraint took of them: all of ``outside`` for Tool Decoding, the time in the logits
        processor for the others.
    teacher : float
        Seconds of the teacher.
    passes : int
        Forward passes in which the prompt with the most of them took part.
    model_calls : int
        Forward passes of all prompts together.
    positions, padding : int
        Token positions computed for prompts and calls, and for nothing.
    written : int
        Tokens of the calls; with Tool Decoding those of all orders, shared ones once.
    cache_bytes : int
        Of the KV cache, all prompts together.
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

    def to_json(self) -> dict[str, Any]:
        """All figures by name."""
        return dict(self.__dict__)


class Method(Protocol):
    """A way to decode."""

    name: str
    formula: int | None
    """Passes that the formula says, for methods that have one."""
    preparation: Mapping[str, float]
    """Seconds by what was done once, before all runs."""
    more_tokens: int
    """Tokens of all calls beyond those of the tokenizer."""

    @property
    def device(self) -> torch.device:
        """Where it runs."""

    def run(self, every_pass: bool) -> Run:
        """Decode all prompts together, once."""

    def cache_estimate(self) -> int:
        """Bytes of the KV cache, about."""


def demand_same(method: str, wanted: Any, written: Any) -> None:
    """EvalError if a method has not written what was wanted."""
    if wanted != written:
        raise EvalError(f"{method} has not written the wanted call: expected {wanted!r}, got {written!r}")
