"""Notations of values: Python literals, quoted literals, or JSON.

``python`` writes Python literals (``days=3``). ``quoted`` writes every value between single quotes (``days='3'``), as
in API-Bank; strings inside a list or dict have double quotes. A quoted value is never empty, because API-Bank's reader
skips empty ones. ``json`` writes JSON; a tuple is an array.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from lookup.values.literal_writer import escape, render_json, render_literal, render_quoted

Notation = Literal["python", "quoted", "json"]

_CONTROL = r"\x00-\x1f\x7f"
_BASIC = r"(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})"
_PAIR = r"[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a lone surrogate is not valid


@dataclass(frozen=True)
class TextSyntax:
    """The syntax of a text.

    Attributes
    ----------
    quote : str
        The quote character.
    unit : str
        ``regex`` pattern of one character or escape between the quotes.
    may_be_empty : bool
    """

    quote: str
    unit: str
    may_be_empty: bool = True


_SINGLE: Final = TextSyntax("'", rf"(?:[^'\\{_CONTROL}]|\\['\"\\nrt])")
_DOUBLE: Final = TextSyntax('"', rf'(?:[^"\\{_CONTROL}]|\\[\'"\\nrt])')
_INNER: Final = TextSyntax('"', rf"(?:[^\"'\\{_CONTROL}]|\\')")
_JSON: Final = TextSyntax('"', rf'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u(?:{_BASIC}|{_PAIR})))')

QUOTED_TEXT: Final = TextSyntax("'", _SINGLE.unit, may_be_empty=False)
"""A non-empty text in quoted notation."""

RENDERERS: Final[Mapping[Notation, Callable[[Any], str]]] = {
    "python": render_literal,
    "quoted": render_quoted,
    "json": render_json,
}
"""Notation -> function that writes a value."""


@dataclass(frozen=True)
class Inside:
    """How a notation writes the members of lists, tuples and dicts.

    Attributes
    ----------
    plain_text : TextSyntax
        A text that is the whole value.
    texts : tuple of TextSyntax
        The alternatives for a text inside brackets.
    booleans : tuple of str
    null : str
    render : callable
        Value -> literal.
    keys : callable
        Key -> the alternatives for writing it.
    has_tuples : bool
    """

    plain_text: TextSyntax
    texts: tuple[TextSyntax, ...]
    booleans: tuple[str, str]
    null: str
    render: Callable[[Any], str]
    keys: Callable[[str], list[str]]
    has_tuples: bool = True


def _between_quotes(value: Any) -> str:
    """A literal inside a list or dict that is written between single quotes."""
    return escape(render_literal(value, '"'), "'")


INSIDE: Final[Mapping[Notation, Inside]] = {
    "python": Inside(
        _SINGLE,
        (_SINGLE, _DOUBLE),
        ("True", "False"),
        "None",
        render_literal,
        lambda key: [render_literal(key), render_literal(key, '"')],
    ),
    "quoted": Inside(
        _INNER,
        (_INNER,),
        ("True", "False"),
        "None",
        _between_quotes,
        lambda key: [_between_quotes(key)],
    ),
    "json": Inside(
        _JSON,
        (_JSON,),
        ("true", "false"),
        "null",
        render_json,
        lambda key: [render_json(key)],
        has_tuples=False,
    ),
}
"""Notation -> how it writes the inside of brackets."""
