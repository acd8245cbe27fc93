"""What an engine is: the decoder feeds tokens to branches and gets logits back.

A *branch* is one growing token sequence. Branches fork; tokens fed before a fork are computed once.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from tooldecoding.engines.logits import NextTokenLogits, Tokens

BranchId = int
"""Names a branch of an engine."""
B = TypeVar("B")


class Feed(NamedTuple):
    """Tokens to append to a branch in the next forward pass.

    Attributes
    ----------
    branch : BranchId
    tokens : sequence of int
        At least one. None if more is to be known of the logits behind the branch: ``NextTokenLogits.tells``.
    speculative : int
        Number of speculative tokens at the end of ``tokens``. The engine returns logits before and after each of
        them, and the branch may ``drop`` them. If all tokens are speculative, none stand before the first.
    candidates : sequence of ndarrays of int64, optional
        For each of the logits, the candidate token ids, ascending; None if all matter. The engine may leave out the
        logits of other tokens.
    exact : bool
        Whether the logits of all candidates matter, and not only the likeliest of them.
    """

    branch: BranchId
    tokens: Sequence[int]
    speculative: int = 0
    candidates: Sequence[Tokens | None] | None = None
    exact: bool = False

    @property
    def answers(self) -> int:
        """How many logits the engine returns: behind each speculative token, and behind the last sure one."""
        return max(1, min(self.speculative + 1, len(self.tokens)))


@dataclass
class Usage:
    """Cost of one prompt so far. Passes and positions are exact; on the machine they depend only by ``worth_a_pass``.

    Attributes
    ----------
    forward_passes : int
        Forward passes that computed at least one token of this prompt.
    positions : int
        Token positions computed for this prompt, without padding.
    reused_positions : int
        Positions of the prompt that came from the prefix cache.
    padding : int
        Padding positions in this prompt's row, computed because another row was longer.
    cache_bytes : int
        Largest size of this prompt's share of the KV cache, as allocated.
    """

    forward_passes: int = 0
    positions: int = 0
    reused_positions: int = 0
    padding: int = 0
    cache_bytes: int = 0


class Need(NamedTuple):
    """Positions that a prompt is expected to take in the KV cache.

    Attributes
    ----------
    shared : int
        Those that all its branches share.
    branches : int
        Branches that write a call beside each other, one for each order.
    drafts : int
        Branches that only write drafts.
    each : int
        Positions of each of these branches.
    """

    shared: int
    branches: int = 0
    drafts: int = 0
    each: int = 0


class BranchTable(dict[BranchId, B]):
    """An engine's branches by id. Ids count up from 1 and are not used again."""

    def __init__(self) -> None:
        super().__init__()
        self._last = 0
        self._roots: dict[BranchId, BranchId] = {}

    def add(self, branch: B, parent: BranchId | None = None) -> BranchId:
        """Add a fork of ``parent``, or the root of a new prompt, and return its id."""
        self._last += 1
        self[self._last] = branch
        self._roots[self._last] = self._last if parent is None else self._roots[parent]
        return self._last

    def remove(self, branch: BranchId) -> B:
        """Remove a branch and return it."""
        del self._roots[branch]
        return self.pop(branch)

    def of(self, root: BranchId) -> list[BranchId]:
        """Return the branches of the prompt that ``root`` began."""
        return [branch for branch, its_root in self._roots.items() if its_root == root]


class Engine(ABC):
    """Runs the branches of one or several prompts through a model."""

    can_roll_back: bool
    """Whether a branch can drop tokens. A recurrent state cannot."""
    chunk: int | None
    """A prompt of more tokens may be fed in pieces of so many, so that it does not hold the others; None if it must be
    fed at once."""
    worth_a_pass: int = 32
    """How many positions cost about as much as a forward pass does beside its positions.

    The default is torch's, where it is not timed: passes would depend on what else the machine does.
    """
    goes_on_alone: bool = False
    """Whether the engine writes on by itself, and tells the logits of few tokens, as a server does. Then it takes no
    drafts: it comes to what is likely without being told."""
    _branches: BranchTable[Any]
    """Each branch has a ``prompt`` with a ``usage``."""

    @property
    @abstractmethod
    def has_spare_positions(self) -> bool:
        """Whether branches that only write drafts are likely to save more than they cost.

        They do if branches share the prompt's cache, and so few prompts are open that a pass is worth more than the
        positions that these branches add to it.
        """

    @abstractmethod
    def bytes_for(self, needs: Sequence[Need]) -> float:
        """Return the bytes that the KV cache takes with these prompts open; infinity before the first pass."""

    @property
    @abstractmethod
    def allocated_bytes(self) -> int:
        """Bytes that the KV cache takes now, of all prompts."""

    @abstractmethod
    def open(self, count: int) -> list[BranchId]:
        """Open ``count`` prompts, at any time, and return their empty root branches."""

    def close(self, root: BranchId) -> None:
        """End the prompt that ``root`` began, with all its branches.

        Does nothing if the prompt has ended, as it does when its last branch is released.
        """
        for branch in self._branches.of(root):
            self.release(branch)

    def reuse(self, branch: BranchId, tokens: Sequence[int]) -> int:
        """Announce the prompt of a root branch.

        Returns how many of its first tokens are cached and must not be fed; never all of them.
        """
        return 0

    @abstractmethod
    def fork(self, branch: BranchId) -> BranchId:
        """Return a new branch that continues from everything fed to ``branch``."""

    def release(self, branch: BranchId) -> None:
        """End a branch: it is not fed any more."""
        self._branches.remove(branch)

    @abstractmethod
    def drop(self, branch: BranchId, count: int) -> None:
        """Remove the last ``count`` tokens of a branch."""

    @abstractmethod
    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        """Compute all feeds, one for each branch, in one forward pass if the engine can.

        Returns the logits of each feed: behind its last sure token, if it has one, and behind each speculative token.
        """

    def answered(self, feeds: Sequence[Feed]) -> "list[list[NextTokenLogits] | Exception | None]":
        """Compute feeds as far as it can be done in a short time.

        Returns for each feed what ``extend`` does, an error that concerns it alone, or None: the same feed must come
        again then, and nothing else of its branch before.
        """
        return [*self.extend(feeds)]

    def usage(self, branch: BranchId) -> Usage:
        """Return the cost so far of the prompt that a branch belongs to."""
        usage: Usage = self._branches[branch].prompt.usage
        return usage
