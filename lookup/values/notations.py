"""Notations of values: Python literals, quoted literals, JSON, raw text between tags, or JSON with bare keys.

``python`` writes Python literals (``days=3``). ``quoted`` writes every value between single quotes (``days='3'``), as
in API-Bank; strings inside a list or dict have double quotes. A quoted value is never empty, because API-Bank's reader
skips empty ones. ``json`` writes JSON; a tuple is an array. ``python-lists`` is ``python`` with lists for tuples, which
parsers of native formats do not read, and ``python-json`` moreover writes an object that is the whole value as JSON.
``RawText`` and ``BareKeys`` have parameters.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Final, Literal, NamedTuple

from lookup.literals.dialects import JSON, PYTHON_OR_JSON, Dialect, bare_keys
from lookup.literals.literal_writer import (
    escape,
    render_bare,
    render_json,
    render_literal,
    render_python_json,
    render_python_lists,
    render_quoted,
    render_raw,
)
from lookup.reserved import RESERVED


@dataclass(frozen=True)
class RawText:
    """Texts as they are, everything else as JSON, up to a mark: ``Paris\\n</parameter>``.

    The mark belongs to the literal, like a closing quote. A text has no white space at its ends, because readers strip
    it, and no mark inside.

    Attributes
    ----------
    mark : str
        Newlines at its beginning are framing: the rest of the mark may not stand inside a value even without them.
    text_lead, other_lead : str
        What stands before a text, and before other values.
    """

    mark: str
    text_lead: str = ""
    other_lead: str = ""


@dataclass(frozen=True)
class BareKeys:
    """JSON without spaces, with bare keys, and with unescaped texts between two marks: ``{k:<|"|>v<|"|>}`` (Gemma)."""

    mark: str


Notation = Literal["python", "quoted", "json", "python-lists", "python-json"] | RawText | BareKeys

_RESERVED = f"{chr(RESERVED.start)}-{chr(RESERVED.stop - 1)}"
_CONTROL = rf"\x00-\x1f\x7f{_RESERVED}"
_BASIC = r"(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})"
_LOW = r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_PAIR = (  # a lone surrogate is not valid; DB80 DC00 begins RESERVED
    rf"(?:[dD](?:[89aA][0-9a-fA-F]{{2}}|[bB](?:[0-79a-fA-F][0-9a-fA-F]|8[1-9a-fA-F])){_LOW}"
    r"|[dD][bB]80\\u[dD][d-fD-F][0-9a-fA-F]{2})"
)


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
_JSON: Final = TextSyntax('"', rf'(?:[^"\\\x00-\x1f{_RESERVED}]|\\(?:["\\/bfnrt]|u(?:{_BASIC}|{_PAIR})))')

QUOTED_TEXT: Final = TextSyntax("'", _SINGLE.unit, may_be_empty=False)
"""A non-empty text in quoted notation."""


@dataclass(frozen=True)
class MarkSyntax:
    """The syntax of a text between two equal marks, without escapes."""

    quote: str


class Spacing(NamedTuple):
    """What stands between a key and its value (a bare key ends with its colon itself), and between two members."""

    colon: str
    comma: str


SPACED: Final = Spacing(": ", ", ")


@dataclass(frozen=True)
class Inside:
    """How a notation writes the members of lists, tuples and dicts.

    Attributes
    ----------
    plain_text : TextSyntax or MarkSyntax
        A text that is the whole value.
    texts : tuple of TextSyntax or MarkSyntax
        The alternatives for a text inside brackets.
    booleans : tuple of str
    null : str
    render : callable
        Value -> literal.
    keys : callable
        Key -> the alternatives for writing it.
    has_tuples : bool
    spacing : Spacing
    dialect : Dialect
        How literals are read.
    """

    plain_text: TextSyntax | MarkSyntax
    texts: tuple[TextSyntax | MarkSyntax, ...]
    booleans: tuple[str, str]
    null: str
    render: Callable[[Any], str]
    keys: Callable[[str], list[str]]
    has_tuples: bool = True
    spacing: Spacing = SPACED
    dialect: Dialect = PYTHON_OR_JSON


def _between_quotes(value: Any) -> str:
    """A literal inside a list or dict that is written between single quotes."""
    return escape(render_literal(value, '"'), "'")


_PYTHON: Final = Inside(
    _SINGLE,
    (_SINGLE, _DOUBLE),
    ("True", "False"),
    "None",
    render_literal,
    lambda key: [render_literal(key), render_literal(key, '"')],
)
_PYTHON_LISTS: Final = replace(_PYTHON, render=render_python_lists, has_tuples=False)
_QUOTED: Final = Inside(
    _INNER,
    (_INNER,),
    ("True", "False"),
    "None",
    _between_quotes,
    lambda key: [_between_quotes(key)],
)
_AS_JSON: Final = Inside(
    _JSON,
    (_JSON,),
    ("true", "false"),
    "null",
    render_json,
    lambda key: [render_json(key)],
    has_tuples=False,
    dialect=JSON,
)


@lru_cache(maxsize=64)
def inside(notation: Notation) -> Inside:
    """Return how a notation writes the inside of brackets."""
    match notation:
        case "python":
            return _PYTHON
        case "python-lists" | "python-json":
            return _PYTHON_LISTS
        case "quoted":
            return _QUOTED
        case BareKeys(mark):
            return _bare(MarkSyntax(mark), notation)
    return _AS_JSON


def _bare(text: MarkSyntax, notation: BareKeys) -> Inside:
    render = renderer(notation)
    return Inside(
        text,
        (text,),
        ("true", "false"),
        "null",
        render,
        lambda key: [f"{key}:"],
        has_tuples=False,
        spacing=Spacing(colon="", comma=","),
        dialect=bare_keys(notation.mark),
    )


def renderer(notation: Notation) -> Callable[[Any], str]:
    """Return the function that writes a value in a notation."""
    match notation:
        case RawText():
            return partial(render_raw, mark=notation.mark, leads=(notation.text_lead, notation.other_lead))
        case BareKeys():
            return partial(render_bare, mark=notation.mark)
    return _RENDERERS[notation]


_RENDERERS: Final = {
    "python": render_literal,
    "quoted": render_quoted,
    "json": render_json,
    "python-lists": render_python_lists,
    "python-json": render_python_json,
}
