"""The limits of texts and numbers that several schemas set together."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Final

from lookup.schema.nodes import Numbers, Texts
from lookup.schema.number_range import common_multiple
from lookup.schema.schema import Made, Schema
from lookup.schema.words import exact, is_number

_TEXTS: Final = (("pattern", "pattern", True), ("pattern", Made.PATTERN, False), ("format", "format", True),
                 ("format", Made.FORMAT, False))  # fmt: skip


def said(schemas: Iterable[Schema], word: Any) -> list[Any]:
    """What some schemas say with a word."""
    return [schema.words[word] for schema in schemas if word in schema.words]


def refused_values(schemas: Iterable[Schema]) -> list[Any]:
    """The values that some schemas refuse."""
    return [value for values in said(schemas, Made.VALUES) for value in values]


def texts_of(schemas: Sequence[Schema]) -> Texts:
    """The texts that schemas allow together."""
    limits = [(kind, text, wanted) for kind, word, wanted in _TEXTS for text in said(schemas, word)]
    excluded = [value for value in refused_values(schemas) if isinstance(value, str)]
    return Texts(
        tuple(dict.fromkeys(limits)),
        max(said(schemas, "minLength"), default=0),
        min(said(schemas, "maxLength"), default=None),
        tuple(dict.fromkeys(excluded)),
    )


def numbers_of(schemas: Sequence[Schema], integer: bool) -> Numbers:
    """The numbers that schemas allow together."""
    low, low_open = _nearest(schemas, "minimum", "exclusiveMinimum", 1)
    high, high_open = _nearest(schemas, "maximum", "exclusiveMaximum", -1)
    step: Fraction | None = None
    for value in said(schemas, "multipleOf"):
        if found := abs(exact(value)):
            step = found if step is None else common_multiple(step, found)
    excluded = frozenset(map(exact, filter(is_number, refused_values(schemas))))
    return Numbers(integer, low, high, low_open, high_open, step, excluded)


def _nearest(schemas: Sequence[Schema], word: str, exclusive: str, sign: int) -> tuple[Fraction | None, bool]:
    """The strictest of some limits, and whether it is exclusive."""
    limits = [(sign * exact(value), False) for value in said(schemas, word)]
    limits += [(sign * exact(value), True) for value in said(schemas, exclusive)]
    if not limits:
        return None, False
    limit, is_open = max(limits)
    return sign * limit, is_open
