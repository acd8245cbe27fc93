"""Shapes of numbers and of listed literals (``lookup.values.shapes``)."""
# ruff: noqa: D102 - overriding methods are documented in the base class

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Final, NamedTuple, Protocol

import regex

from lookup.values.shapes import Frame, Reading, Shape, Span, byte_length, spans_of

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


class Stretch(NamedTuple):
    """The texts ``start`` to ``end`` of a sorted list. They share their first ``length`` characters."""

    start: int
    end: int
    length: int


class SortedTexts:
    """Distinct texts, sorted so that those with a common prefix are adjacent.

    Attributes
    ----------
    texts : list of str
    whole : Stretch
        The stretch of all texts.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = sorted(set(texts))
        self.whole = Stretch(0, len(self.texts), 0)

    def narrow(self, stretch: Stretch, character: str) -> Stretch | None:
        """The texts of a stretch that continue with a character; ``None`` if there are none. Logarithmic time."""
        start, end, length = stretch
        start = bisect_left(self.texts, character, start, end, key=lambda text: text[length : length + 1])
        end = bisect_right(self.texts, character, start, end, key=lambda text: text[length : length + 1])
        return Stretch(start, end, length + 1) if start < end else None

    def ends(self, stretch: Stretch) -> bool:
        """Whether one text of a stretch consists of the shared characters only."""
        return len(self.texts[stretch.start]) == stretch.length

    def characters(self, stretch: Stretch) -> Iterator[str]:
        """The characters that may continue a stretch."""
        start, end, length = stretch
        start += self.ends(stretch)
        while start < end:
            character = self.texts[start][length]
            yield character
            start = bisect_right(self.texts, character, start, end, key=lambda text: text[length])


def is_prefix_free(texts: Iterable[str]) -> bool:
    """Whether no text is a prefix of another one."""
    ordered = sorted(texts)
    return not any(longer.startswith(shorter) for shorter, longer in itertools.pairwise(ordered))


class Literals(Shape):
    """Given literals: the members of an enum, booleans, a default."""

    def __init__(self, literals: Iterable[str]) -> None:
        self.given = tuple(literals)
        self.literals = SortedTexts(self.given)

    def only(self, wanted: Callable[[str], bool]) -> "Literals | None":
        """Those that are wanted; ``None`` if none is."""
        found = list(filter(wanted, self.given))
        return Literals(found) if found else None

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
