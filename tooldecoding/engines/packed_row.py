"""Layout of one row of the packed engine: which slots each branch sees, and which slots its next tokens get.

All branches of a prompt share a row. The slots of its *trunk* hold the tokens that every branch sees, one token per
slot in the order of positions. Behind the trunk each branch has its own slots, or shares those of the branch that it
forked from:

    slot      0 1 2 3 4 5 6 7 8 9
    trunk     the prompt|
    branch A            |a . a . a
    branch B            |. b . b .

Work and memory per pass do not grow with the trunk.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tooldecoding.engines.tree_attention import Booleans, Integers, VisibleSlots


@dataclass
class RowBranch:
    """A branch of a row.

    Attributes
    ----------
    line : int
        Its line in the row's table.
    length : int
        Number of tokens fed to it.
    own : list of int
        Its slots behind the trunk, in the order of positions.
    """

    line: int
    length: int = 0
    own: list[int] = field(default_factory=list)


class RowFeed(NamedTuple):
    """Tokens to append to a branch. The last ``ahead`` are speculative: the branch may drop them."""

    branch: RowBranch
    tokens: Sequence[int]
    ahead: int


class RowLayout(NamedTuple):
    """One row of a pass.

    Attributes
    ----------
    tokens, positions, slots : list of int
        The feeds one after the other, then padding.
    visible : VisibleSlots
        What each of these tokens sees.
    fresh : bool
        Whether the row was empty before.
    """

    tokens: list[int]
    positions: list[int]
    slots: list[int]
    visible: VisibleSlots
    fresh: bool


_PADDING = 0
"""The table's line for padding: it sees nothing."""
_FEW = 64
_FEW_CAUSAL: Booleans = np.tri(_FEW, dtype=bool)


def _causal(size: int) -> Booleans:
    return _FEW_CAUSAL[:size, :size] if size <= _FEW else np.tri(size, dtype=bool)


class PackedRow:
    """The branches of a prompt.

    Attributes
    ----------
    branches : int
        Number of live branches.
    written : int
        Slots from this one on were never written.
    """

    def __init__(self) -> None:
        self.branches = 0
        self.written = 0
        self._trunk = 0
        """All branches see the slots before this one."""
        self._end = 0
        """Slots from this one on are unused."""
        self._free: list[int] = []
        """Slots between trunk and end that no branch sees (a heap, lowest first)."""
        self._free_lines: list[int] = []
        self._seen = np.zeros((1, _FEW), bool)
        """Shape (lines, slots behind the trunk): which of them each branch sees."""
        self._positions = np.zeros(_FEW, np.int64)
        """Shape (slots behind the trunk,): position of the token in each."""

    def root(self) -> RowBranch:
        """Return the first branch."""
        return RowBranch(self._take_line())

    def begin(self, root: RowBranch, size: int) -> None:
        """Record that the first slots already hold the first ``size`` tokens of the root, the only branch."""
        self._trunk = self._end = self.written = root.length = size

    def fork(self, parent: RowBranch) -> RowBranch:
        """Return a branch that sees what ``parent`` sees."""
        line = self._take_line()
        self._seen[line] = self._seen[parent.line]
        return RowBranch(line, parent.length, list(parent.own))

    def release(self, branch: RowBranch) -> None:
        """End a branch."""
        self._forget(branch, len(branch.own))
        self._free_lines.append(branch.line)
        self.branches -= 1

    def drop(self, branch: RowBranch, count: int) -> None:
        """Remove the last tokens of a branch, which were speculative."""
        if count > len(branch.own):
            raise ValueError(f"only tokens that were fed ahead can be dropped: at most {len(branch.own)}, not {count}")
        self._forget(branch, count)
        branch.length -= count

    def slots(self, branch: RowBranch) -> list[int]:
        """Return all slots that a branch sees, in the order of positions. Takes time linear in their number."""
        return [*range(self._trunk), *branch.own]

    def lay_out(self, feeds: Sequence[RowFeed], width: int) -> RowLayout:
        """Assign slots to the tokens of a pass, and to padding up to ``width``; the branches see their new tokens."""
        if self.branches == 1 and self._continues_trunk(feeds[0].branch):
            layout = self._lay_out_alone(feeds[0], width)
        else:
            layout = self._lay_out_branches(feeds, width)
        self.written = max(self.written, layout.visible.end)
        return layout

    def _continues_trunk(self, branch: RowBranch) -> bool:
        """Whether the slots of the only branch follow the trunk without a gap."""
        return branch.own == list(range(self._trunk, self._trunk + len(branch.own)))

    def _lay_out_alone(self, feed: RowFeed, width: int) -> RowLayout:
        """Lay out the only branch: all its tokens join the trunk, except the speculative ones."""
        branch, tokens, ahead = feed
        self._forget(branch, len(branch.own))
        self._free.clear()
        first, branch.length = branch.length, branch.length + len(tokens)
        self._trunk, self._end = branch.length - ahead, branch.length
        branch.own = list(range(self._trunk, self._end))
        if ahead:
            self._grow_tables()
            self._seen[branch.line, :ahead] = True
            self._positions[:ahead] = branch.own
        slots = list(range(first, first + width))
        padding = width - len(tokens)
        positions = slots[: len(tokens)] + [self._end - 1] * padding
        return RowLayout([*tokens, *[0] * padding], positions, slots, VisibleSlots(first, positions), first == 0)

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
        positions += [positions[-1]] * len(padding)  # any position that the model knows
        self._grow_tables()
        columns = self._columns(slots + padding)
        behind = self._seen_by_queries(feeds, lines + [_PADDING] * len(padding), columns)
        self._seen[lines, columns[: len(lines)]] = True
        self._positions[columns] = positions
        for slot in padding:
            heapq.heappush(self._free, slot)
        visible = VisibleSlots(self._trunk, positions, behind, self._positions[: behind.shape[1]])
        return RowLayout(tokens, positions, slots + padding, visible, False)

    def _seen_by_queries(self, feeds: Sequence[RowFeed], lines: Sequence[int], columns: Integers) -> Booleans:
        """Which slots behind the trunk each query sees: those its branch saw, and its own feed up to itself.

        Shape (queries, slots behind the trunk).
        """
        seen = self._seen[lines, : self._end - self._trunk]
        seen[np.arange(len(columns)), columns] = True
        start = 0
        for feed in feeds:
            end = start + len(feed.tokens)
            if end > start + 1:
                seen[start:end][:, columns[start:end]] = _causal(end - start)
            start = end
        return seen

    def _grow_tables(self) -> None:
        """Make the tables long enough for the slots in use."""
        size = self._end - self._trunk
        if size > len(self._positions):
            self._seen = np.pad(self._seen, ((0, 0), (0, size)))
            self._positions = np.pad(self._positions, (0, size))

    def _columns(self, slots: Sequence[int]) -> Integers:
        """Return the tables' columns of these slots."""
        return np.array(slots, np.int64) - self._trunk

    def _forget(self, branch: RowBranch, count: int) -> None:
        """Hide the last slots of a branch from it. Slots that no other branch sees become free."""
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
        if self._free_lines:
            return self._free_lines.pop()
        line = self.branches
        if line == len(self._seen):
            self._seen = np.pad(self._seen, ((0, len(self._seen)), (0, 0)))
        return line
