"""Shapes of numbers, listed literals and unions (``lookup.values.shapes``)."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final, Protocol

import regex

from lookup.values.shapes import Frame, Reading, Shape, Span, byte_length, spans_of
from lookup.values.sorted_texts import SortedTexts, Stretch

_IN_NUMBERS: Final = "-+.0123456789eE"


class WrittenNumbers(Protocol):
    """Which numbers there are, as they are written."""

    @property
    def longest(self) -> int:
        """Upper bound on the characters of ``rest``."""

    def whole(self, written: str) -> bool:
        """Whether it is a number."""

    def possible(self, written: str) -> bool:
        """Whether a number begins so."""

    def rest(self, written: str) -> str:
        """What completes the beginning of a number."""


class AnyNumbers:
    """Numbers of bounded length, given by a ``regex`` pattern. Each beginning is one, or is one before a zero."""

    longest = 1

    def __init__(self, pattern: str) -> None:
        self._pattern = regex.compile(pattern)

    def whole(self, written: str) -> bool:
        """See WrittenNumbers."""
        return self._pattern.fullmatch(written) is not None

    def possible(self, written: str) -> bool:
        """See WrittenNumbers."""
        return self._pattern.fullmatch(written, partial=True) is not None

    def rest(self, written: str) -> str:
        """See WrittenNumbers."""
        return "" if self.whole(written) else "0"


class Number(Shape):
    """Decimal numbers."""

    def __init__(self, numbers: WrittenNumbers) -> None:
        self.numbers = numbers

    @property
    def longest_closing(self) -> int:
        return self.numbers.longest

    @cached_property
    def size(self) -> int:
        return len(self.shortest())

    def shortest(self) -> str:
        return self.numbers.rest("")

    def start(self, frame: Frame | None) -> Iterable[Reading]:
        return [_NumberReading(self.numbers, frame, "")]


class _NumberReading(Reading):
    """Inside a number or at its end."""

    def __init__(self, numbers: WrittenNumbers, frame: Frame | None, written: str) -> None:
        self.frame = frame
        self._numbers = numbers
        self._written = written
        self.whole = bool(written) and numbers.whole(written)

    def read(self, character: str) -> Iterable[Reading]:
        if character not in _IN_NUMBERS or not self._numbers.possible(self._written + character):
            return []
        return [_NumberReading(self._numbers, self.frame, self._written + character)]

    def closing(self) -> str:
        return self._numbers.rest(self._written)

    def identity(self) -> tuple[object, ...]:
        return _NumberReading, self._numbers, self.frame, self._written

    def spans(self) -> list[Span]:
        return spans_of(c for c in _IN_NUMBERS if self._numbers.possible(self._written + c))


class Literals(Shape):
    """Given literals: the members of an enum, booleans, a default."""

    def __init__(self, literals: Iterable[str]) -> None:
        self.given = tuple(literals)
        self.literals = SortedTexts(self.given)

    @cached_property
    def size(self) -> int:
        return byte_length(self.shortest())

    @cached_property
    def longest_closing(self) -> int:
        return max(map(byte_length, self.given))

    def shortest(self) -> str:
        return min(self.given, key=byte_length)

    def start(self, frame: Frame | None) -> Iterable[Reading]:
        return [_LiteralReading(self, frame, self.literals.whole)]


class _LiteralReading(Reading):
    """Inside a given literal or at its end."""

    def __init__(self, shape: Literals, frame: Frame | None, stretch: Stretch) -> None:
        self.frame = frame
        self._shape = shape
        self._stretch = stretch
        self.whole = stretch.length > 0 and shape.literals.ends(stretch)

    def read(self, character: str) -> Iterable[Reading]:
        stretch = self._shape.literals.narrow(self._stretch, character)
        return [_LiteralReading(self._shape, self.frame, stretch)] if stretch else []

    def closing(self) -> str:
        start, end, length = self._stretch
        return min((text[length:] for text in self._shape.literals.texts[start:end]), key=byte_length)

    def spans(self) -> list[Span]:
        return spans_of(self._shape.literals.characters(self._stretch))

    def identity(self) -> tuple[object, ...]:
        return _LiteralReading, self._shape, self.frame, self._stretch


class Union(Shape):
    """The literals of several shapes."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self._shapes = shapes

    @cached_property
    def alternatives(self) -> tuple[Shape, ...]:
        return tuple(alternative for shape in self._shapes for alternative in shape.alternatives)

    @cached_property
    def size(self) -> int:
        return min(shape.size for shape in self.alternatives)

    @cached_property
    def longest_closing(self) -> int:
        return max(shape.longest_closing for shape in self.alternatives)

    def start(self, frame: Frame | None) -> Iterable[Reading]:
        return [reading for shape in self.alternatives for reading in shape.start(frame)]

    def shortest(self) -> str:
        return min(self.alternatives, key=lambda shape: shape.size).shortest()
