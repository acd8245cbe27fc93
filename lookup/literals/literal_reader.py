"""Read one JSON or Python literal from untrusted text: strictly, in linear time, without ``eval``.

The grammar is the union of JSON and Python literals: objects, lists, tuples, sets, strings in single, double or triple
quotes, decimal numbers, ``true``/``True``, ``false``/``False`` and ``null``/``None``. A trailing comma is allowed.
Rejected: NaN and infinities, numbers of more than 640 characters, nesting deeper than 64, duplicate keys, comments,
string prefixes, ``1_000``, ``0x10``.
"""

import math
import re
from typing import Any, Final, NoReturn

from lookup.errors import LiteralError
from lookup.scanning import skip

MAX_DEPTH: Final = 64
# The limit of int() is never below 640 digits, so int() accepts every number of this length.
MAX_NUMBER_LENGTH: Final = 640
# An attacker can choose numbers with equal hashes. A limit on their count keeps hashing linear.
MAX_OTHER_KEYS: Final = 1024

_SPACE = re.compile(r"[ \t\r\n\f]*")
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"(?:true|True|false|False|null|None)(?!\w)")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf(?:inity)?)(?!\w)", re.IGNORECASE)
_AFTER_NUMBER = re.compile(r"[\w.]")
_WORDS: Final = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}

# The end of plain text in a string: the closing quote, an escape, or a line end in a one-line string.
_STOP: Final = {
    '"': re.compile(r'["\\\r\n]'),
    "'": re.compile(r"['\\\r\n]"),
    '"""': re.compile(r'"""|\\'),
    "'''": re.compile(r"'''|\\"),
}
_ESCAPES: Final = {
    '"': '"', "'": "'", "\\": "\\", "/": "/", "\n": "",
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip
_HEX_LENGTH: Final = {"x": 2, "u": 4, "U": 8}
_HEX = re.compile(r"[0-9a-fA-F]*")
_OCTAL = re.compile(r"[0-7]{1,3}")
_LOW_SURROGATE = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")

_CLOSER: Final = {"{": "}", "[": "]", "(": ")"}
_NEW_KEY: Final = "a key that is not there yet"


def read_literal(text: str, position: int = 0) -> tuple[Any, int]:
    """Read the literal that starts exactly at ``position``.

    Parameters
    ----------
    text : str
        Any text. Anything may follow the literal, but a number or a word must end there.
    position : int
        Offset of the literal's first character. White space is not skipped.

    Returns
    -------
    value : Any
        ``{...}`` without colons is a ``set``. As in JSON, ``\\uD83D\\uDE00`` is one character and ``\\/`` is ``/``. As
        in Python, an unknown escape keeps its backslash.
    end : int
        Offset behind the literal.

    Raises
    ------
    LiteralError
        If there is no literal, or it is malformed, is nested too deep, contains too long a number, or repeats a key.
    """
    return LiteralReader(text).read(position)


def parse_literal(text: str) -> Any:
    """The value of a text that is one literal with optional white space around it.

    Raises
    ------
    LiteralError
        As for ``read_literal``, or if something follows the literal.
    """
    value, end = read_literal(text, len(text) - len(text.lstrip()))
    rest = text[end:].lstrip()
    if rest:
        raise LiteralError("the end of the literal", len(text) - len(rest))
    return value


class OpenContainer:
    """An open bracket and its members so far."""

    __slots__ = ("bracket", "key", "keyed", "members", "start", "waiting")

    def __init__(self, bracket: str, start: int) -> None:
        self.bracket = bracket
        self.start = start
        self.keyed: dict[Any, Any] = {}
        self.members: list[Any] = []
        self.key: Any = None
        self.waiting = False  # whether the value of ``key`` has not been read yet

    def value(self, comma_last: bool) -> Any:
        """The value of the closed container."""
        if self.bracket == "[":
            return self.members
        if self.bracket == "(":
            # As in Python, (x) is x and only (x,) is a tuple.
            return self.members[0] if len(self.members) == 1 and not comma_last else tuple(self.members)
        return set(self.members) if self.members else self.keyed


class LiteralReader:
    """Reads literals of one text.

    Attributes
    ----------
    open : list of OpenContainer
        The containers that were open when the last reading failed.
    spans : dict of int to (int, int)
        ``id`` of each object that was read -> its start and end. Valid while the object is alive.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.open: list[OpenContainer] = []
        self.spans: dict[int, tuple[int, int]] = {}

    def read(self, position: int) -> tuple[Any, int]:
        """Like ``read_literal`` on the reader's text. Iterative, so that nesting cannot exhaust the stack.

        ``json.JSONDecoder`` is three times as fast, but counts the lines before each failure, which is quadratic for a
        text with many failures.
        """
        text, stack = self.text, []  # type: str, list[OpenContainer]
        self.open = stack
        while True:
            start = position
            char = text[position : position + 1]
            if stack and not stack[-1].waiting and char == _CLOSER[stack[-1].bracket]:
                start, value, position = self._close(position, comma_last=True)
            elif char in ("{", "[", "("):
                if len(stack) == MAX_DEPTH:
                    _fail(f"at most {MAX_DEPTH} levels of nesting", position)
                stack.append(OpenContainer(char, position))
                position = skip(_SPACE, text, position + 1)
                continue
            else:
                value, position = _read_scalar(text, position)
            while stack:
                top = stack[-1]
                position = skip(_SPACE, text, position)
                char = text[position : position + 1]
                if char == ":" and top.bracket == "{" and not top.waiting and not top.members:
                    _set_key(top, value, start)
                else:
                    _add(top, value, start, char, position)
                if char in (":", ","):
                    position = skip(_SPACE, text, position + 1)
                    break
                start, value, position = self._close(position, comma_last=False)
            else:
                return value, position

    def _close(self, position: int, comma_last: bool) -> tuple[int, Any, int]:
        """The start and value of the container that closes at ``position``, and the offset behind it."""
        closed = self.open.pop()
        value = closed.value(comma_last)
        if value is closed.keyed:
            self.spans[id(value)] = (closed.start, position + 1)
        return closed.start, value, position + 1


def _add(top: OpenContainer, value: Any, start: int, char: str, position: int) -> None:
    """Add a finished value to its container. ``char`` at ``position`` follows it."""
    closer = _CLOSER[top.bracket]
    is_key = top.bracket == "{" and not top.waiting and not top.members
    if char not in (",", closer) or (is_key and top.keyed):
        _fail("':'" if is_key else f"',' or '{closer}'", position)
    if top.waiting:
        top.keyed[top.key] = value
        top.waiting = False
        return
    if top.bracket == "{":
        _demand_hashable(value, start, len(top.members))
    top.members.append(value)


def _set_key(top: OpenContainer, key: Any, start: int) -> None:
    _demand_hashable(key, start, len(top.keyed))
    if key in top.keyed:
        _fail(_NEW_KEY, start)
    top.key, top.waiting = key, True


def _demand_hashable(value: Any, start: int, count: int) -> None:
    if isinstance(value, str):
        return
    try:
        hash(value)
    except TypeError:
        _fail("a text, a number or another plain value as key or set member", start)
    if count >= MAX_OTHER_KEYS:
        _fail(f"at most {MAX_OTHER_KEYS} keys or set members unless all are texts", start)


def _read_scalar(text: str, position: int) -> tuple[Any, int]:
    char = text[position : position + 1]
    if char in ('"', "'"):
        return _read_string(text, position)
    if word := _WORD.match(text, position):
        return _WORDS[word[0]], word.end()
    if _NOT_FINITE.match(text, position):
        _fail("a finite number", position)
    number = _NUMBER.match(text, position)
    if not number:
        _fail("a value", position)
    if _AFTER_NUMBER.match(text, number.end()):
        _fail("the end of the number", number.end())
    try:
        return _number(number[0]), number.end()
    except ValueError:
        _fail(f"a finite number of at most {MAX_NUMBER_LENGTH} characters", position)


def _read_string(text: str, position: int) -> tuple[str, int]:
    quote = text[position]
    if text.startswith(quote * 3, position):
        quote *= 3
    stop = _STOP[quote]
    position += len(quote)
    parts: list[str] = []
    while True:
        match = stop.search(text, position)
        if not match:
            _fail(f"a closing {quote}", len(text))
        parts.append(text[position : match.start()])
        position = match.start()
        if match[0] == quote:
            return "".join(parts), match.end()
        if match[0] != "\\":
            _fail(f"a closing {quote}", position)
        part, position = _read_escape(text, position)
        parts.append(part)


def _read_escape(text: str, position: int) -> tuple[str, int]:
    """The text of the escape at ``position``, and the offset behind it."""
    char = text[position + 1 : position + 2]
    if char in _ESCAPES:
        return _ESCAPES[char], position + 2
    if char in _HEX_LENGTH:
        start = position + 2
        end = start + _HEX_LENGTH[char]
        digits = _HEX.match(text, start, end)
        code = int(digits[0], 16) if digits and digits.end() == end else -1
        if not 0 <= code <= 0x10FFFF:
            _fail(f"{_HEX_LENGTH[char]} hexadecimal digits of a character", start)
        low = _LOW_SURROGATE.match(text, end) if char == "u" and 0xD800 <= code < 0xDC00 else None
        if low:
            return chr(0x10000 + (code - 0xD800) * 0x400 + int(low[1], 16) - 0xDC00), low.end()
        return chr(code), end
    if octal := _OCTAL.match(text, position + 1):
        return chr(int(octal[0], 8)), octal.end()
    if char in ("", "N", "\r"):
        _fail("an escape sequence", position)
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


def _fail(expected: str, position: int) -> NoReturn:
    raise LiteralError(expected, position)
