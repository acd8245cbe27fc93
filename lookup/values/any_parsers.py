"""Parsers of values without limits (``lookup.values.parsers``): texts, numbers, booleans, and any value."""

from functools import lru_cache
from typing import Final, Literal

from lookup.schema.number_range import MAX_DIGITS
from lookup.values.keys import FreeKeys, KeyRules
from lookup.values.lists import Elements
from lookup.values.notations import Notation, inside
from lookup.values.objects import Record
from lookup.values.parsers import Union, ValueParser
from lookup.values.plain_parsers import AnyNumbers, Literals, Number
from lookup.values.texts import any_text

MAX_FREE_DEPTH: Final = 24
"""The deepest nesting of a value of which nothing is documented."""

_WHOLE: Final = rf"-?+(?:0|[1-9][0-9]{{0,{MAX_DIGITS - 1}}})"
_INT: Final = AnyNumbers(_WHOLE)
_FLOAT: Final = AnyNumbers(rf"{_WHOLE}(?:\.[0-9]{{1,17}})?(?:[eE][+-]?[0-9]{{1,2}})?")


@lru_cache(maxsize=64)
def scalar_parser(kind: Literal["str", "int", "float"], notation: Notation) -> ValueParser:
    """All texts, integers or numbers inside brackets."""
    if kind == "str":
        return Union([any_text(syntax) for syntax in inside(notation).texts])
    return Number(_INT if kind == "int" else _FLOAT)


@lru_cache(maxsize=64)
def any_parser(notation: Notation, depth: int = MAX_FREE_DEPTH) -> ValueParser:
    """Any literal with at most ``depth`` levels of nesting."""
    around = inside(notation)
    scalars = [scalar_parser("float", notation), *scalar_parser("str", notation).alternatives]
    words = Literals(map(around.render, (True, False, None)))
    return Union([*scalars, words, *nested_parsers(notation, depth)])


def nested_parsers(notation: Notation, depth: int = MAX_FREE_DEPTH) -> list[ValueParser]:
    """Any lists, tuples and objects with at most ``depth`` levels of nesting."""
    if not depth:
        return []
    around = inside(notation)
    below = any_parser(notation, depth - 1)
    free = FreeKeys(tuple(map(any_text, around.free_keys)), lambda _: below, (below,), is_open=True)
    tuples = [Elements("(", below)] if around.has_tuples else []
    return [
        Elements("[", below, around.spacing),
        *tuples,
        Record(KeyRules((), free, around.spacing, dialect=around.dialect)),
    ]
