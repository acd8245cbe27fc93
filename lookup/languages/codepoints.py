"""Sets of code points, as sorted boundaries: the set holds what lies from each even boundary up to the next one."""

import re
import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

import regex

from lookup.languages.limits import UnsupportedPattern
from lookup.reserved import RESERVED

END: Final = sys.maxunicode + 1
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

    Raises
    ------
    UnsupportedPattern
        If there is no such property.
    """
    if not _NAME.fullmatch(name):
        raise UnsupportedPattern(f"\\p{{{name[:40]}}} is not a Unicode property")
    try:
        runs = regex.compile(rf"\p{{{name}}}+").finditer(_all_characters())
    except regex.error:
        raise UnsupportedPattern(f"\\p{{{name[:40]}}} is not a Unicode property") from None
    return tuple(boundary for run in runs for boundary in run.span())
