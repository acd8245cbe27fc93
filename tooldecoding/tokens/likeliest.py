"""Finds the likeliest token that may come next without checking every token.

Tokens are sorted by their bytes, so tokens with the same beginning are neighbours. The search keeps ranges of tokens
and checks the likeliest token of the best range. If it is refused, all tokens that share its shortest refused
beginning are dropped: one refusal rules out a group.
"""

import heapq
from typing import Protocol

import numpy as np

from tooldecoding.engines.logits import NextTokenLogits, Tokens
from tooldecoding.tokens.token_table import TokenTable

_BLIND = 8
"""After this many refused tokens, the search drops all tokens whose first byte is impossible."""
_CHECKED = 64
"""So many of the likeliest tokens are checked one by one for their share; of the others their first byte."""


class Accept(Protocol):
    """Decides which text may come next."""

    def __call__(self, piece: bytes) -> object | None:
        """Return None if a piece, never empty, is refused. The beginnings of an accepted piece are accepted."""

    def first_bytes(self) -> frozenset[int]:
        """Return the first bytes of accepted pieces, possibly with some others."""


def likeliest(
    logits: NextTokenLogits, accept: Accept, table: TokenTable, pending: bytes, only: int | None = None
) -> int | None:
    """Return the likeliest token that writes a part of ``pending``, or all of it and an accepted piece.

    None if there is no such token. Ties are broken arbitrarily.

    Parameters
    ----------
    only : int, optional
        The only token that may leave bytes of ``pending`` unwritten; by default each of them may.
    """
    best, skip = logits.best, len(pending)
    text = table.texts[best]
    if text and text.startswith(pending) and (text == pending or accept(text[skip:]) is not None):
        return best
    if text and pending.startswith(text) and only in (None, best):
        return best
    beginnings = table.beginnings(pending)
    if only is not None:
        beginnings = [token for token in beginnings if token == only or len(table.text(token)) == skip]
    inside = max(beginnings, key=lambda token: logits.values[token], default=None)
    beyond = _Search(logits, accept, table, pending).run()
    if inside is None or beyond is None:
        return inside if beyond is None else beyond
    return inside if logits.values[inside] >= logits.values[beyond] else beyond


def permitted_share(logits: NextTokenLogits, accept: Accept, table: TokenTable, pending: bytes) -> float:
    """Return the probability of all tokens that write a part of ``pending``, or all of it and an accepted piece.

    Of the tokens that are not among the likeliest, those whose first byte behind ``pending`` is possible count.
    """
    beginnings = np.array(table.beginnings(pending), np.int64)
    tokens = np.concatenate([beginnings, _possible_beyond(accept, table, pending)])
    values, skip = logits.values[tokens], len(pending)
    highest = np.argpartition(values, -_CHECKED)[-_CHECKED:] if len(tokens) > _CHECKED else range(len(tokens))
    refused = [n for n in highest if (piece := table.text(int(tokens[n]))[skip:]) and accept(piece) is None]
    return logits.share(np.delete(tokens, refused))


def permitted_beyond(
    logits: NextTokenLogits, accept: Accept, table: TokenTable, pending: bytes
) -> list[tuple[int, float]]:
    """Return likely tokens that write all of ``pending`` and an accepted piece, with their probabilities."""
    found = logits.likeliest_among(_possible_beyond(accept, table, pending), _CHECKED)
    return [(token, share) for token, share in found if accept(table.text(token)[len(pending) :]) is not None]


def _possible_beyond(accept: Accept, table: TokenTable, pending: bytes) -> Tokens:
    """Return the tokens that write all of ``pending`` and a first byte that may follow."""
    stretches = [table.stretch(pending + bytes([byte])) for byte in sorted(accept.first_bytes())]
    return np.concatenate([np.empty(0, np.int64), *(table.sorted_ids[low:high] for low, high in stretches)])


class _Search:
    """Searches the tokens that go beyond ``pending``."""

    def __init__(self, logits: NextTokenLogits, accept: Accept, table: TokenTable, pending: bytes) -> None:
        self._accept = accept
        self._table = table
        self._pending = pending
        self._first, self._last = table.stretch(pending)
        while self._first < self._last and len(table.sorted_texts[self._first]) == len(pending):
            self._first += 1  # the pending text itself
        self._values = logits.values[table.sorted_ids[self._first : self._last]]
        self._stretches: list[tuple[float, int, int, int]] = []

    def run(self) -> int | None:
        self._keep(self._first, self._last)
        refused = 0
        while self._stretches:
            _, place, start, end = heapq.heappop(self._stretches)
            piece = self._table.sorted_texts[place][len(self._pending) :]
            if self._accept(piece) is not None:
                return int(self._table.sorted_ids[place])
            refused += 1
            low, high = self._table.stretch(self._pending + self._refused_beginning(piece))
            self._keep(start, low)
            self._keep(high, end)
            if refused == _BLIND:
                self._keep_possible()
        return None

    def _keep(self, start: int, end: int) -> None:
        """Add a range to the search."""
        if start < end:
            values = self._values[start - self._first : end - self._first]
            place = int(values.argmax())
            heapq.heappush(self._stretches, (-float(values[place]), start + place, start, end))

    def _refused_beginning(self, piece: bytes) -> bytes:
        """Return the shortest beginning of a refused piece that is refused as well."""
        accepted, refused = 0, len(piece)
        while refused - accepted > 1:
            middle = (accepted + refused) // 2
            if self._accept(piece[:middle]) is None:
                refused = middle
            else:
                accepted = middle
        return piece[:refused]

    def _keep_possible(self) -> None:
        """Drop all tokens whose first byte cannot come next."""
        stretches, self._stretches = self._stretches, []
        possible = [self._table.stretch(self._pending + bytes([byte])) for byte in self._accept.first_bytes()]
        for _, _, start, end in stretches:
            for low, high in possible:
                self._keep(max(start, low), min(end, high))
