"""Alphabets: code points in classes that an automaton cannot tell apart."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

from lookup.languages.codepoints import END, TEXT, CodePoints

# Dates have their T and Z in either case; the large ones are usual.
_NICE: Final = "eaonirshdlucmfywgpbvkxqjETAONRISHDLFCMUGYPWBVKXQJZtz0123456789_-. /:,"
_RANKS: Final = {character: rank for rank, character in enumerate(_NICE)}
_NICE_OTHERS: Final = (0xE9, 0x4E2D, 0x3B1, 0x436, 0x1F600)
_KEPT: Final = 5_000


def rank(character: str) -> tuple[int, str]:
    """How plain a character is: letters, then digits, then others, control characters last."""
    known = _RANKS.get(character)
    if known is not None:
        return known, character
    return (200 if character > "~" else 100 if character >= " " else 300), character


class _ClassOf(dict[str, int]):
    """Character -> class, computed when it is first asked for, and kept for a bounded number of characters."""

    def __init__(self, alphabet: "Alphabet") -> None:
        self._starts, self._ids = alphabet.starts, alphabet.ids

    def __missing__(self, character: str) -> int:
        number = self._ids[bisect_right(self._starts, ord(character)) - 1]
        if len(self) < _KEPT:
            self[character] = number
        return number


class Alphabet:
    """All code points in intervals, each of one class. The last class has what no text may have.

    Attributes
    ----------
    starts : list of int
        The first code point of each interval.
    ids : list of int
        The class of each interval.
    size : int
        The number of classes; ``size - 1`` is the class that no text has.
    """

    def __init__(self, starts: list[int], ids: list[int], size: int) -> None:
        self.starts, self.ids, self.size = starts, ids, size

    @cached_property
    def ascii_ids(self) -> list[int]:
        """The class of each ASCII character."""
        result: list[int] = []
        for start, stop, number in self.intervals():
            if start >= 128:
                break
            result += [number] * (min(stop, 128) - start)
        return result

    @cached_property
    def class_of(self) -> dict[str, int]:
        """Character -> class."""
        return _ClassOf(self)

    def intervals(self) -> Iterator[tuple[int, int, int]]:
        """First code point, the one behind the last, class."""
        return zip(self.starts, [*self.starts[1:], END], self.ids, strict=True)

    @cached_property
    def members(self) -> list[list[tuple[int, int]]]:
        """For each class its intervals, each from its first code point to the one behind its last."""
        result: list[list[tuple[int, int]]] = [[] for _ in range(self.size)]
        for start, stop, number in self.intervals():
            result[number].append((start, stop))
        return result

    @cached_property
    def plain_ascii(self) -> list[str]:
        """For each class its ASCII characters, the plainest ones first."""
        result = [""] * self.size
        for character in sorted(map(chr, range(128)), key=rank):
            result[self.ascii_ids[ord(character)]] += character
        return result

    @cached_property
    def others(self) -> list[str]:
        """For each class one character outside of ASCII; empty if it has none."""
        return [_other(spans) for spans in self.members]

    @cached_property
    def plainest(self) -> list[str]:
        """For each class its plainest character."""
        return [near[:1] or far for near, far in zip(self.plain_ascii, self.others, strict=True)]

    def renumbered(self, new: Sequence[int], size: int) -> "Alphabet":
        """The alphabet with classes merged: class ``c`` becomes ``new[c]``."""
        starts: list[int] = []
        ids: list[int] = []
        for start, number in zip(self.starts, self.ids, strict=True):
            if not ids or ids[-1] != new[number]:
                starts.append(start)
                ids.append(new[number])
        return Alphabet(starts, ids, size)


def _other(spans: list[tuple[int, int]]) -> str:
    beyond = [(max(start, 128), stop) for start, stop in spans if stop > 128]
    for point in _NICE_OTHERS:
        if any(start <= point < stop for start, stop in beyond):
            return chr(point)
    return next((chr(point) for span in beyond for point in span[:1] if chr(point).isprintable()), "") or (
        chr(beyond[0][0]) if beyond else ""
    )


def alphabet_of(sets: Sequence[CodePoints]) -> tuple[Alphabet, list[int]]:
    """Return the coarsest alphabet that tells the sets apart, and for each class the sets that have it, as bits.

    The last class has no bits.
    """
    outside = 1 << len(sets)
    changes = dict.fromkeys(TEXT, outside)
    for number, points in enumerate(sets):
        for boundary in points:
            changes[boundary] = changes.get(boundary, 0) ^ 1 << number
    changes.pop(END, None)
    known: dict[int, int] = {}
    starts: list[int] = []
    ids: list[int] = []
    bits = outside
    for boundary in sorted(changes):
        bits ^= changes[boundary]
        number = -1 if bits & outside else known.setdefault(bits, len(known))
        if not ids or ids[-1] != number:
            starts.append(boundary)
            ids.append(number)
    last = len(known)
    return Alphabet(starts, [last if number < 0 else number for number in ids], last + 1), [*known, 0]


def joint(first: Alphabet, second: Alphabet) -> tuple[Alphabet, list[tuple[int, int]]]:
    """Return the alphabet that tells apart what either of two does, and the two classes behind each class."""
    known: dict[tuple[int, int], int] = {}
    starts: list[int] = []
    ids: list[int] = []
    for start, pair in _pairs(first, second):
        number = known.setdefault(pair, len(known))
        starts.append(start)
        ids.append(number)
    outside = known[first.size - 1, second.size - 1]
    new = list(range(len(known)))
    new[outside], new[-1] = new[-1], new[outside]
    pairs = list(known)
    pairs[outside], pairs[-1] = pairs[-1], pairs[outside]
    return Alphabet(starts, [new[number] for number in ids], len(known)), pairs


def _pairs(first: Alphabet, second: Alphabet) -> Iterable[tuple[int, tuple[int, int]]]:
    left = right = 0
    start = 0
    while start < END:
        yield start, (first.ids[left], second.ids[right])
        next_left = first.starts[left + 1] if left + 1 < len(first.starts) else END
        next_right = second.starts[right + 1] if right + 1 < len(second.starts) else END
        start = min(next_left, next_right)
        left += next_left == start
        right += next_right == start
