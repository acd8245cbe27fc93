"""Decimal numbers between limits, digit by digit: whether a text may become one, and what completes it.

All in exact integers: the allowed numbers are the multiples ``n * step`` with ``n`` between two limits. A text of
digits stands for intervals of such ``n``, one for each number of further digits. Limited numbers have no exponent.
"""

import re
from fractions import Fraction
from math import gcd
from typing import Final, NamedTuple

from lookup.schema.nodes import Numbers

MAX_DIGITS: Final = 40
"""The most digits of a whole number without limits: identifiers of 128 bits, and a number must end some time."""

_FRACTION_DIGITS: Final = 15
_MOST_FRACTION_DIGITS: Final = 60
_MOST_DIGITS: Final = 500  # readers take 640 characters
_FLOAT_DIGITS: Final = 308  # a number with more, and a fraction, is no float
_TEXT = re.compile(r"(-?)(0|[1-9][0-9]*|)(?:(\.)([0-9]*))?")


class _Begun(NamedTuple):
    """The digits of a text without its sign and point: their number, how many stand behind the point."""

    digits: int
    behind: int


class NumberRange:
    """The texts of limited numbers.

    Parameters
    ----------
    numbers : Numbers
    """

    def __init__(self, numbers: Numbers) -> None:
        self._integer = numbers.integer
        limits = [limit for limit in (numbers.low, numbers.high) if limit is not None]
        widest = max((_whole_digits(limit) for limit in limits), default=0)
        if len(limits) < 2:
            widest = max(MAX_DIGITS, 1 + max(widest, _whole_digits(numbers.step or Fraction(1))))
        self._most_digits = min(_MOST_DIGITS, widest)
        grid = Fraction(1) if numbers.integer else Fraction(1, 10**_FRACTION_DIGITS)
        fine = [_decimal_digits(limit) for limit in (*limits, numbers.step or Fraction(1))]
        self._fraction_digits = 0 if numbers.integer else min(_MOST_FRACTION_DIGITS, max(_FRACTION_DIGITS, *fine))
        if not numbers.integer:
            grid = Fraction(1, 10**self._fraction_digits)
        if numbers.step:
            grid = common_multiple(grid, numbers.step)
        self._grid = grid
        self._low = None if numbers.low is None else _first(numbers.low, grid, numbers.low_open)
        self._high = None if numbers.high is None else -_first(-numbers.high, grid, numbers.high_open)
        self._excluded = {value / grid for value in numbers.excluded}

    @property
    def is_empty(self) -> bool:
        """Whether there is no such number, or none with so few digits that it is written."""
        return not self._has(None, None)

    @property
    def longest(self) -> int:
        """The most characters that complete a text."""
        return len("-.") + self._most_digits + self._fraction_digits

    def possible(self, text: str) -> bool:
        """Whether a number begins with ``text``, or is ``text``."""
        found = _TEXT.fullmatch(text)
        if found is None:
            return False
        sign, digits, point, behind = found.groups()
        if not digits:
            return not point and (not sign or self._has(None, -1))
        if len(digits) > self._most_digits or len(behind or "") > self._fraction_digits:
            return False
        if point and (self._integer or len(digits) > _FLOAT_DIGITS):
            return False
        begun = _Begun(int(digits + (behind or "")), len(behind or ""))
        if point or digits == "0":
            return self._reaches(begun, 0, sign)
        longest = self._most_digits - len(digits)
        return any(self._reaches(begun, more, sign) for more in range(longest + 1))

    def whole(self, text: str) -> bool:
        """Whether ``text`` is such a number."""
        found = _TEXT.fullmatch(text)
        if found is None or not found[2] or (found[3] and not found[4]) or (found[3] and self._integer):
            return False
        number = Fraction(text) / self._grid
        if number.denominator != 1 or number in self._excluded or (not number and found[1]):
            return False
        return (self._low is None or number >= self._low) and (self._high is None or number <= self._high)

    def rest(self, text: str) -> str:
        """A short text that completes ``text``, which begins a number."""
        if not text:
            return _written(self._number(self._nearest(None, None)))
        if self.whole(text):
            return ""
        sign, digits, point, behind = _TEXT.fullmatch(text).groups()  # type: ignore[union-attr]
        if not digits:
            return _written(-self._number(self._nearest(None, -1)))
        begun = _Begun(int(digits + (behind or "")), len(behind or ""))
        most = 0 if point or digits == "0" else self._most_digits - len(digits)
        whole = next((more for more in range(most) if self._reaches(begun, more, sign)), most)
        for more in range(0 if whole else 1, self._fraction_digits - begun.behind + 1):
            found = self._completion(begun.digits, whole + more, begun.behind + more, sign)
            if found is not None:
                return found if point or not more else f"{found[:whole]}.{found[whole:]}"
        return ""

    def all_numbers(self, limit: int) -> list[float] | None:
        """All numbers if they are at most ``limit``; otherwise ``None``."""
        if self._low is None or self._high is None or self._high - self._low >= limit:
            return None
        found = [n * self._grid for n in range(self._low, self._high + 1) if n not in self._excluded]
        return [int(number) if number.denominator == 1 else float(number) for number in found]

    def _number(self, multiple: int | None) -> Fraction:
        return (multiple or 0) * self._grid

    def _reaches(self, begun: _Begun, more: int, sign: str) -> bool:
        """Whether an allowed number is written with ``more`` digits behind the begun ones, and then a fraction."""
        numerator = self._grid.denominator * 10**more
        divisor = self._grid.numerator * 10**begun.behind
        first = -(-begun.digits * numerator // divisor)
        last = -(-(begun.digits + 1) * numerator // divisor) - 1
        if sign:
            first, last = -last, min(-first, -1)
        return self._nearest(first, last) is not None

    def _completion(self, begun: int, more: int, behind: int, sign: str) -> str | None:
        """The digits of an allowed number with ``more`` further digits, ``behind`` of all of them behind the point."""
        grid = common_multiple(self._grid, Fraction(1, 10**behind))
        unit = Fraction(1, 10**behind)
        low, high = begun * 10**more * unit, (begun * 10**more + 10**more - 1) * unit
        if sign:
            low, high = -high, -low
        if self._low is not None:
            low = max(low, self._low * self._grid)
        if self._high is not None:
            high = min(high, self._high * self._grid)
        multiple = _first(low, grid, is_open=False)
        for number in range(multiple, multiple + len(self._excluded) + 2):
            value = number * grid
            if value > high:
                return None
            if value / self._grid in self._excluded or (sign and not value):
                continue
            return str(int(abs(value) / unit)).rjust(len(str(begun)) + more, "0")[-more:] if more else ""
        return None

    def _has(self, first: int | None, last: int | None) -> bool:
        """Whether one of the allowed multiples of the step between two others has few enough digits."""
        nearest = self._nearest(first, last)
        return nearest is not None and abs(nearest * self._grid) < 10**self._most_digits

    def _nearest(self, first: int | None, last: int | None) -> int | None:
        """The allowed multiple of the step between two others that is nearest to zero; ``None`` if there is none."""
        low, high = self._low, self._high
        if first is not None and (low is None or first > low):
            low = first
        if last is not None and (high is None or last < high):
            high = last
        if low is not None and high is not None and low > high:
            return None
        start = 0 if low is None or low <= 0 else low
        if high is not None and high < start:
            start = high
        if not self._excluded:
            return start
        for distance in range(len(self._excluded) + 1):
            for number in (start + distance, start - distance):
                inside = (low is None or number >= low) and (high is None or number <= high)
                if inside and number not in self._excluded:
                    return number
        return None


def _first(limit: Fraction, grid: Fraction, is_open: bool) -> int:
    """The first multiple of the grid from a limit on: ``n`` of ``n * grid``."""
    quotient = limit / grid
    first = -(-quotient.numerator // quotient.denominator)
    return first + 1 if is_open and first == quotient else first


def common_multiple(one: Fraction, other: Fraction) -> Fraction:
    """The smallest number that is a multiple of both."""
    numerator = one.numerator * other.numerator // gcd(one.numerator, other.numerator)
    return Fraction(numerator, gcd(one.denominator, other.denominator))


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


def _written(value: Fraction) -> str:
    """A decimal in digits, without an exponent."""
    sign = "-" if value < 0 else ""
    digits = _decimal_digits(value)
    whole = str(int(abs(value) * 10**digits)).rjust(digits + 1, "0")
    return sign + (f"{whole[:-digits]}.{whole[-digits:]}" if digits else whole)
