"""A trie of texts, kept as a sorted list and walked byte by byte, so that token boundaries do not matter."""

import bisect
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tooldecoding.engines.logits import Tokens
from tooldecoding.tokens.token_table import TokenTable, beginning_with, shared_length

_KEPT = 1024
"""The number of token sets that are cached."""


class Trie:
    """The texts that the model may choose among. No text is the beginning of another.

    Parameters
    ----------
    texts : sequence of str
        At least one.
    choices : sequence of int, optional
        The choice that each text stands for. By default each text is a choice of its own.

    Attributes
    ----------
    texts, numbers, choices : list
        The sorted texts as UTF-8, with the number and the choice of each.
    """

    def __init__(self, table: TokenTable, texts: Sequence[str], choices: Sequence[int] | None = None) -> None:
        self.table = table
        pairs = sorted((text.encode(), number) for number, text in enumerate(texts))
        self.texts = [text for text, _ in pairs]
        self.numbers = [number for _, number in pairs]
        self.choices = self.numbers if choices is None else [choices[number] for number in self.numbers]
        self._known: dict[tuple[bytes, int, int, int], Tokens] = {}

    def node(self, written: bytes = b"") -> "TrieNode":
        """Return the node of all texts that begin with ``written``, perhaps none."""
        return TrieNode(self, *beginning_with(written, self.texts, 0, len(self.texts)), len(written))

    def covered(self, written: bytes) -> "TrieNode | None":
        """Return the node of the text that ``written`` begins with; None if there is no such text."""
        start = bisect.bisect_right(self.texts, written) - 1  # none begins another: the greatest one up to it
        if start < 0 or not written.startswith(self.texts[start]):
            return None
        return TrieNode(self, start, start + 1, len(self.texts[start]))

    def agreeing(self, written: bytes) -> int:
        """Return how many bytes ``written`` shares with the text that begins most like it."""
        place = bisect.bisect_left(self.texts, written)
        return max(shared_length(text, written) for text in self.texts[max(0, place - 1) : place + 1])

    def expected(self, written: bytes) -> bytes:
        """Return the bytes that all texts that begin with ``written`` have next; empty if there is no such text."""
        node = self.node(written)
        return node.shared if node.left else b""


class TrieNode(NamedTuple):
    """The texts that are still possible.

    Attributes
    ----------
    start, end : int
        Their range in the trie's sorted list.
    written : int
        The number of their bytes that are written.
    """

    trie: Trie
    start: int
    end: int
    written: int

    @property
    def left(self) -> int:
        """How many texts are still possible."""
        return self.end - self.start

    @property
    def number(self) -> int:
        """The number of the first text, as the texts were given."""
        return self.trie.numbers[self.start]

    @property
    def is_decided(self) -> bool:
        """Whether all texts stand for one choice."""
        choices = self.trie.choices
        return all(choice == choices[self.start] for choice in choices[self.start + 1 : self.end])

    @property
    def rest(self) -> bytes:
        """The bytes of the first text that are not written yet."""
        return self.trie.texts[self.start][self.written :]

    @property
    def shared(self) -> bytes:
        """The unwritten bytes that the texts share, up to the character where they differ."""
        if self.left == 1:
            return self.rest
        first, last = self.trie.texts[self.start], self.trie.texts[self.end - 1]  # sorted: the others lie between
        size = shared_length(first, last)
        while first[size] & 0xC0 == 0x80 or last[size] & 0xC0 == 0x80:
            size -= 1
        return first[self.written : size]

    def narrowed(self, piece: bytes) -> "TrieNode":
        """Return the node behind ``piece``. A piece may complete a text and go beyond its end."""
        trie, written = self.trie, self.trie.texts[self.start][: self.written] + piece
        start, end = beginning_with(written, trie.texts, self.start, self.end)
        if start < end:
            return TrieNode(trie, start, end, len(written))
        return TrieNode(trie, start - 1, start, len(trie.texts[start - 1]))  # none begins another: it is the one before

    def tokens(self, pending: bytes) -> Tokens:
        """Return the ids, ascending, of the tokens that write a part of ``pending``, or all of it and a part of a text.

        A token may go beyond the end of a text, and then stands for it: ``)]`` for the text ``)``.
        """
        known, key = self.trie._known, (pending, *self[1:])
        if key not in known:
            if len(known) >= _KEPT:
                known.clear()
            beyond = (self.trie.table.sorted_ids[low:high] for low, high in self._stretches(pending))
            found = [np.array(self.trie.table.beginnings(pending), dtype=np.int64), *beyond]
            known[key] = np.unique(np.concatenate(found))
        return known[key]

    def tokens_along(self, pending: bytes, tried: Sequence[int]) -> list[Tokens]:
        """Return the ``tokens`` here, and those behind each of some tokens that are written one behind the other."""
        node, offered = self, [self.tokens(pending)]
        for token in tried:
            written = self.trie.table.text(token)
            node, pending = node.narrowed(written[len(pending) :]), pending[len(written) :]
            offered.append(node.tokens(pending))
        return offered

    def _stretches(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Yield the ranges of the table's sorted texts that continue ``text`` with one of these texts."""
        table, start = self.trie.table, self.start
        while start < self.end:
            byte = self.trie.texts[start][self.written : self.written + 1]
            longer, narrower = text + byte, self._replace(start=start).narrowed(byte)
            start = narrower.end
            low, high = table.stretch(longer)
            if low == high:
                continue
            if not narrower.rest:
                yield low, high
                continue
            exact = bisect.bisect_right(table.sorted_texts, longer, low, high)
            yield low, exact
            if exact < high:
                yield from narrower._stretches(longer)
