"""Passes: what one costs beside its positions, and how feeds are cut and grouped for it.

Where attention needs a mask, it would grow as the square of a prompt's length, so long feeds are cut. Rows that are
computed together are padded to one width: one run of adjacent rows.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import torch

from tooldecoding.engines.engine import Feed

DRAFTED_POSITIONS = 4
"""Positions that a prompt's draft branches take for each pass that they save it, failures included."""


def padding_worth_a_pass(device: torch.device) -> int:
    """Return how many padding positions cost as much as another forward pass."""
    return 32 if device.type == "cpu" else 512


def padding_worth_a_run(device: torch.device) -> int:
    """Return how many padding positions cost as much as another run of a ragged pass."""
    return 1 if device.type == "cpu" else 64


MASK_BYTES: Final = 48 << 20
"""Feeds are cut so that the mask of a pass is about this large at most."""
_FEWEST: Final = 256
"""A pass of fewer tokens costs more than its part of the mask."""
_NONE_WANTED = (np.zeros(1, np.int64),)
"""Candidates behind a piece: nobody reads these logits."""


def tokens_in_front(feed: Feed) -> int:
    """Return the tokens before the first whose logits are wanted: drafts are not fed in pieces."""
    return len(feed.tokens) - feed.speculative - 1


def cut(feed: Feed, size: int) -> tuple[Feed, Feed]:
    """Return a piece of the first ``size`` tokens of a feed, which has at least so many in front, and the rest."""
    return feed._replace(tokens=feed.tokens[:size], speculative=0, candidates=_NONE_WANTED, exact=False), feed._replace(
        tokens=feed.tokens[size:]
    )


def masked_tokens(bytes_each: int) -> int:
    """Return how many tokens a pass may feed to each branch, if its mask has so many bytes for each of them."""
    return max(_FEWEST, MASK_BYTES // bytes_each)


def in_pieces(feeds: Sequence[Feed], size: int) -> Iterator[list[Feed]]:
    """Yield what to feed, pass by pass: pieces of ``size`` tokens of the feeds with more in front, last the rest."""
    rest = list(feeds)
    while long := [place for place, feed in enumerate(rest) if tokens_in_front(feed) > size]:
        pieces = []
        for place in long:
            piece, rest[place] = cut(rest[place], size)
            pieces.append(piece)
        yield pieces
    yield rest


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
        last = runs[-1] if runs else []
        joins = last and load.row == last[-1].row + 1 and (load.written == 0) == (last[0].written == 0)
        if joins and _padding([*last, load]) <= _padding(last) + worth:
            last.append(load)
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


def _padding(run: Sequence[RowLoad]) -> float:
    """Return what the run computes in vain, in positions."""
    width = max(load.tokens for load in run)
    written = max(load.written for load in run)
    return sum(width - load.tokens + width * (written - load.written) / _SLOTS for load in run)
