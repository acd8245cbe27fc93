"""Layout of one row of the packed engine: which slots each branch sees, and which slots its next tokens get.

All branches of a prompt share a row. A branch sees the slots of what it has read before it forked, and its own:

    slot      0 1 2 3 4 5 6 7 8 9
    both      the prompt|
    branch A            |a . a . a
    branch B            |. b . b .
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from tooldecoding.engines.attention import Booleans, Integers, VisibleSlots


@dataclass
class RowBranch:
    """A branch of a row.

    Attributes
    ----------
    line : int
        Its line in the row's table.
    length : int
        Number of tokens fed to it.
    """

    line: int
    length: int = 0


class RowLayout(NamedTuple):
    """One row of a pass.

    Attributes
    ----------
    tokens, slots : list of int
        The feeds one after the other, then padding.
    visible : VisibleSlots
        What each of these tokens sees.
    """

    tokens: list[int]
    slots: list[int]
    visible: VisibleSlots


_PADDING = 0
"""The table's line for padding: it sees nothing."""
_SLOTS = 64


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
        self._free_lines: list[int] = []
        self._seen = np.zeros((1, _SLOTS), bool)
        """Shape (lines, slots): which slots each branch sees; those that none sees are free."""
        self._positions = np.zeros(_SLOTS, np.int64)
        """Shape (slots,): position of the token in each."""

    def root(self) -> RowBranch:
        """Return the first branch."""
        return RowBranch(self._take_line())

    def begin(self, root: RowBranch, size: int) -> None:
        """Record that the first slots already hold the first ``size`` tokens of the root, the only branch."""
        self._grow(size)
        self._seen[root.line, :size] = True
        self._positions[:size] = np.arange(size)
        self.written = root.length = size

    def fork(self, parent: RowBranch) -> RowBranch:
        """Return a branch that sees what ``parent`` sees."""
        line = self._take_line()
        self._seen[line] = self._seen[parent.line]
        return RowBranch(line, parent.length)

    def release(self, branch: RowBranch) -> None:
        """End a branch."""
        self._seen[branch.line] = False
        self._free_lines.append(branch.line)
        self.branches -= 1

    def drop(self, branch: RowBranch, count: int) -> None:
        """Remove the last tokens of a branch."""
        branch.length -= count
        self._seen[branch.line] &= self._positions < branch.length

    def slots(self, branch: RowBranch) -> list[int]:
        """Return all slots that a branch sees, in the order of positions."""
        seen: Integers = np.flatnonzero(self._seen[branch.line])
        return list(seen[self._positions[seen].argsort()].tolist())

    def lay_out(self, feeds: Sequence[tuple[RowBranch, Sequence[int]]], width: int) -> RowLayout:
        """Assign slots to the tokens of a pass, and to padding up to ``width``; the branches see their new tokens."""
        self._grow(self.written + width)
        used: Booleans = np.any(self._seen, axis=0)
        fresh = len(feeds) == 1 and not feeds[0][0].length and not used.any()
        slots = np.flatnonzero(~used)[:width]
        used[slots] = True
        end = int(np.flatnonzero(used)[-1]) + 1
        sizes = [len(tokens) for _, tokens in feeds]
        padding = width - sum(sizes)
        lines = np.repeat([*(branch.line for branch, _ in feeds), _PADDING], [*sizes, padding])
        positions = [n for branch, tokens in feeds for n in range(branch.length, branch.length + len(tokens))]
        positions += positions[-1:] * padding  # any position that the model knows
        self._positions[slots] = positions
        visible = VisibleSlots(positions, None, self._positions[:end])
        if not fresh:
            visible = visible._replace(seen=self._seen_by_queries(lines, slots, sizes, end))
        self._seen[lines, slots] = lines != _PADDING
        for branch, tokens in feeds:
            branch.length += len(tokens)
        self.written = max(self.written, end)
        tokens = [*chain.from_iterable(tokens for _, tokens in feeds), *[0] * padding]
        return RowLayout(tokens, slots.tolist(), visible)

    def _seen_by_queries(self, lines: Integers, slots: Integers, sizes: Sequence[int], end: int) -> Booleans:
        """Return which slots each query sees: those its branch saw, and its own feed up to itself.

        Shape (queries, slots).
        """
        seen = self._seen[lines, :end]
        seen[np.arange(len(slots)), slots] = True
        start = 0
        for size in sizes:
            own = slice(start, start + size)
            if size > 1:
                seen[own][:, slots[own]] = np.tri(size, dtype=bool)
            start += size
        return seen

    def _grow(self, slots: int) -> None:
        """Make the tables long enough for so many slots."""
        if slots > len(self._positions):
            more = max(slots, 2 * len(self._positions)) - len(self._positions)
            self._seen = np.pad(self._seen, ((0, 0), (0, more)))
            self._positions = np.pad(self._positions, (0, more))

    def _take_line(self) -> int:
        self.branches += 1
        if self._free_lines:
            return self._free_lines.pop()
        line = self.branches
        if line == len(self._seen):
            self._seen = np.pad(self._seen, ((0, len(self._seen)), (0, 0)))
        return line
