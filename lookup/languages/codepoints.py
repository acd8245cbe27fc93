"""Sets of code points, and alphabets: classes of code points that a language cannot tell apart.

A set is its sorted boundaries: it holds what lies from each even boundary up to the next one.
"""

import re
import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Final

import regex

from lookup.languages.limits import UnsupportedPattern

END: Final = sys.maxunicode + 1

RESERVED: Final = range(0xF0000, 0xF0100)
"""Code points that stand for special tokens while a call is decoded. No value, name or key may have one."""

RESERVED_CHARACTER: Final = re.compile(f"[{chr(RESERVED.start)}-{chr(RESERVED.stop - 1)}]")
"""One of them."""

# Dates have their T and Z in either case; the large ones are usual.
_NICE: Final = "eaonirshdlucmfywgpbvkxqjETAONRISHDLFCMUGYPWBVKXQJZtz0123456789_-. /:,"
_RANKS: Final = {character: rank for rank, character in enumerate(_NICE)}
_NICE_OTHERS: Final = (0xE9, 0x4E2D, 0x3B1, 0x436, 0x1F600)  # two, three and four bytes of usual scripts
_KEPT: Final = 5_000  # characters whose class is kept
_NAME = re.compile(r"[A-Za-z_]+(?:=[A-Za-z_0-9]+)?")

CodePoints = tuple[int, ...]


def from_ranges(ranges: Iterable[tuple[int, int]]) -> CodePoints:
    """The union of ranges, each from its first to its last code point."""
    boundaries: list[int] = []
    for first, last in sorted(ranges):
        if boundaries and first <= boundaries[-1]:
            boundaries[-1] = max(boundaries[-1], last + 1)
        else:
            boundaries += first, last + 1
    return tuple(boundaries)


def ranges_of(points: CodePoints) -> Iterator[tuple[int, int]]:
    """The ranges of a set, each from its first to its last code point."""
    for place in range(0, len(points), 2):
        yield points[place], points[place + 1] - 1


def union(sets: Iterable[CodePoints]) -> CodePoints:
    """The union of sets."""
    return from_ranges(span for points in sets for span in ranges_of(points))


def complement(points: CodePoints) -> CodePoints:
    """All other code points."""
    inner = points[1:] if points[:1] == (0,) else (0, *points)
    return inner[:-1] if inner[-1:] == (END,) else (*inner, END)


def common(one: CodePoints, other: CodePoints) -> CodePoints:
    """What two sets have in common."""
    return complement(union([complement(one), complement(other)]))


def _of(text: str) -> CodePoints:
    return from_ranges((ord(character), ord(character)) for character in text)


EVERY: Final[CodePoints] = (0, END)
TEXT: Final = complement(from_ranges([(0xD800, 0xDFFF), (RESERVED.start, RESERVED.stop - 1)]))
"""What a text may have: no surrogates, no reserved code points."""

LINE_ENDS: Final = _of("\n\r\u2028\u2029")
DIGIT: Final = _of("0123456789")
WORD: Final = from_ranges([(48, 57), (65, 90), (95, 95), (97, 122)])
SPACE: Final = union([_of("\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"), (0x2000, 0x200B)])


@lru_cache(maxsize=1)
def _case_pairs() -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for point in range(0x20000):  # no letter beyond has cases
        character = chr(point)
        for other in {character.lower(), character.upper()} - {character}:
            if len(other) == 1 and (point < 128) == (other < "\x80"):
                pairs += (point, ord(other)), (ord(other), point)
    return pairs


@lru_cache(maxsize=256)
def either_case(points: CodePoints) -> CodePoints:
    """The set with the other case of each letter. A letter outside of ASCII is no case of an ASCII letter."""
    if points == EVERY:
        return points
    if points[-1:] and points[-1] <= 128:
        letters = {letter for first, last in ranges_of(points) for letter in range(first, last + 1)}
        pairs = ((letter, ord(chr(letter).swapcase())) for letter in letters)
    else:
        pairs = (pair for pair in _case_pairs() if bisect_right(points, pair[0]) % 2)
    return union([points, from_ranges((other, other) for _, other in pairs)])


@lru_cache(maxsize=1)
def _all_characters() -> str:
    return array("I", range(END)).tobytes().decode(f"utf-32-{sys.byteorder[0]}e", "surrogatepass")


@lru_cache(maxsize=64)
def property_set(name: str) -> CodePoints:
    """The code points with a property, as ``regex`` knows it.

    UnsupportedPattern if there is no such property.
    """
    if not _NAME.fullmatch(name):
        raise UnsupportedPattern(f"\\p{{{name[:40]}}} is not a Unicode property")
    try:
        runs = regex.compile(rf"\p{{{name}}}+").finditer(_all_characters())
    except regex.error:
        raise UnsupportedPattern(f"\\p{{{name[:40]}}} is not a Unicode property") from None
    return tuple(boundary for run in runs for boundary in run.span())


def _rank(character: str) -> tuple[int, str]:
    """How plain a character is: letters, then digits, then others, control characters last."""
    known = _RANKS.get(character)
    if known is not None:
        return known, character
    return (200 if character > "~" else 100 if character >= " " else 300), character


class Alphabet(dict[str, int]):
    """Character -> its class, computed when it is first asked for.

    The sets ``[0-9]`` and ``[0-9a-f]`` give three classes: the digits, the letters ``a`` to ``f``, and all others.

    Attributes
    ----------
    size : int
        The number of classes that a text may have; the characters that no text may have are of the class ``size``.
    plain_order : list of (int, str)
        The classes, each with its plainest character, the plainest ones first.
    """

    def __init__(self, sets: frozenset[CodePoints]) -> None:
        changes: dict[int, int] = dict.fromkeys(TEXT, 1 << len(sets))
        for number, one in enumerate(sets):
            for boundary in one:
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
        for start, stop, number in zip(self._starts, [*self._starts[1:], END], self._ids, strict=True):
            result[number].append((start, stop))
        return result

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
        return sorted(self.order, key=lambda pair: _rank(pair[1]))

    @cached_property
    def order(self) -> list[tuple[int, str]]:
        """The same in the order of the classes."""
        return [(number, self.ascii[number][:1] or self.others[number]) for number in range(self.size)]


def _other(spans: list[tuple[int, int]]) -> str:
    beyond = [(max(start, 128), stop) for start, stop in spans if stop > 128]
    for point in _NICE_OTHERS:
        if any(start <= point < stop for start, stop in beyond):
            return chr(point)
    return next((chr(point) for span in beyond for point in span[:1] if chr(point).isprintable()), "") or (
        chr(beyond[0][0]) if beyond else ""
    )


@lru_cache(maxsize=256)
def alphabet_of(sets: frozenset[CodePoints]) -> Alphabet:
    """Return the coarsest alphabet that tells the sets apart."""
    return Alphabet(sets)
