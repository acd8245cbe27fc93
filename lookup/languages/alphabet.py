"""Alphabets: code points in classes that a language cannot tell apart."""

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Final

from lookup.languages.codepoints import END, TEXT
from lookup.languages.syntax_tree import Characters

# Dates have their T and Z in either case; the large ones are usual.
_NICE: Final = "eaonirshdlucmfywgpbvkxqjETAONRISHDLFCMUGYPWBVKXQJZtz0123456789_-. /:,"
_RANKS: Final = {character: rank for rank, character in enumerate(_NICE)}
_NICE_OTHERS: Final = (0xE9, 0x4E2D, 0x3B1, 0x436, 0x1F600)
_KEPT: Final = 5_000


def _rank(character: str) -> tuple[int, str]:
    """How plain a character is: letters, then digits, then others, control characters last."""
    known = _RANKS.get(character)
    if known is not None:
        return known, character
    return (200 if character > "~" else 100 if character >= " " else 300), character


class Alphabet(dict[str, int]):
    """Character -> its class, computed when it is first asked for.

    Attributes
    ----------
    size : int
        The number of classes that a text may have; the characters that no text may have are of the class ``size``.
    plain_order : list of (int, str)
        The classes, each with its plainest character, the plainest ones first.
    """

    def __init__(self, sets: frozenset[Characters]) -> None:
        changes: dict[int, int] = dict.fromkeys(TEXT, 1 << len(sets))
        for number, one in enumerate(sets):
            for boundary in one.points:
                changes[boundary] = changes.get(boundary, 0) ^ 1 << number
        changes.pop(END, None)
        known: dict[int, int] = {}
        bits = 1 << len(sets)
        self._starts: list[int] = []
        self._ids: list[int] = []
        for boundary in sorted(changes):
            bits ^= changes[boundary]
            self._starts.append(boundary)
            self._ids.append(-1 if bits >> len(sets) else known.setdefault(bits, len(known)))
        self.size = len(known)
        self._ids = [self.size if number < 0 else number for number in self._ids]

    def __missing__(self, character: str) -> int:
        number = self._ids[bisect_right(self._starts, ord(character)) - 1]
        if len(self) < _KEPT:
            self[character] = number
        return number

    @cached_property
    def spans(self) -> list[list[tuple[int, int]]]:
        """For each class its intervals, each from its first code point to the one behind its last."""
        result: list[list[tuple[int, int]]] = [[] for _ in range(self.size + 1)]
        for start, stop, number in self._intervals():
            result[number].append((start, stop))
        return result

    def _intervals(self) -> Iterator[tuple[int, int, int]]:
        return zip(self._starts, [*self._starts[1:], END], self._ids, strict=True)

    @cached_property
    def ascii(self) -> list[str]:
        """For each class its ASCII characters, the plainest ones first."""
        result = [""] * (self.size + 1)
        for character in sorted(map(chr, range(128)), key=_rank):
            result[self[character]] += character
        return result

    @cached_property
    def others(self) -> list[str]:
        """For each class one character outside of ASCII; empty if it has none."""
        return [_other(spans) for spans in self.spans]

    @cached_property
    def plain_order(self) -> list[tuple[int, str]]:
        """See the class."""
        plainest = [(number, self.ascii[number][:1] or self.others[number]) for number in range(self.size)]
        return sorted(plainest, key=lambda pair: _rank(pair[1]))

    @cached_property
    def order(self) -> list[tuple[int, str]]:
        """The same in the order of the classes."""
        return sorted(self.plain_order)


def _other(spans: list[tuple[int, int]]) -> str:
    beyond = [(max(start, 128), stop) for start, stop in spans if stop > 128]
    for point in _NICE_OTHERS:
        if any(start <= point < stop for start, stop in beyond):
            return chr(point)
    return next((chr(point) for span in beyond for point in span[:1] if chr(point).isprintable()), "") or (
        chr(beyond[0][0]) if beyond else ""
    )


@lru_cache(maxsize=256)
def alphabet_of(sets: frozenset[Characters]) -> Alphabet:
    """Return the coarsest alphabet that tells the sets apart."""
    return Alphabet(sets)
