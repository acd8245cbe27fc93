"""Parsers of numbers and of listed literals (``lookup.grammar.parsers``)."""
# ruff: noqa: D102 - overriding methods are documented in the base class

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from math import isfinite
from typing import Final, NamedTuple

import regex

from lookup.grammar.number_here import NUMBER_CHARACTERS, NumberHere
from lookup.grammar.parsers import CharRange, LeafParser, byte_length, char_ranges
from lookup.schema.number_range import Numbers


class AnyNumbers:
    """Numbers of bounded length, given by a ``regex`` pattern. Each beginning is one, or is one before a zero.

    A number that no float holds, such as ``1e999`` or ``1e-999``, is none.
    """

    integer = False

    def __init__(self, pattern: str) -> None:
        self._pattern = regex.compile(pattern)

    def complete(self, written: str) -> bool:
        """Whether it is a number."""
        return self._pattern.fullmatch(written) is not None and _is_held(written)

    def possible(self, written: str) -> bool:
        """Whether a number begins so."""
        return self._pattern.fullmatch(written, partial=True) is not None and _is_held(written)

    def completion(self, written: str) -> str:
        """What completes the beginning of a number."""
        return "" if self.complete(written) else "0"


class AnyIntegers(AnyNumbers):
    """As ``AnyNumbers``, but integers, of digits or as ``1e6``."""

    integer = True
    _scaled = Numbers(integer=True)

    def complete(self, written: str) -> bool:
        """Whether it is an integer."""
        return super().complete(written) or self._scaled.complete(written)

    def possible(self, written: str) -> bool:
        """Whether an integer begins so."""
        return super().possible(written) or ("e" in written.lower() and self._scaled.possible(written))

    def completion(self, written: str) -> str:
        """What completes the beginning of an integer."""
        return super().completion(written) if super().possible(written) else self._scaled.completion(written)


def _is_held(written: str) -> bool:
    """Whether a float holds a number that has begun so: not one with too large an exponent."""
    mantissa, exponent, digits = written.lower().partition("e")
    if not exponent or not digits.strip("+-"):
        return True
    return isfinite(value := float(written)) and (value != 0.0 or not mantissa.strip("-0."))


class Number(LeafParser):
    """Decimal numbers. The state is what is written."""

    initial = ""

    def __init__(self, numbers: Numbers | AnyNumbers) -> None:
        self.numbers = numbers

    def advance(self, state: str, character: str) -> str | None:
        written = state + character
        return written if character in NUMBER_CHARACTERS and self.numbers.possible(written) else None

    def number(self, state: str) -> NumberHere:
        return NumberHere(state, self.numbers.integer, self.may_end(state))

    def may_end(self, state: str) -> bool:
        return bool(state) and self.numbers.complete(state)

    def completion(self, state: str) -> str:
        return self.numbers.completion(state)

    def allowed_ranges(self, state: str) -> list[CharRange]:
        return char_ranges(c for c in NUMBER_CHARACTERS if self.numbers.possible(state + c))


_ONLY_NUMBER: Final = re.compile(r"([^0-9a-z\-]*)(-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)(\W.*)?", re.DOTALL)
"""A number, what stands before it, and what closes it."""


def numbers_of(literals: Sequence[str]) -> tuple[str, frozenset[str]] | None:
    """The numbers that literals are, and what stands before each, such as a quote; ``None`` if not all are numbers."""
    found = [each.groups() for text in literals if (each := _ONLY_NUMBER.fullmatch(text)) is not None]
    if not found or len(found) < len(literals) or len({before for before, _, _ in found}) > 1:
        return None
    return found[0][0], frozenset(number for _, number, _ in found)


class Stretch(NamedTuple):
    """The texts ``start`` to ``end`` of a sorted list. They share their first ``length`` characters."""

    start: int
    end: int
    length: int


class SortedTexts:
    """Distinct texts, sorted so that those with a common prefix are adjacent.

    ``whole``: the stretch of all texts.
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

    def stretches(self, stretch: Stretch) -> Iterator[tuple[str, Stretch]]:
        """The characters that may continue a stretch, and the stretches behind."""
        start, end, length = stretch
        start += self.ends(stretch)
        while start < end:
            character = self.texts[start][length]
            stop = bisect_right(self.texts, character, start, end, key=lambda text: text[length])
            yield character, Stretch(start, stop, length + 1)
            start = stop


def is_prefix_free(texts: Iterable[str]) -> bool:
    """Whether no text is a prefix of another one."""
    ordered = sorted(texts)
    return not any(longer.startswith(shorter) for shorter, longer in itertools.pairwise(ordered))


class Literals(LeafParser):
    """Given literals: the members of an enum, booleans, a default."""

    def __init__(self, literals: Iterable[str]) -> None:
        self.given = tuple(literals)
        self.literals = SortedTexts(self.given)
        self.initial = self.literals.whole

    def only(self, wanted: Callable[[str], bool]) -> "Literals | None":
        """Those that are wanted; ``None`` if none is."""
        found = list(filter(wanted, self.given))
        return Literals(found) if found else None

    @property
    def listed(self) -> tuple[str, ...]:
        return self.given

    @cached_property
    def _numbers(self) -> tuple[str, frozenset[str]] | None:
        return numbers_of(self.given)

    def number(self, state: Stretch) -> NumberHere | None:
        if self._numbers is None:
            return None
        before, numbers = self._numbers
        written = self.literals.texts[state.start][len(before) : state.length]
        if not written or not any(number.startswith(written) for number in numbers):
            return None
        return NumberHere(written, all(number.lstrip("-").isdigit() for number in numbers), written in numbers)

    def shortest(self) -> str:
        return min(self.given, key=byte_length)

    def advance(self, state: Stretch, character: str) -> Stretch | None:
        return self.literals.narrow(state, character)

    def may_end(self, state: Stretch) -> bool:
        return state.length > 0 and self.literals.ends(state)

    def completion(self, state: Stretch) -> str:
        start, end, length = state
        return min((text[length:] for text in self.literals.texts[start:end]), key=byte_length)

    def allowed_ranges(self, state: Stretch) -> list[CharRange]:
        return char_ranges(character for character, _ in self.literals.stretches(state))
