"""Syntaxes of literals: JSON together with Python, strict JSON, or JSON with bare keys and marked texts.

Values are written as literals of Python, JSON, or the notations of native call formats.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

_PYTHON_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_PYTHON_WORD = re.compile(r"(?:true|True|false|False|null|None)(?!\w)")
_JSON_WORD = re.compile(r"(?:true|false|null)(?!\w)")
_PYTHON_SPACE = re.compile(r"[ \t\r\n\f]*")
_JSON_SPACE = re.compile(r"[ \t\r\n]*")
_NO_SPACE = re.compile("")
_BARE_KEY = re.compile(r'([^\s:,{}\[\]<>"|]++):')
# The name of a tool's key may hold any character; it reaches to the brace of its schema.
_LOOSE_KEY = re.compile(
    r"""(?:<\|"\|>|<escape>)?([^:{}\[\],<>\n]{1,200}(?=:|<\|"\|>:|<escape>:)|[^{}<>\n]{1,200}?(?=:\{))
        (?:<\|"\|>|<escape>)?:""",
    re.VERBOSE,
)
_COMMAS = re.compile(r"[\s,]*")

_JSON_ESCAPES: Final = {
    '"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
}  # fmt: skip
_PYTHON_ESCAPES: Final = {**_JSON_ESCAPES, "'": "'", "\n": "", "a": "\a", "v": "\v"}


@dataclass(frozen=True)
class LiteralSyntax:
    """What may stand in a literal.

    Attributes
    ----------
    quotes : tuple of str
        What encloses a text, on either side; triple quotes before single ones.
    has_escapes : bool
        Whether a backslash begins an escape in a text.
    strict : bool
        Whether tuples, sets, trailing commas, and numbers, words and escapes that JSON does not have are refused.
    bare_keys : bool
        Whether keys stand without quotes, directly before their colon.
    has_spaces : bool
        Whether white space may stand around brackets, colons and commas.
    """

    quotes: tuple[str, ...]
    has_escapes: bool = True
    strict: bool = False
    bare_keys: bool = False
    has_spaces: bool = True

    @cached_property
    def opening(self) -> re.Pattern[str]:
        """What begins a text."""
        return re.compile("|".join(map(re.escape, self.quotes)))

    @cached_property
    def stops(self) -> Mapping[str, re.Pattern[str]]:
        """Quote -> the end of plain characters: the closing quote, an escape, or what may not stand in a text."""
        return {quote: re.compile("|".join([re.escape(quote), *self._special(quote)])) for quote in self.quotes}

    def _special(self, quote: str) -> list[str]:
        if not self.has_escapes:
            return []
        if len(quote) > 1:
            return [r"\\"]
        return [r"\\", r"[\x00-\x1f]" if self.strict else r"[\r\n]"]

    @cached_property
    def escapes(self) -> Mapping[str, str]:
        """Character behind a backslash -> the character that both stand for."""
        return _JSON_ESCAPES if self.strict else _PYTHON_ESCAPES

    @cached_property
    def hex_lengths(self) -> Mapping[str, int]:
        """Character behind a backslash -> the number of hexadecimal digits behind it."""
        return {"u": 4} if self.strict else {"x": 2, "u": 4, "U": 8}

    @cached_property
    def closers(self) -> Mapping[str, str]:
        """Opening bracket -> closing bracket."""
        return {"{": "}", "[": "]"} if self.strict else {"{": "}", "[": "]", "(": ")"}

    @cached_property
    def number(self) -> re.Pattern[str]:
        """A number of any length."""
        return _JSON_NUMBER if self.strict else _PYTHON_NUMBER

    @cached_property
    def word(self) -> re.Pattern[str]:
        """A boolean or null."""
        return _JSON_WORD if self.strict else _PYTHON_WORD

    @cached_property
    def space(self) -> re.Pattern[str]:
        """White space, which may be empty."""
        return (_JSON_SPACE if self.strict else _PYTHON_SPACE) if self.has_spaces else _NO_SPACE

    @cached_property
    def key(self) -> re.Pattern[str] | None:
        """A bare key with its colon; ``None`` if keys are literals."""
        return (_LOOSE_KEY if self.has_spaces else _BARE_KEY) if self.bare_keys else None

    @cached_property
    def gap(self) -> re.Pattern[str]:
        """What may stand behind an opening bracket, a colon or a comma."""
        return _COMMAS if self.bare_keys and self.has_spaces else self.space


PYTHON_OR_JSON: Final = LiteralSyntax(('"""', "'''", '"', "'"))
"""The union of JSON and Python literals."""

QUOTED: Final = LiteralSyntax((*PYTHON_OR_JSON.quotes, r"\'"))
"""What stands between single quotes, with escaped ones in it."""

JSON: Final = LiteralSyntax(('"',), strict=True)
"""Strict JSON, but without repeated keys, NaN and infinities."""


DECLARATION: Final = LiteralSyntax(('<|"|>', "<escape>"), has_escapes=False, bare_keys=True)
"""Gemma's declarations of tools, whose templates write some commas twice."""


def bare_keys(mark: str) -> LiteralSyntax:
    """JSON without spaces, with bare keys, and with texts between two marks: ``{k:<|"|>v<|"|>}`` (Gemma)."""
    return LiteralSyntax((mark,), has_escapes=False, strict=True, bare_keys=True, has_spaces=False)


_SPECIAL = re.compile("[\\x00-\\x1f\\x7f\\ud800-\\udfff'\"\\\\]")
_SURROGATE = re.compile("[\\ud800-\\udfff]")
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape(text: str, quote: str) -> str:
    """Escape ``text`` for use between two ``quote`` characters.

    Between double quotes, the result is valid in Python and in JSON.
    """
    return _SPECIAL.sub(lambda match: _escape_character(match[0], quote), text)


def _escape_character(character: str, quote: str) -> str:
    if character in "'\"":
        return "\\" + character if character == quote else character
    return _ESCAPES.get(character) or f"\\u{ord(character):04x}"


def render_literal(value: Any, quote: str = "'") -> str:
    """A Python literal of a JSON-like value: ``render_literal(["a", 1]) -> "['a', 1]"``.

    TypeError if the value is not made of str, int, float, bool, None, list, tuple and dict.
    """
    if isinstance(value, str):
        return f"{quote}{escape(value, quote)}{quote}"
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(render_literal(v, quote) for v in value)}]"
    if isinstance(value, tuple):
        inner = ", ".join(render_literal(v, quote) for v in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, dict):
        pairs = (f"{render_literal(k, quote)}: {render_literal(v, quote)}" for k, v in value.items())
        return f"{{{', '.join(pairs)}}}"
    raise TypeError(f"no literal for a value of type {type(value).__name__}: {value!r}")


def render_json(value: Any) -> str:
    """The JSON text of a value: ``render_json({"a": (1, None)}) -> '{"a": [1, null]}'``.

    A tuple becomes an array. A key that is not a string becomes its JSON text, as in ``json.dumps``.

    TypeError if the value is not made of str, int, float, bool, None, list, tuple and dict.
    """
    text = json.dumps(value, ensure_ascii=False)  # as chat templates do; a lone surrogate has no UTF-8
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def render_python_lists(value: Any) -> str:
    """A Python literal with lists for tuples."""
    return render_literal(_with_lists(value))


def _with_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_lists(item) for key, item in value.items()}
    return [_with_lists(item) for item in value] if isinstance(value, list | tuple) else value


def render_bare(value: Any, mark: str) -> str:
    """JSON without spaces, texts between two marks, bare keys sorted without regard to case (jinja's ``dictsort``)."""
    if isinstance(value, str):
        return f"{mark}{value}{mark}"
    if isinstance(value, list | tuple):
        return f"[{','.join(render_bare(v, mark) for v in value)}]"
    if isinstance(value, dict):
        pairs = sorted(((str(k), v) for k, v in value.items()), key=lambda pair: pair[0].lower())
        return f"{{{','.join(f'{k}:{render_bare(v, mark)}' for k, v in pairs)}}}"
    return render_json(value)
