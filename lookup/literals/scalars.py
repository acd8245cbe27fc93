"""Read texts, numbers and words in a dialect."""

import math
import re
from typing import Any, Final, NoReturn

from lookup.errors import LiteralError
from lookup.literals.dialects import Dialect

# The limit of int() is never below 640 digits, so int() accepts every number of this length.
MAX_NUMBER_LENGTH: Final = 640

_WORDS: Final = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf(?:inity)?)(?!\w)", re.IGNORECASE)
_AFTER_NUMBER = re.compile(r"[\w.]")
_HEX = re.compile(r"[0-9a-fA-F]*")
_OCTAL = re.compile(r"[0-7]{1,3}")
_LOW_SURROGATE = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")


def read_scalar(text: str, position: int, dialect: Dialect) -> tuple[Any, int]:
    """The text, number, boolean or null at ``position``, and the offset behind it; LiteralError if there is none."""
    if quote := dialect.opening.match(text, position):
        return _read_text(text, quote.end(), quote[0], dialect)
    if word := dialect.word.match(text, position):
        return _WORDS[word[0]], word.end()
    if _NOT_FINITE.match(text, position):
        fail("a finite number", position)
    number = dialect.number.match(text, position)
    if not number:
        fail("a value", position)
    if _AFTER_NUMBER.match(text, number.end()):
        fail("the end of the number", number.end())
    try:
        return _number(number[0]), number.end()
    except ValueError:
        fail(f"a finite number of at most {MAX_NUMBER_LENGTH} characters", position)


def _read_text(text: str, position: int, quote: str, dialect: Dialect) -> tuple[str, int]:
    """The text whose opening quote ends at ``position``, and the offset behind its closing quote."""
    stop = dialect.stops[quote]
    parts: list[str] = []
    while True:
        match = stop.search(text, position)
        if not match:
            fail(f"a closing {quote}", len(text))
        parts.append(text[position : match.start()])
        position = match.start()
        if match[0] == quote:
            return "".join(parts), match.end()
        if match[0] != "\\":
            fail(f"a closing {quote}", position)
        part, position = _read_escape(text, position, dialect)
        parts.append(part)


def _read_escape(text: str, position: int, dialect: Dialect) -> tuple[str, int]:
    """The text of the escape at ``position``, and the offset behind it."""
    char = text[position + 1 : position + 2]
    if char in dialect.escapes:
        return dialect.escapes[char], position + 2
    if char in dialect.hex_lengths:
        start = position + 2
        end = start + dialect.hex_lengths[char]
        digits = _HEX.match(text, start, end)
        code = int(digits[0], 16) if digits and digits.end() == end else -1
        if not 0 <= code <= 0x10FFFF:
            fail(f"{dialect.hex_lengths[char]} hexadecimal digits of a character", start)
        low = _LOW_SURROGATE.match(text, end) if char == "u" and 0xD800 <= code < 0xDC00 else None
        if low:
            return chr(0x10000 + (code - 0xD800) * 0x400 + int(low[1], 16) - 0xDC00), low.end()
        return chr(code), end
    if dialect.strict or char in ("", "N", "\r"):
        fail("an escape sequence", position)
    if octal := _OCTAL.match(text, position + 1):
        return chr(int(octal[0], 8)), octal.end()
    return "\\" + char, position + 2


def _number(digits: str) -> int | float:
    """The value of a number. Raises ValueError if it is too long or not finite."""
    if len(digits) > MAX_NUMBER_LENGTH:
        raise ValueError(digits)
    if digits.lstrip("+-").isdigit():
        return int(digits)
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(digits)
    return value


def fail(expected: str, position: int) -> NoReturn:
    """Raise a LiteralError."""
    raise LiteralError(expected, position)
