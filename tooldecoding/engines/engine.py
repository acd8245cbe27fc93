"""What the decoder asks of a model: feed tokens to branches, get scores back.

A *branch* is one growing token sequence. Branches fork; what was fed before a fork is computed once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tooldecoding.engines.logits import NextTokenLogits, Tokens


class Feed(NamedTuple):
    """Tokens to append to a branch in the next forward pass.

    Attributes
    ----------
    branch : int
    tokens : sequence of int
        At least one.
    ahead : int
        The last so many tokens are only tried: scores are wanted before and after each of them, and the branch may
        ``drop`` them.
    among : sequence of ndarrays of int64, optional
        For each of the ``ahead + 1`` scores the ids, ascending, of the tokens that matter; others may be left out.
    """

    branch: int
    tokens: Sequence[int]
    ahead: int = 0
    among: Sequence[Tokens] | None = None

    def offers(self) -> Sequence[Tokens | None]:
        """For each of the ``ahead + 1`` scores the tokens that matter, None for all."""
        return self.among or [None] * (self.ahead + 1)


@dataclass
class Usage:
    """What one prompt cost so far; passes and positions are exact and do not depend on the machine.

    Attributes
    ----------
    forward_passes : int
        Forward passes that computed at least one token of this prompt.
    positions : int
        Token positions computed for this prompt, padding not counted.
    reused_positions : int
        Positions of the prompt that a former request had computed.
    padding : int
        Positions computed for nothing, because a row of another prompt was longer in that pass.
    cache_bytes : int
        Largest size of this prompt's share of the KV cache, as allocated.
    """

    forward_passes: int = 0
    positions: int = 0
    reused_positions: int = 0
    padding: int = 0
    cache_bytes: int = 0


class Engine(Protocol):
    """A model behind branches. Several prompts may be open at once."""

    can_drop: bool
    """Whether tokens can be forgotten (not with a recurrent state)."""

    def open(self, count: int) -> list[int]:
        """Begin ``count`` prompts and return their root branches, empty so far."""

    def reuse(self, branch: int, tokens: Sequence[int]) -> int:
        """Tell a root branch its prompt; how many of the tokens, never all, need not be fed to it."""

    def fork(self, branch: int) -> int:
        """A new branch that continues from everything fed to ``branch``."""

    def release(self, branch: int) -> None:
        """Declare that a branch will be fed no more."""

    def drop(self, branch: int, count: int) -> None:
        """Forget the ``count`` tokens that were fed last."""

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """Compute all feeds, in one forward pass where the engine can.

        For each feed ``ahead + 1`` scores: after its last sure token, and after each tried one.
        """

    def usage(self, branch: int) -> Usage:
        """The cost so far of the prompt that a branch belongs to."""
