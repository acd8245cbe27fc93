"""Shapes of values without limits (``lookup.values.shapes``): texts, numbers, booleans, and any value."""

from functools import lru_cache
from typing import Final, Literal

from lookup.schema.number_range import MAX_DIGITS
from lookup.values.bracket_shapes import Elements
from lookup.values.marked_shapes import BareKey, MarkedText
from lookup.values.notations import MarkSyntax, Notation, TextSyntax, inside
from lookup.values.object_shapes import FreeKeys, Record
from lookup.values.plain_shapes import Literals, Number, Text, Union
from lookup.values.shapes import Shape

MAX_FREE_DEPTH: Final = 12
"""The deepest nesting of a value of which nothing is documented."""

_INT: Final = rf"-?+(?:0|[1-9][0-9]{{0,{MAX_DIGITS - 1}}})"
_FLOAT: Final = rf"{_INT}(?:\.[0-9]{{1,17}})?(?:[eE][+-]?[0-9]{{1,2}})?"


@lru_cache(maxsize=64)
def text_shape(syntax: TextSyntax | MarkSyntax) -> Text | MarkedText:
    """Any text of a syntax. One object is shared by all parameters."""
    if isinstance(syntax, MarkSyntax):
        return MarkedText(syntax.quote, syntax.quote, stripped=False)
    return Text(syntax)


@lru_cache(maxsize=64)
def scalar_shape(kind: Literal["str", "int", "float"], notation: Notation) -> Shape:
    """All texts, integers or numbers inside brackets."""
    if kind == "str":
        return Union([text_shape(syntax) for syntax in inside(notation).texts])
    return Number(_INT if kind == "int" else _FLOAT)


@lru_cache(maxsize=64)
def any_shape(notation: Notation, depth: int = MAX_FREE_DEPTH) -> Shape:
    """Any literal with at most ``depth`` levels of nesting."""
    around = inside(notation)
    scalars = [scalar_shape("float", notation), *scalar_shape("str", notation).alternatives]
    return Union([*scalars, Literals([*around.booleans, around.null]), *nested_shapes(notation, depth)])


def nested_shapes(notation: Notation, depth: int = MAX_FREE_DEPTH) -> list[Shape]:
    """Any lists, tuples and objects with at most ``depth`` levels of nesting."""
    if not depth:
        return []
    around = inside(notation)
    below = any_shape(notation, depth - 1)
    keys = tuple(text for text in map(text_shape, around.texts) if isinstance(text, Text))
    free = FreeKeys((BareKey(),) if around.dialect.bare_keys else keys, lambda _: below, below)
    tuples = [Elements("(", below)] if around.has_tuples else []
    return [Elements("[", below, around.spacing), *tuples, Record((), free, around.spacing, dialect=around.dialect)]
