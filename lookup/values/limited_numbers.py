"""The shape of numbers between limits (``lookup.values.shapes``)."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from collections.abc import Iterable
from functools import cached_property

from lookup.schema.nodes import Numbers
from lookup.schema.number_range import NumberRange
from lookup.values.shapes import Frame, Reading, Shape


class LimitedNumber(Shape):
    """Decimal numbers between limits, multiples of a step."""

    def __init__(self, numbers: Numbers) -> None:
        self.range = NumberRange(numbers)

    @cached_property
    def size(self) -> int:
        return len(self.shortest())

    @property
    def longest_closing(self) -> int:
        return self.range.longest

    def shortest(self) -> str:
        return self.range.rest("")

    def begin(self, character: str, frame: Frame | None) -> Iterable[Reading]:
        return _LimitedReading(self.range, frame, "").read(character)


class _LimitedReading(Reading):
    """Inside a number or at its end."""

    def __init__(self, numbers: NumberRange, frame: Frame | None, written: str) -> None:
        self.frame = frame
        self._range = numbers
        self._written = written
        self.whole = numbers.whole(written)

    def read(self, character: str) -> Iterable[Reading]:
        if character not in "-.0123456789":
            return []
        written = self._written + character
        return [_LimitedReading(self._range, self.frame, written)] if self._range.possible(written) else []

    def closing(self) -> str:
        return self._range.rest(self._written)

    def identity(self) -> tuple[object, ...]:
        return _LimitedReading, id(self._range), id(self.frame), self._written
