"""Read one literal from untrusted text: strictly, in linear time, without ``eval``.

``LiteralSyntax`` determines what a literal is. By default this is the union of JSON and Python: objects, lists, tuples,
sets, strings in single, double or triple quotes, decimal numbers, ``true``/``True``, ``false``/``False`` and
``null``/``None``. A trailing comma is allowed. Rejected in every syntax: NaN and infinities, numbers of more than 640
characters, nesting deeper than 64, duplicate keys, comments, string prefixes, ``1_000``, ``0x10``.
"""

import math
import re
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from lookup.errors import LiteralError
from lookup.literals.syntaxes import PYTHON_OR_JSON, LiteralSyntax
from lookup.scanning import skip

MAX_DEPTH: Final = 64
# An attacker can choose numbers with equal hashes. A limit on their count keeps hashing linear.
MAX_OTHER_KEYS: Final = 1024

# The limit of int() is never below 640 digits, so int() accepts every number of this length.
MAX_NUMBER_LENGTH: Final = 640

_WORDS: Final = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf(?:inity)?)(?!\w)", re.IGNORECASE)
_AFTER_NUMBER = re.compile(r"[\w.]")
_HEX = re.compile(r"[0-9a-fA-F]*")
_OCTAL = re.compile(r"[0-7]{1,3}")
_LOW_SURROGATE = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_NEW_KEY: Final = "a key that is not there yet"


def read_literal(text: str, position: int = 0, syntax: LiteralSyntax = PYTHON_OR_JSON) -> tuple[Any, int]:
    """Read the literal that starts exactly at ``position``.

    LiteralError if there is no literal, or it is malformed, is nested too deep, contains too long a number, or repeats
    a key.

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
        in Python, an unknown escape keeps its backslash, unless the syntax is strict.
    end : int
        Offset behind the literal.
    """
    return LiteralReader(text, syntax).read(position)


def parse_literal(text: str, syntax: LiteralSyntax = PYTHON_OR_JSON) -> Any:
    """The value of a text that is one literal, with white space around it if the syntax has any.

    LiteralError as for ``read_literal``, or if something follows the literal.
    """
    start = len(text) - len(text.lstrip()) if syntax.has_spaces else 0
    value, end = read_literal(text, start, syntax)
    rest = text[end:].lstrip() if syntax.has_spaces else text[end:]
    if rest:
        raise LiteralError("the end of the literal", len(text) - len(rest))
    return value


def literal_or(text: str, other: Any, syntax: LiteralSyntax = PYTHON_OR_JSON) -> Any:
    """The value of a text that is one literal; ``other`` if it is none."""
    try:
        return parse_literal(text, syntax)
    except LiteralError:
        return other


def parse_key(text: str, syntax: LiteralSyntax) -> str:
    """The key of an object; a bare key has its colon. LiteralError if there is none."""
    if syntax.key is None:
        return str(parse_literal(text, syntax))
    key = syntax.key.fullmatch(text)
    return key[1] if key else _fail("a key and a colon", 0)


@dataclass(slots=True)
class OpenContainer:
    """An open bracket and its members so far. ``waiting``: the value of ``key`` has not been read yet."""

    bracket: str
    closer: str
    start: int
    keyed: dict[Any, Any] = field(default_factory=dict)
    members: list[Any] = field(default_factory=list)
    key: Any = None
    waiting: bool = False

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

    def __init__(self, text: str, syntax: LiteralSyntax = PYTHON_OR_JSON) -> None:
        self.text = text
        self._syntax = syntax
        self.open: list[OpenContainer] = []
        self.spans: dict[int, tuple[int, int]] = {}

    def read(self, position: int) -> tuple[Any, int]:
        """Like ``read_literal`` on the reader's text. Iterative, so that nesting cannot exhaust the stack.

        ``json.JSONDecoder`` is three times as fast, but counts the lines before each failure, which is quadratic for a
        text with many failures.
        """
        text, syntax, stack = self.text, self._syntax, []  # type: str, LiteralSyntax, list[OpenContainer]
        closers, space, gap, strict = syntax.closers, syntax.space, syntax.gap, syntax.strict
        self.open = stack
        while True:
            start = position
            char = text[position : position + 1]
            if stack and not stack[-1].waiting and char == stack[-1].closer:
                if strict and (stack[-1].members or stack[-1].keyed):
                    _fail("no comma before a bracket that closes", position)
                start, value, position = self._close(position, comma_last=True)
            elif syntax.key is not None and stack and stack[-1].bracket == "{" and not stack[-1].waiting:
                position = _bare_key(stack[-1], text, position, syntax.key)
                continue
            elif char in closers:
                if len(stack) == MAX_DEPTH:
                    _fail(f"at most {MAX_DEPTH} levels of nesting", position)
                stack.append(OpenContainer(char, closers[char], position))
                position = skip(gap, text, position + 1)
                continue
            else:
                value, position = _read_scalar(text, position, syntax)
            while stack:
                top = stack[-1]
                position = skip(space, text, position)
                char = text[position : position + 1]
                if char == ":" and top.bracket == "{" and not top.waiting and not top.members:
                    _set_key(top, value, start, strict)
                else:
                    _add(top, value, start, char, position, strict)
                if char in (":", ","):
                    position = skip(gap, text, position + 1)
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


def _add(top: OpenContainer, value: Any, start: int, char: str, position: int, strict: bool) -> None:
    """Add a finished value to its container. ``char`` at ``position`` follows it."""
    is_key = top.bracket == "{" and not top.waiting and not top.members
    if char not in (",", top.closer) or (is_key and (top.keyed or strict)):
        _fail("':'" if is_key else f"',' or '{top.closer}'", position)
    if top.waiting:
        top.keyed[top.key] = value
        top.waiting = False
        return
    if top.bracket == "{":
        _demand_hashable(value, start, len(top.members))
    top.members.append(value)


def _bare_key(top: OpenContainer, text: str, position: int, pattern: re.Pattern[str]) -> int:
    """Read a bare key; the offset behind its colon."""
    key = pattern.match(text, position)
    if key is None:
        _fail("a key and a colon", position)
    _set_key(top, key[1], position, strict=True)
    return key.end()


def _set_key(top: OpenContainer, key: Any, start: int, strict: bool) -> None:
    if strict and not isinstance(key, str):
        _fail("a text as key", start)
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


def _read_scalar(text: str, position: int, syntax: LiteralSyntax) -> tuple[Any, int]:
    """The text, number, boolean or null at ``position``, and the offset behind it; LiteralError if there is none."""
    if quote := syntax.opening.match(text, position):
        return _read_text(text, quote.end(), quote[0], syntax)
    if word := syntax.word.match(text, position):
        return _WORDS[word[0]], word.end()
    if _NOT_FINITE.match(text, position):
        _fail("a finite number", position)
    number = syntax.number.match(text, position)
    if not number:
        _fail("a value", position)
    if _AFTER_NUMBER.match(text, number.end()):
        _fail("the end of the number", number.end())
    try:
        return _number(number[0]), number.end()
    except ValueError:
        _fail(f"a finite number of at most {MAX_NUMBER_LENGTH} characters", position)


def _read_text(text: str, position: int, quote: str, syntax: LiteralSyntax) -> tuple[str, int]:
    """The text whose opening quote ends at ``position``, and the offset behind its closing quote."""
    stop = syntax.stops[quote]
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
        part, position = _read_escape(text, position, syntax)
        parts.append(part)


def _read_escape(text: str, position: int, syntax: LiteralSyntax) -> tuple[str, int]:
    """The text of the escape at ``position``, and the offset behind it."""
    char = text[position + 1 : position + 2]
    if char in syntax.escapes:
        return syntax.escapes[char], position + 2
    if char in syntax.hex_lengths:
        start = position + 2
        end = start + syntax.hex_lengths[char]
        digits = _HEX.match(text, start, end)
        code = int(digits[0], 16) if digits and digits.end() == end else -1
        if not 0 <= code <= 0x10FFFF:
            _fail(f"{syntax.hex_lengths[char]} hexadecimal digits of a character", start)
        low = _LOW_SURROGATE.match(text, end) if char == "u" and 0xD800 <= code < 0xDC00 else None
        if low:
            return chr(0x10000 + (code - 0xD800) * 0x400 + int(low[1], 16) - 0xDC00), low.end()
        return chr(code), end
    if syntax.strict or char in ("", "N", "\r"):
        _fail("an escape sequence", position)
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


def _fail(expected: str, position: int) -> NoReturn:
    """Raise a LiteralError."""
    raise LiteralError(expected, position)
