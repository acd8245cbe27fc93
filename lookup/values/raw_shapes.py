"""Shapes of values in raw notation: texts as they are, everything else as JSON, before a mark."""

from dataclasses import replace
from typing import Final

from lookup.dictionary import ValueType
from lookup.values.enclosed_shapes import Enclosed
from lookup.values.notations import RawText, raw_text
from lookup.values.plain_shapes import Union
from lookup.values.shapes import Shape
from lookup.values.texts import any_text
from lookup.values.type_shapes import shape_of

_CONTAINERS: Final = ("list", "tuple", "dict")
_BRACKETS: Final = "[{"
_NO_TEXT: Final = tuple(ValueType(kind) for kind in ("float", "bool", "list", "dict"))
"""What a value without a documented type may be, other than a text; null is added for nullable types."""


def raw_shape(value_type: ValueType, notation: RawText) -> Shape:
    """The shape of a type's literals, with their leads and marks.

    Scalars are texts too where one lead stands before both. Then a text may not begin with a bracket if the type has
    lists or objects, so that these are well formed.

    Raises
    ------
    DocumentationError
        As for ``shape_of``.
    """
    others = without_text(value_type)
    if not value_type.admits_text:
        return _json(others, notation)
    if notation.text_lead == notation.other_lead:
        others = tuple(branch for branch in others if branch.kind in _CONTAINERS)
    not_first = _BRACKETS if others and notation.text_lead == notation.other_lead else ""
    text = any_text(raw_text(notation, not_first))
    return Union([text, _json(others, notation)]) if others else text


def raw_opener(value_type: ValueType, notation: RawText) -> str:
    """The text that every literal of the type begins with, apart from null and the default."""
    if not value_type.admits_text:
        return notation.other_lead
    return "" if without_text(value_type) and notation.text_lead != notation.other_lead else notation.text_lead


def without_text(value_type: ValueType) -> tuple[ValueType, ...]:
    """The types of a type's values that are not texts; null is left out."""
    found: list[ValueType] = []
    for branch in value_type.any_of or (value_type,):
        if branch.admits_text:
            found += _NO_TEXT if branch.kind == "any" else ()
        else:
            found.append(replace(branch, nullable=False))
    return tuple(found)


def _json(branches: tuple[ValueType, ...], notation: RawText) -> Shape:
    inner = Union([shape_of(branch, notation) for branch in branches])
    return Enclosed(notation.other_lead, inner, notation.mark)
