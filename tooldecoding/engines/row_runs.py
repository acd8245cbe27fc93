"""Which rows of a pass are computed together: one run of adjacent rows is padded to one width."""

from collections.abc import Sequence
from typing import Final, NamedTuple

_SLOTS: Final = 1024
"""A query that attends to so many slots more costs about as much as a position."""


class RowLoad(NamedTuple):
    """A row that gets tokens.

    Attributes
    ----------
    row : int
    tokens : int
        How many it gets.
    written : int
        Slots that it has already.
    """

    row: int
    tokens: int
    written: int


def share_runs(loads: Sequence[RowLoad], worth: int) -> list[list[RowLoad]]:
    """Group rows, ascending, into runs of adjacent ones, unless padding them costs more than another run.

    Empty rows and others do not share a run: empty ones need no mask.

    Parameters
    ----------
    worth : int
        Padding positions that cost as much as a run.
    """
    runs: list[list[RowLoad]] = []
    for load in loads:
        if runs and _joins(load, runs[-1]) and _padding([*runs[-1], load]) <= _padding(runs[-1]) + worth:
            runs[-1].append(load)
        else:
            runs.append([load])
    return runs


def share_passes(loads: Sequence[RowLoad], worth: int) -> list[list[RowLoad]]:
    """Group rows into passes of one run each: all in one, unless padding costs more than another pass."""
    groups: list[list[RowLoad]] = []
    for load in sorted(loads, key=lambda load: load.tokens):
        if not groups or sum(load.tokens - other.tokens for other in groups[-1]) > worth:
            groups.append([])
        groups[-1].append(load)
    return [sorted(group) for group in groups]


def _joins(load: RowLoad, run: Sequence[RowLoad]) -> bool:
    return load.row == run[-1].row + 1 and (load.written == 0) == (run[0].written == 0)


def _padding(run: Sequence[RowLoad]) -> float:
    """Return what the run computes in vain, in positions."""
    width = max(load.tokens for load in run)
    written = max(load.written for load in run)
    return sum(width - load.tokens + width * (written - load.written) / _SLOTS for load in run)
