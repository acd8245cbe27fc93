"""One row of the packed layout: which slots its branches see, and where their next tokens go.

All branches of a prompt share a row. The slots of its *trunk* hold what all of them see, one token a slot in the
sequence of positions; behind it each branch has slots of its own, or shares them with those that it forked from:

    slot      0 1 2 3 4 5 6 7 8 9
    trunk     the prompt|
    branch A            |a . a . a
    branch B            |. b . b .

A row's work and memory do not grow with its trunk.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tooldecoding.engines.tree_attention import Positions, Seen, Sight


@dataclass
class PackedBranch:
    """A branch of a row.

    Attributes
    ----------
    line : int
        Its line in the row's table.
    length : int
        Tokens fed to it.
    own : list of int
        Its slots behind the trunk, in the sequence of their positions.
    """

    line: int
    length: int = 0
    own: list[int] = field(default_factory=list)


class RowFeed(NamedTuple):
    """Tokens to append to a branch; it may drop the last ``ahead``."""

    branch: PackedBranch
    tokens: Sequence[int]
    ahead: int


class RowLayout(NamedTuple):
    """A row of a pass.

    Attributes
    ----------
    tokens, positions, slots : list of int
        The feeds one after the other, then padding.
    sight : Sight
        What each of these tokens sees.
    fresh : bool
        Nothing else stands in the row.
    """

    tokens: list[int]
    positions: list[int]
    slots: list[int]
    sight: Sight
    fresh: bool


_PADDING = 0
"""The line of no branch, which sees nothing."""
_FEW = 64
_FEW_CAUSAL: Seen = np.tri(_FEW, dtype=bool)


def _causal(size: int) -> Seen:
    return _FEW_CAUSAL[:size, :size] if size <= _FEW else np.tri(size, dtype=bool)


class PackedRow:
    """The branches of a prompt.

    Attributes
    ----------
    branches : int
        How many live.
    """

    def __init__(self) -> None:
        self.branches = 0
        self._trunk = 0
        """Slots before this one are seen by all branches."""
        self._end = 0
        """Slots from this one on were never used, or are free again."""
        self._free: list[int] = []
        """Slots between trunk and end that no branch sees, the lowest first (a heap)."""
        self._lines: list[int] = []
        """Lines that no branch has."""
        self._seen = np.zeros((1, _FEW), bool)
        """Shape (lines, slots behind the trunk): which of them each branch sees."""
        self._positions = np.zeros(_FEW, np.int64)
        """Shape (slots behind the trunk,): position of the token in each."""

    def root(self) -> PackedBranch:
        """The first branch."""
        return PackedBranch(self._take_line())

    def begin(self, root: PackedBranch, size: int) -> None:
        """Take note that the first slots hold the first ``size`` tokens of the root, the only branch."""
        self._trunk = self._end = root.length = size

    def fork(self, parent: PackedBranch) -> PackedBranch:
        """A branch that sees what another sees."""
        line = self._take_line()
        self._seen[line] = self._seen[parent.line]
        return PackedBranch(line, parent.length, list(parent.own))

    def release(self, branch: PackedBranch) -> None:
        """Forget a branch."""
        self._forget(branch, len(branch.own))
        self._lines.append(branch.line)
        self.branches -= 1

    def drop(self, branch: PackedBranch, count: int) -> None:
        """Forget the last tokens of a branch, which were fed ``ahead``."""
        if count > len(branch.own):
            raise ValueError(f"only tokens that were fed ahead can be dropped: at most {len(branch.own)}, not {count}")
        self._forget(branch, count)
        branch.length -= count

    def slots(self, branch: PackedBranch) -> list[int]:
        """All slots that a branch sees, in the sequence of their positions; takes time by their number."""
        return [*range(self._trunk), *branch.own]

    def lay_out(self, feeds: Sequence[RowFeed], width: int) -> RowLayout:
        """Give the tokens of a pass, and padding up to ``width``, their slots; the branches see them from then on."""
        if self.branches == 1 and self._joins_trunk(feeds[0].branch):
            return self._lay_out_alone(feeds[0], width)
        return self._lay_out_branches(feeds, width)

    def _joins_trunk(self, branch: PackedBranch) -> bool:
        """Whether the only branch goes on where the trunk ends."""
        return branch.own == list(range(self._trunk, self._trunk + len(branch.own)))

    def _lay_out_alone(self, feed: RowFeed, width: int) -> RowLayout:
        """The only branch: what it has fed, and feeds now, is trunk but for what it may drop."""
        branch, tokens, ahead = feed
        self._forget(branch, len(branch.own))
        self._free.clear()
        first, branch.length = branch.length, branch.length + len(tokens)
        self._trunk, self._end = branch.length - ahead, branch.length
        branch.own = list(range(self._trunk, self._end))
        if ahead:
            self._make_room()
            self._seen[branch.line, :ahead] = True
            self._positions[:ahead] = branch.own
        slots = list(range(first, first + width))
        padding = width - len(tokens)
        positions = slots[: len(tokens)] + [self._end - 1] * padding
        sight = Sight(first, positions)
        return RowLayout([*tokens, *[0] * padding], positions, slots, sight, first == 0)

    def _lay_out_branches(self, feeds: Sequence[RowFeed], width: int) -> RowLayout:
        tokens: list[int] = []
        positions: list[int] = []
        lines: list[int] = []
        slots: list[int] = []
        for branch, more, _ in feeds:
            taken = [self._take_slot() for _ in more]
            tokens += more
            slots += taken
            positions += range(branch.length, branch.length + len(more))
            lines += [branch.line] * len(more)
            branch.length += len(more)
            branch.own += taken
        padding = [self._take_slot() for _ in range(width - len(tokens))]
        tokens += [0] * len(padding)
        positions += [positions[-1]] * len(padding)  # any that the model knows
        self._make_room()
        columns = self._columns(slots + padding)
        behind = self._seen_by_queries(feeds, lines + [_PADDING] * len(padding), columns)
        self._seen[lines, columns[: len(lines)]] = True
        self._positions[columns] = positions
        for slot in padding:
            heapq.heappush(self._free, slot)
        sight = Sight(self._trunk, positions, behind, self._positions[: behind.shape[1]])
        return RowLayout(tokens, positions, slots + padding, sight, False)

    def _seen_by_queries(self, feeds: Sequence[RowFeed], lines: Sequence[int], columns: Positions) -> Seen:
        """Shape (queries, slots behind the trunk): what their branches saw before, and their own feed up to them."""
        seen = self._seen[lines, : self._end - self._trunk]
        seen[np.arange(len(columns)), columns] = True
        start = 0
        for feed in feeds:
            end = start + len(feed.tokens)
            if end > start + 1:
                seen[start:end][:, columns[start:end]] = _causal(end - start)
            start = end
        return seen

    def _make_room(self) -> None:
        """Make the tables as long as the slots in use."""
        size = self._end - self._trunk
        if size > len(self._positions):
            self._seen = np.pad(self._seen, ((0, 0), (0, size)))
            self._positions = np.pad(self._positions, (0, size))

    def _columns(self, slots: Sequence[int]) -> Positions:
        """Places of slots in the tables."""
        return np.array(slots, np.int64) - self._trunk

    def _forget(self, branch: PackedBranch, count: int) -> None:
        """Hide the last slots of a branch from it; those that no other sees are free."""
        if count == 0:
            return
        slots = branch.own[-count:]
        del branch.own[-count:]
        columns = self._columns(slots)
        self._seen[branch.line, columns] = False
        used = np.any(self._seen[:, columns], axis=0)
        for i, slot in enumerate(slots):
            if not used[i]:
                heapq.heappush(self._free, slot)

    def _take_slot(self) -> int:
        if self._free:
            return heapq.heappop(self._free)
        self._end += 1
        return self._end - 1

    def _take_line(self) -> int:
        self.branches += 1
        if self._lines:
            return self._lines.pop()
        line = self.branches
        if line == len(self._seen):
            self._seen = np.pad(self._seen, ((0, len(self._seen)), (0, 0)))
        return line
