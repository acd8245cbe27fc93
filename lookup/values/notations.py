"""How values are written: as Python literals, between quotes, or as JSON.

``python`` writes Python literals (``days=3``). ``quoted`` writes every value between single quotes (``days='3'``), as
API-Bank does; strings inside a list or dict then stand in double quotes, and a value is never empty, because API-Bank's
own reader skips one that is. ``json`` writes JSON, where a tuple is an array.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from lookup.values.literal_writer import escape, render_json, render_literal, render_quoted

Notation = Literal["python", "quoted", "json"]

_CONTROL = r"\x00-\x1f\x7f"
_BASIC = r"(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})"
_PAIR = r"[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a half alone is no Unicode text


@dataclass(frozen=True)
class TextForm:
    """How a text is written.

    Attributes
    ----------
    quote : str
        Around it.
    unit : str
        ``regex`` pattern of one character or escape between the quotes.
    may_be_empty : bool
    """

    quote: str
    unit: str
    may_be_empty: bool = True


_SINGLE: Final = TextForm("'", rf"(?:[^'\\{_CONTROL}]|\\['\"\\nrt])")
_DOUBLE: Final = TextForm('"', rf'(?:[^"\\{_CONTROL}]|\\[\'"\\nrt])')
_INNER: Final = TextForm('"', rf"(?:[^\"'\\{_CONTROL}]|\\')")
_JSON: Final = TextForm('"', rf'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u(?:{_BASIC}|{_PAIR})))')

QUOTED_TEXT: Final = TextForm("'", _SINGLE.unit, may_be_empty=False)
"""A text in quoted notation: itself between quotes, not empty."""

RENDERERS: Final[Mapping[Notation, Callable[[Any], str]]] = {
    "python": render_literal,
    "quoted": render_quoted,
    "json": render_json,
}
"""How each notation writes a value."""


@dataclass(frozen=True)
class Inside:
    """How a notation writes what stands inside the brackets of a list, tuple or dict, or in none.

    Attributes
    ----------
    plain_text : TextForm
        Of a text that is the whole value.
    texts : tuple of TextForm
        The ways to write one inside brackets.
    booleans : tuple of str
    null : str
    render : callable
        Value -> its literal.
    keys : callable
        Key -> the ways to write it.
    has_tuples : bool
    """

    plain_text: TextForm
    texts: tuple[TextForm, ...]
    booleans: tuple[str, str]
    null: str
    render: Callable[[Any], str]
    keys: Callable[[str], list[str]]
    has_tuples: bool = True


def _between_quotes(value: Any) -> str:
    """A literal that stands between single quotes with the list or dict that holds it."""
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
"""What each notation writes inside of brackets."""
