"""A trie of texts, kept as a sorted list and walked byte by byte, so that token boundaries do not matter."""

import bisect
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tooldecoding.engines.logits import Tokens
from tooldecoding.tokens.token_table import TokenTable, shared_length

_KEPT = 1024
"""The number of token sets that are cached."""


class TrieNode(NamedTuple):
    """A node of the trie: the texts that are still possible.

    Attributes
    ----------
    start, end : int
        Their range in the sorted list.
    written : int
        The number of their bytes that are written.
    """

    start: int
    end: int
    written: int

    @property
    def left(self) -> int:
        """How many texts are still possible."""
        return self.end - self.start


class Trie:
    """The texts that the model may choose among. No text is the beginning of another.

    Parameters
    ----------
    table : TokenTable
    texts : sequence of str
        At least one.
    choices : sequence of int, optional
        The choice that each text stands for. By default each text is a choice of its own.
    """

    def __init__(self, table: TokenTable, texts: Sequence[str], choices: Sequence[int] | None = None) -> None:
        self._table = table
        pairs = sorted((text.encode(), number) for number, text in enumerate(texts))
        self._texts = [text for text, _ in pairs]
        self._numbers = [number for _, number in pairs]
        self._choices = self._numbers if choices is None else [choices[number] for number in self._numbers]
        self._known: dict[tuple[bytes, TrieNode], Tokens] = {}
        self.all = TrieNode(0, len(pairs), 0)

    def covered(self, written: bytes) -> TrieNode | None:
        """Return the node of the text that ``written`` begins with; None if there is no such text."""
        start = bisect.bisect_right(self._texts, written) - 1  # none begins another: the greatest one up to it
        if start < 0 or not written.startswith(self._texts[start]):
            return None
        return TrieNode(start, start + 1, len(self._texts[start]))

    def agreeing(self, written: bytes) -> int:
        """Return how many bytes ``written`` shares with the text that begins most like it."""
        place = bisect.bisect_left(self._texts, written)
        return max(shared_length(text, written) for text in self._texts[max(0, place - 1) : place + 1])

    def expected(self, written: bytes) -> bytes:
        """Return the bytes that all texts that begin with ``written`` have next; empty if there is no such text."""
        place = self.all
        for size in range(len(written)):
            place = self._next(place, written[size : size + 1])
            if not place.left:
                return b""
        return self.rest(place) if place.left == 1 else self.shared(place)

    def number(self, place: TrieNode) -> int:
        """Return the number of the node's first text, as the texts were given."""
        return self._numbers[place.start]

    def is_decided(self, place: TrieNode) -> bool:
        """Whether all texts of a node stand for one choice."""
        return all(choice == self._choices[place.start] for choice in self._choices[place.start + 1 : place.end])

    def rest(self, place: TrieNode) -> bytes:
        """Return the bytes of the node's first text that are not written yet."""
        return self._texts[place.start][place.written :]

    def shared(self, place: TrieNode) -> bytes:
        """Return the unwritten bytes that the texts of a node share, up to the character where they differ."""
        if place.left == 1:
            return self.rest(place)
        first, last = self._texts[place.start], self._texts[place.end - 1]  # sorted, so that the others lie between
        size = shared_length(first, last)
        while first[size] & 0xC0 == 0x80 or last[size] & 0xC0 == 0x80:
            size -= 1
        return first[place.written : size]

    def narrowed(self, place: TrieNode, piece: bytes) -> TrieNode:
        """Return the node behind ``piece``. A piece may complete a text and go beyond its end."""
        for size in range(1, len(piece) + 1):
            if len(self._texts[place.start]) == place.written:
                break
            place = self._next(place, piece[size - 1 : size])
        return place

    def tokens(self, pending: bytes, place: TrieNode) -> Tokens:
        """Return the ids, ascending, of the tokens that write a part of ``pending``, or all of it and a part of a text.

        A token may go beyond the end of a text. It then counts as a choice of this text.
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
        """Yield the ranges of the table's sorted texts that continue ``text`` with a text of the node."""
        start = place.start
        while start < place.end:
            byte = self._texts[start][place.written : place.written + 1]
            longer, narrower = text + byte, self._next(place._replace(start=start), byte)
            start = narrower.end
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

    def _next(self, place: TrieNode, byte: bytes) -> TrieNode:
        """Return the child node for a byte."""
        start, end, written = place
        before = self._texts[start][:written]
        start = bisect.bisect_left(self._texts, before + byte, start, end)
        if byte < b"\xff":
            end = bisect.bisect_left(self._texts, before + bytes([byte[0] + 1]), start, end)
        return TrieNode(start, end, written + 1)
