"""Which text may be written next, and the search for the likeliest token that writes it."""

from collections.abc import Iterator
from typing import Protocol

from tooldecoding.scores import Scores
from tooldecoding.token_table import TokenTable

_FIRST_TRIED = 8
"""Tokens that are tried before it is asked what can be accepted at all."""
_MANY = 4096
"""So many tokens are rather searched for the likeliest first than sorted."""


class Accept(Protocol):
    """Which text may be written next."""

    def __call__(self, piece: bytes) -> object | None:
        """Anything but None if ``piece``, which is not empty, may be written; its beginnings may be, too, then."""

    def first_bytes(self) -> frozenset[int]:
        """Bytes that such a piece can begin with; maybe others beside."""


class Anything:
    """Accepts every text."""

    def __call__(self, piece: bytes) -> bytes:
        """The piece."""
        return piece

    def first_bytes(self) -> frozenset[int]:
        """All bytes."""
        return frozenset(range(256))


class Sieve:
    """Asks whether pieces are accepted; what is refused tells of others that begin the same."""

    def __init__(self, accept: Accept) -> None:
        self._accept = accept
        self._first: frozenset[int] | None = None
        self._refused: set[bytes] = set()
        self._refusals = 0

    def __call__(self, piece: bytes) -> bool:
        """Whether a piece, which is not empty, is accepted."""
        if self._first is not None and (piece[0] not in self._first or piece[:2] in self._refused):
            return False
        if self._accept(piece) is not None:
            return True
        self._refusals += 1
        if self._refusals < _FIRST_TRIED:
            return False
        if self._first is None:
            self._first = self._accept.first_bytes()
        elif self._accept(piece[:2]) is None:
            self._refused.add(piece[:2])
        return False


def likeliest_first(scores: Scores, accept: Accept, table: TokenTable, pending: bytes) -> Iterator[int]:
    """All tokens that can be accepted behind ``pending``, maybe others and some twice.

    The vocabulary is not sorted for them.
    """
    yield scores.best
    top = scores.top()
    yield from top[1:_FIRST_TRIED]
    possible = table.with_prefix(pending) if pending else table.beginning_with(accept.first_bytes())
    if len(possible) > _MANY:
        yield from top[_FIRST_TRIED:]
    yield from scores.ranked(possible)
