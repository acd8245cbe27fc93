"""Long feeds in pieces: where attention needs a mask, it would grow as the square of a prompt's length."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from tooldecoding.engines.engine import Feed

MASK_BYTES: Final = 48 << 20
"""Feeds are cut so that the mask of a pass is about this large at most."""
_FEWEST: Final = 256
"""A pass of fewer tokens costs more than its part of the mask."""
_NONE_WANTED = (np.zeros(1, np.int64),)
"""Candidates behind a piece: nobody reads these logits."""


def tokens_in_front(feed: Feed) -> int:
    """Return the tokens before the first whose logits are wanted: drafts are not fed in pieces."""
    return len(feed.tokens) - feed.ahead - 1


def cut(feed: Feed, size: int) -> tuple[Feed, Feed]:
    """Return a piece of the first ``size`` tokens of a feed, which has at least so many in front, and the rest."""
    branch, tokens, ahead, among = feed
    return Feed(branch, tokens[:size], 0, _NONE_WANTED), Feed(branch, tokens[size:], ahead, among)


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
