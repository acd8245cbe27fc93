"""Decimal numbers between limits, digit by digit: whether a text may become one, and what completes it.

All in exact integers: the allowed numbers are the multiples ``n * grid`` with ``n`` between two limits. A text of
digits stands for intervals of such ``n``, one for each number of further digits. Behind them an exponent may stand.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, gcd, inf, lcm
from typing import Final

from lookup.schema.schema import INFINITE

MAX_DIGITS: Final = 40
"""The most digits of a whole number without limits: identifiers of 128 bits, and a number must end some time."""

Real = float | Fraction

_FLOAT_PRECISION: Final = 15  # digits that every float keeps
_MOST_FRACTION_DIGITS: Final = 60  # a finer limit is rounded to so many digits
_MOST_DIGITS: Final = 500  # readers take 640 characters
_FLOAT_DIGITS: Final = 308  # a number with more, and a fraction, is no float
_SMALLEST: Final = -324  # exponents below it are none of a float
_TEXT = re.compile(r"(-?)(0|[1-9][0-9]*|)(?:(\.)([0-9]*))?")
_WITH_EXPONENT = re.compile(r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)[eE]([+-]?[0-9]*)")


def _spellings(exponent: int) -> tuple[str, ...]:
    """The texts of an exponent."""
    return f"{exponent}", f"{exponent:+}", f"{exponent:0{2 + (exponent < 0)}}", f"{exponent:+03}"


_EXPONENTS: Final = [
    (exponent, _spellings(exponent)) for exponent in sorted(range(_SMALLEST, _FLOAT_DIGITS + 1), key=abs)
]
"""Exponents, and the texts of each, those near zero first."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers between two limits that are multiples of a step, all in exact arithmetic.

    Integers from 30 to 120: behind ``1`` two more digits are needed, as 1 and 10 to 19 are too small and 100 to 120
    are not, so ``00`` completes it; ``12`` needs one, ``0``; nothing begins with ``2``: 2, 20 to 29, 200 to 299.
    """

    integer: bool = False
    low: Fraction | None = None
    high: Fraction | None = None
    low_open: bool = False
    high_open: bool = False
    step: Fraction | None = None
    excluded: frozenset[Fraction] = frozenset()

    @property
    def is_limited(self) -> bool:
        """Whether not every number, or every integer, is allowed."""
        return not (self.low is None and self.high is None and self.step is None and not self.excluded)

    @property
    def size(self) -> int:
        """About the characters of the smallest number; ``INFINITE`` if there is none that is written."""
        nearest = self._nearest(None, None)
        return INFINITE if nearest is None or abs(nearest * self._grid) >= 10**self._most_digits else 1

    @cached_property
    def _limits(self) -> list[Fraction]:
        return [limit for limit in (self.low, self.high) if limit is not None]

    @cached_property
    def _most_digits(self) -> int:
        """The most digits before the point."""
        widest = max(map(_whole_digits, self._limits), default=0)
        if len(self._limits) < 2:
            widest = max(MAX_DIGITS, 1 + max(widest, _whole_digits(self.step or Fraction(1))))
        return min(_MOST_DIGITS, widest)

    @cached_property
    def _fraction_digits(self) -> int:
        """The most digits behind the point."""
        fine = map(_decimal_digits, (*self._limits, self.step or Fraction(1)))
        ends = [limit for limit, is_open in ((self.low, self.low_open), (self.high, self.high_open)) if is_open]
        refused = [_whole_digits(value) for value in (*ends, *self.excluded) if value]
        # from what it may not be, also as a float
        told_apart = _FLOAT_PRECISION - max(refused) if refused else MAX_DIGITS
        return 0 if self.integer else min(_MOST_FRACTION_DIGITS, max(1, told_apart, *fine))

    @cached_property
    def _grid(self) -> Fraction:
        """All numbers are multiples of it."""
        grid = Fraction(1, 10**self._fraction_digits)
        return common_multiple(grid, self.step) if self.step else grid

    @cached_property
    def _ends(self) -> tuple[int | None, int | None]:
        """The first and the last multiple."""
        low = None if self.low is None else _first(self.low, self._grid, self.low_open)
        return low, None if self.high is None else -_first(-self.high, self._grid, self.high_open)

    @cached_property
    def _excluded(self) -> frozenset[Fraction]:
        return frozenset(value / self._grid for value in self.excluded)

    def possible(self, text: str) -> bool:
        """Whether a number begins with ``text``, or is ``text``."""
        found = _TEXT.fullmatch(text)
        if found is None:
            return next(self._exponents(text), None) is not None
        sign, digits, point, behind = found.groups()
        if not digits:
            return not point and (not sign or self._nearest(None, -1) is not None)
        if len(digits) > self._most_digits or len(behind or "") > self._fraction_digits:
            return False
        if point and (self.integer or len(digits) > _FLOAT_DIGITS):
            return False
        return self._more(sign, digits, point, behind or "") is not None

    def complete(self, text: str) -> bool:
        """Whether ``text`` is such a number."""
        found = _TEXT.fullmatch(text)
        if found is None:
            return self._is_scaled(text)
        if not found[2] or (found[3] and (not found[4] or self.integer)):
            return False
        return self._allows(Fraction(text)) and not (found[1] and not float(text))

    def _allows(self, value: Fraction) -> bool:
        number, (low, high) = value / self._grid, self._ends
        if number.denominator != 1 or number in self._excluded:
            return False
        return (low is None or number >= low) and (high is None or number <= high)

    def _is_scaled(self, text: str) -> bool:
        """Whether a text is an allowed number with an exponent."""
        found = _WITH_EXPONENT.fullmatch(text)
        if found is None or not found[2].strip("+-") or found[2] not in _spellings(exponent := int(found[2])):
            return False
        mantissa = Fraction(found[1])
        return bool(mantissa) and self._may_scale(found[1]) and self._allows_scaled(mantissa, exponent)

    def _may_scale(self, mantissa: str) -> bool:
        """Whether an exponent may stand behind a text: of an integer behind digits, 1e6 but not 1.5e3."""
        return self.possible(mantissa) and not (self.integer and "." in mantissa)

    def _allows_scaled(self, mantissa: Fraction, exponent: int) -> bool:
        """Whether a number with an exponent is allowed, exactly and as the float that readers make of it."""
        if not _SMALLEST <= exponent <= (self._most_digits if self.integer else _FLOAT_DIGITS):
            return False
        exact = mantissa * Fraction(10) ** exponent
        if abs(exact) >= 2**1024 or not (read := float(exact)) or (self.step and exact % self.step):
            return False
        if self.integer and (exact.denominator != 1 or abs(exact) >= 10**self._most_digits):
            return False
        limits = (self.low, self.high, self.excluded)
        low, high = (None if limit is None else _as_float(limit) for limit in limits[:2])
        return self._is_inside(exact, *limits) and self._is_inside(read, low, high, map(_as_float, self.excluded))

    def _is_inside(self, value: Real, low: Real | None, high: Real | None, excluded: Iterable[Real]) -> bool:
        above = low is None or (value > low if self.low_open else value >= low)
        return above and (high is None or (value < high if self.high_open else value <= high)) and value not in excluded

    def _exponents(self, text: str) -> Iterator[str]:
        """What completes the exponent of a text to an allowed number, exponents near zero first."""
        found = _WITH_EXPONENT.fullmatch(text)
        if found is None or not self._may_scale(found[1]) or not (number := Fraction(found[1])):
            return
        for exponent, written in _EXPONENTS:
            rests = [one.removeprefix(found[2]) for one in written if one.startswith(found[2])]
            if rests and self._allows_scaled(number, exponent):
                yield from rests

    def completion(self, text: str) -> str:
        """A short text that completes ``text``, which begins a number."""
        if self.complete(text):
            return ""
        if (found := _TEXT.fullmatch(text)) is None:
            return next(self._exponents(text))
        sign, digits, point, behind = found.groups()
        if not digits:
            number = (self._nearest(None, -1 if sign else None) or 0) * self._grid
            return _written(number, _decimal_digits(number))[len(text) :]
        behind = behind or ""
        more = self._more(sign, digits, point, behind) or 0
        first, last = self._multiples(sign, digits + behind, more, len(behind))
        for places in range(len(behind) + (not more), self._fraction_digits + 1):
            step = common_multiple(self._grid, Fraction(1, 10**places)) / self._grid
            nearest = self._nearest(first, last, step.numerator)
            if nearest is not None:
                return _written(nearest * self._grid, places)[len(text) :]
        return ""

    def all_numbers(self, limit: int) -> list[float] | None:
        """All numbers if they are at most ``limit``; otherwise ``None``."""
        low, high = self._ends
        if low is None or high is None or high - low >= limit:
            return None
        found = [n * self._grid for n in range(low, high + 1) if n not in self._excluded]
        return [int(number) if number.denominator == 1 else float(number) for number in found]

    def _more(self, sign: str, digits: str, point: str | None, behind: str) -> int | None:
        """The fewest digits before the point that are still to come; ``None`` if no number begins so."""
        most = 0 if point or digits == "0" else self._most_digits - len(digits)
        intervals = (self._multiples(sign, digits + behind, more, len(behind)) for more in range(most + 1))
        return next((more for more, ends in enumerate(intervals) if self._nearest(*ends) is not None), None)

    def _multiples(self, sign: str, digits: str, more: int, behind: int) -> tuple[int, int]:
        """The first and last multiple whose decimal has ``more`` digits behind some digits, and then a fraction."""
        begun = int(digits)
        numerator = self._grid.denominator * 10**more
        divisor = self._grid.numerator * 10**behind
        first, last = -(-begun * numerator // divisor), -(-(begun + 1) * numerator // divisor) - 1
        return (-last, min(-first, -1)) if sign else (first, last)

    def _nearest(self, first: int | None, last: int | None, step: int = 1) -> int | None:
        """The allowed multiple, also of ``step``, between two others that is nearest to zero; ``None`` without one."""
        low, high = self._ends
        low = first if low is None or (first is not None and first > low) else low
        high = last if high is None or (last is not None and last < high) else high
        start = 0
        if low is not None and low > 0:
            start = -(-low // step) * step
        elif high is not None and high < 0:
            start = high // step * step
        for distance in range(0, step * (len(self._excluded) + 1), step):
            for number in (start + distance, start - distance):
                inside = (low is None or number >= low) and (high is None or number <= high)
                if inside and number not in self._excluded:
                    return number
        return None


def _as_float(value: Fraction) -> float:
    """The number as readers have it; infinite beyond all floats."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _first(limit: Fraction, grid: Fraction, is_open: bool) -> int:
    """The first multiple of the grid from a limit on: ``n`` of ``n * grid``."""
    return floor(limit / grid) + 1 if is_open else ceil(limit / grid)


def common_multiple(one: Fraction, other: Fraction) -> Fraction:
    """The smallest number that is a multiple of both."""
    return Fraction(lcm(one.numerator, other.numerator), gcd(one.denominator, other.denominator))


def _whole_digits(value: Fraction) -> int:
    """How many digits stand before the point of a decimal; ``_MOST_DIGITS`` if there are more."""
    return len(str(min(abs(int(value)), 10**_MOST_DIGITS - 1)))


def _decimal_digits(value: Fraction) -> int:
    """How many digits stand behind the point of a decimal."""
    digits = 0
    while value.denominator != 1 and digits < _MOST_FRACTION_DIGITS:
        value *= 10
        digits += 1
    return digits


def _written(value: Fraction, places: int) -> str:
    """A decimal with some digits behind its point, without an exponent."""
    sign = "-" if value < 0 else ""
    whole = str(int(abs(value) * 10**places)).rjust(places + 1, "0")
    return sign + (f"{whole[:-places]}.{whole[-places:]}" if places else whole)
