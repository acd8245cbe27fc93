"""Shapes of texts, numbers, listed literals and unions (``lookup.values.shapes``)."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

import regex

from lookup.values.shapes import (
    NO_LETTERS,
    Frame,
    Reading,
    Shape,
    byte_length,
    is_letter,
)
from lookup.values.sorted_texts import SortedTexts, Span


class Number(Shape):
    """Numbers of bounded length, given by a ``regex`` pattern."""

    size = 1
    longest_closing = 1

    def __init__(self, pattern: str) -> None:
        self.pattern = _compile(pattern)

    def begin(self, character: str, frame: Frame | None) -> Iterable[Reading]:
        return NumberReading(self, frame, "").read(character)

    def shortest(self) -> str:
        return "0"


class NumberReading(Reading):
    """Inside a number or at its end."""

    def __init__(self, number: Number, frame: Frame | None, written: str) -> None:
        self.frame = frame
        self._number = number
        self._written = written
        self.whole = number.pattern.fullmatch(written) is not None

    def read(self, character: str) -> Iterable[Reading]:
        written = self._written + character
        possible = self._number.pattern.fullmatch(written, partial=True)
        return [NumberReading(self._number, self.frame, written)] if possible else []

    def closing(self) -> str:
        return "" if self.whole else "0"

    def identity(self) -> tuple[object, ...]:
        return NumberReading, id(self._number), id(self.frame), self._written


class Literals(Shape):
    """Given literals: the members of an enum, booleans, a default."""

    def __init__(self, literals: Iterable[str]) -> None:
        self.given = tuple(literals)
        self.literals = SortedTexts(self.given)

    @cached_property
    def letters(self) -> frozenset[str]:
        return frozenset(filter(is_letter, self.literals.characters(self.literals.whole)))

    @cached_property
    def size(self) -> int:
        return byte_length(self.shortest())

    @cached_property
    def longest_closing(self) -> int:
        return max(map(byte_length, self.given))

    def shortest(self) -> str:
        return min(self.given, key=byte_length)

    def begin(self, character: str, frame: Frame | None) -> Iterable[Reading]:
        return LiteralReading(self, frame, self.literals.whole).read(character)


class LiteralReading(Reading):
    """Inside a given literal or at its end."""

    def __init__(self, shape: Literals, frame: Frame | None, span: Span) -> None:
        self.frame = frame
        self._shape = shape
        self._span = span
        self.whole = shape.literals.ends(span)

    def read(self, character: str) -> Iterable[Reading]:
        span = self._shape.literals.narrow(self._span, character)
        return [LiteralReading(self._shape, self.frame, span)] if span else []

    def closing(self) -> str:
        start, end, length = self._span
        return min((text[length:] for text in self._shape.literals.texts[start:end]), key=byte_length)

    def letters(self) -> Iterable[str]:
        return filter(is_letter, self._shape.literals.characters(self._span))

    def identity(self) -> tuple[object, ...]:
        return LiteralReading, id(self._shape), id(self.frame), self._span


class Union(Shape):
    """The literals of several shapes."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self._shapes = shapes

    @cached_property
    def alternatives(self) -> tuple[Shape, ...]:
        return tuple(alternative for shape in self._shapes for alternative in shape.alternatives)

    @cached_property
    def letters(self) -> frozenset[str]:
        return NO_LETTERS.union(*(shape.letters for shape in self.alternatives))

    @cached_property
    def width(self) -> int:
        by_bracket: dict[str, int] = {}
        for shape in self.alternatives:
            by_bracket[shape.bracket] = by_bracket.get(shape.bracket, 0) + shape.width
        return max(by_bracket.values())

    @cached_property
    def size(self) -> int:
        return min(shape.size for shape in self.alternatives)

    @cached_property
    def longest_closing(self) -> int:
        return max(shape.longest_closing for shape in self.alternatives)

    def begin(self, character: str, frame: Frame | None) -> Iterable[Reading]:
        return [reading for shape in self.alternatives for reading in shape.begin(character, frame)]

    def shortest(self) -> str:
        return min(self.alternatives, key=lambda shape: shape.size).shortest()


@lru_cache(maxsize=64)
def _compile(pattern: str) -> "regex.Pattern[str]":
    return regex.compile(pattern)
