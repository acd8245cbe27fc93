"""Shapes of texts, numbers, listed literals and unions (``lookup.values.shapes``)."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Final

import regex

from lookup.values.notations import TextSyntax
from lookup.values.shapes import (
    ANY_CHARACTER,
    ASCII,
    NO_BYTES,
    NO_LETTERS,
    Ended,
    Frame,
    Reading,
    Shape,
    byte_length,
    is_letter,
    leading_bytes,
)
from lookup.values.sorted_texts import SortedTexts, Span

_MAX_TRIED: Final = 10_000
"""Digits are appended to a key until there is none like it."""


class Text(Shape):
    """Any text between quotes."""

    _COMPLETIONS: Final = ("", "\\", "'", *("0" * n for n in range(1, 5)))
    _LOW_HALF: Final = "\\udd00"
    _BEGUN: Final = ("\\", "\\u", "\\ud8")  # escapes with the longest completions

    def __init__(self, syntax: TextSyntax) -> None:
        self.syntax = syntax
        self._unit = _compile(syntax.unit)
        self._units = _compile(f"{syntax.unit}++")
        self._bytes_within: dict[str, frozenset[int]] = {}

    def go_on(self, pending: str, character: str) -> str | None:
        """The pending part of an escape after one more character; ``None`` if the character may not follow."""
        return _unit_step(self._unit, pending, character)

    def skip(self, text: str, position: int) -> int:
        """The end of the complete characters and escapes that begin at ``position``."""
        found = self._units.match(text, position)
        return found.end() if found else position

    def bytes_within(self, pending: str) -> frozenset[int]:
        """The first UTF-8 bytes of the characters that may continue a text or a pending escape."""
        if pending not in self._bytes_within:
            going_on = (c for c in (*ASCII, ANY_CHARACTER) if self.go_on(pending, c) is not None)
            self._bytes_within[pending] = leading_bytes(going_on)
        return self._bytes_within[pending]

    def completion(self, pending: str) -> str:
        """The text that completes an escape."""
        halves = (self._LOW_HALF[start:] for start in range(len(self._LOW_HALF)))
        behind = ("0" * n + self._LOW_HALF for n in (1, 2))
        rests = (*self._COMPLETIONS, *halves, *behind) if pending else ("",)
        return next(rest for rest in rests if not pending or self._unit.fullmatch(pending + rest))

    @property
    def size(self) -> int:
        return 2 if self.syntax.may_be_empty else 3

    @cached_property
    def longest_closing(self) -> int:
        begun = [e for e in self._BEGUN if self._unit.fullmatch(e, partial=True)]
        return max(self.size, *(1 + len(self.completion(escape)) for escape in begun))

    def shortest(self) -> str:
        return self.syntax.quote + ("" if self.syntax.may_be_empty else "0") + self.syntax.quote

    def begin(self, character: str, frame: Frame | None) -> Iterable[Reading]:
        return [TextReading(self, frame)] if character == self.syntax.quote else []

    def shortest_of(self, frame: Frame) -> str:
        """A short text that the frame admits."""
        return self.syntax.quote + TextReading(self, frame).closing()


class TextReading(Reading):
    """Inside a text, behind its opening quote."""

    def __init__(self, text: Text, frame: Frame | None, written: str = "", pending: str = "") -> None:
        self.frame = frame
        self.text = text
        self._written = written
        self._pending = pending

    def read(self, character: str) -> Iterable[Reading]:
        syntax = self.text.syntax
        if not self._pending and character == syntax.quote:
            if not self._written and not syntax.may_be_empty:
                return []
            return (
                [Ended(None)] if self.frame is None else self.frame.ended(syntax.quote + self._written + syntax.quote)
            )
        pending = self.text.go_on(self._pending, character)
        return [] if pending is None else [TextReading(self.text, self.frame, self._written + character, pending)]

    def skip(self, text: str, position: int) -> tuple[Reading, int]:
        end = position if self._pending else self.text.skip(text, position)
        if end == position:
            return self, position
        return TextReading(self.text, self.frame, self._written + text[position:end]), end

    def closing(self) -> str:
        syntax = self.text.syntax
        if not self._written and not syntax.may_be_empty:
            return self.text.shortest()[1:]
        begun = self._written + self.text.completion(self._pending)
        if self.frame is None:
            return begun[len(self._written) :] + syntax.quote
        for rest in ("", *map(str, range(_MAX_TRIED))):
            whole = syntax.quote + begun + rest + syntax.quote
            if self.frame.admits(whole):
                break
        return whole[1 + len(self._written) :] + self.frame.rest_behind(whole)

    def identity(self) -> tuple[object, ...]:
        return TextReading, id(self.text), id(self.frame), self._written

    def first_bytes(self) -> frozenset[int]:
        quote = self.text.syntax.quote
        closers = frozenset(quote.encode()) if not self._pending and self.takes(quote) else NO_BYTES
        return closers | self.text.bytes_within(self._pending)


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


@lru_cache(maxsize=4096)
def _unit_step(unit: "regex.Pattern[str]", pending: str, character: str) -> str | None:
    if unit.fullmatch(pending + character):
        return ""
    return pending + character if unit.fullmatch(pending + character, partial=True) else None
