"""A choice among texts, as a language of bytes: which tokens may come next, whatever their boundaries."""

import bisect
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tooldecoding.engines.logits import Tokens
from tooldecoding.tokens.token_table import TokenTable

_KEPT = 1024
"""Sets of tokens that are remembered."""


class TrieNode(NamedTuple):
    """The alternatives that are still possible.

    Attributes
    ----------
    start, end : int
        Where they stand among all, sorted.
    written : int
        Bytes of them that are written.
    """

    start: int
    end: int
    written: int

    @property
    def left(self) -> int:
        """How many alternatives are open."""
        return self.end - self.start


class Trie:
    """Texts to choose among, none of which is the beginning of another.

    Parameters
    ----------
    table : TokenTable
    texts : sequence of str
        At least one.
    """

    def __init__(self, table: TokenTable, texts: Sequence[str]) -> None:
        self._table = table
        pairs = sorted((text.encode(), number) for number, text in enumerate(texts))
        self._texts = [text for text, _ in pairs]
        self._numbers = [number for _, number in pairs]
        self._known: dict[tuple[bytes, TrieNode], Tokens] = {}
        self.all = TrieNode(0, len(pairs), 0)

    def covered(self, written: bytes) -> TrieNode | None:
        """The one text that ``written`` begins with, all of it written; None if it begins with none."""
        start = bisect.bisect_right(self._texts, written) - 1  # none begins another: the greatest one up to it
        if start < 0 or not written.startswith(self._texts[start]):
            return None
        return TrieNode(start, start + 1, len(self._texts[start]))

    def expected(self, written: bytes) -> bytes:
        """What all texts that begin with ``written`` go on with; empty if there is none."""
        place = self.all
        for size in range(len(written)):
            place = self._next(place, written[size : size + 1])
            if not place.left:
                return b""
        return self.rest(place) if place.left == 1 else self.shared(place)

    def number(self, place: TrieNode) -> int:
        """Which text the first open alternative is, in the sequence in which they were given."""
        return self._numbers[place.start]

    def rest(self, place: TrieNode) -> bytes:
        """What is still to be written of the first open alternative."""
        return self._texts[place.start][place.written :]

    def shared(self, place: TrieNode) -> bytes:
        """What is still to be written of all open alternatives, several, up to the character in which they part."""
        first, last = self._texts[place.start], self._texts[place.end - 1]  # sorted, so that the others lie between
        size = next(i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
        while first[size] & 0xC0 == 0x80 or last[size] & 0xC0 == 0x80:
            size -= 1
        return first[place.written : size]

    def narrowed(self, place: TrieNode, piece: bytes) -> TrieNode:
        """The alternatives that go on with ``piece``, or the one that ``piece`` writes whole and goes beyond."""
        for size in range(1, len(piece) + 1):
            if len(self._texts[place.start]) == place.written:
                break
            place = self._next(place, piece[size - 1 : size])
        return place

    def tokens(self, pending: bytes, place: TrieNode) -> Tokens:
        """Ids, ascending, of the tokens that write a part of ``pending``, or all of it and go on with an alternative.

        A token may go beyond the end of an alternative: whatever follows there, it speaks for it.
        """
        key = pending, place
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            beyond = (self._table.sorted_ids[low:high] for low, high in self._stretches(pending, place))
            found = [np.array(self._table.beginnings(pending), dtype=np.int64), *beyond]
            known = self._known[key] = np.unique(np.concatenate(found))
        return known

    def _stretches(self, text: bytes, place: TrieNode) -> Iterator[tuple[int, int]]:
        """Stretches of the table's sorted texts, of the tokens that go on behind ``text`` with an open alternative."""
        for byte in self._next_bytes(place):
            longer, narrower = text + byte, self._next(place, byte)
            low, high = self._table.stretch(longer)
            if low == high:
                continue
            if len(self._texts[narrower.start]) == narrower.written:
                yield low, high
                continue
            exact = low
            while exact < high and len(self._table.sorted_texts[exact]) == len(longer):
                exact += 1
            yield low, exact
            if exact < high:
                yield from self._stretches(longer, narrower)

    def _next_bytes(self, place: TrieNode) -> Iterator[bytes]:
        """The bytes that open alternatives go on with."""
        start = place.start
        while start < place.end:
            byte = self._texts[start][place.written : place.written + 1]
            yield byte
            start = self._next(TrieNode(start, place.end, place.written), byte).end

    def _next(self, place: TrieNode, byte: bytes) -> TrieNode:
        """The open alternatives that go on with a byte."""
        start, end, written = place
        before = self._texts[start][:written]
        start = bisect.bisect_left(self._texts, before + byte, start, end)
        if byte < b"\xff":
            end = bisect.bisect_left(self._texts, before + bytes([byte[0] + 1]), start, end)
        return TrieNode(start, end, written + 1)
