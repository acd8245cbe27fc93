"""Documented types -> shapes (``lookup.values.shapes``)."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from lookup.dictionary import ParameterSpec, ValueType
from lookup.errors import DocumentationError
from lookup.reserved import RESERVED
from lookup.schema.number_range import MAX_DIGITS
from lookup.values.bracket_shapes import Elements
from lookup.values.keys import FreeKeys, Key, KeyRules
from lookup.values.literal_values import is_key, is_literal
from lookup.values.notations import Notation, RawText, inside
from lookup.values.object_shapes import Record
from lookup.values.plain_shapes import AnyNumbers, Literals, Number, Union
from lookup.values.shapes import Shape
from lookup.values.texts import Text, any_text

MAX_DEPTH: Final = 5
"""The deepest nesting of lists, tuples and dicts in a value without a documented type."""

MAX_DOCUMENTED_DEPTH: Final = 48
"""The deepest nesting of a documented type; with ``MAX_DEPTH`` on top, the literal reader can still read it."""

_WHOLE: Final = rf"-?+(?:0|[1-9][0-9]{{0,{MAX_DIGITS - 1}}})"
_DECIMAL: Final = rf"{_WHOLE}(?:\.[0-9]{{1,17}})?(?:[eE][+-]?[0-9]{{1,2}})?"

_INT: Final = AnyNumbers(_WHOLE)
_FLOAT: Final = AnyNumbers(_DECIMAL)


def shape_of(value_type: ValueType, notation: Notation) -> Shape:
    """The shape of a type's literals inside brackets or alone.

    Raises
    ------
    DocumentationError
        If the type is nested deeper than ``MAX_DOCUMENTED_DEPTH``, or the notation cannot write a key of an object
        or a member of an enum.
    """
    return _Builder(notation).shape(value_type, MAX_DEPTH, 0)


class _Builder:
    """Makes the shapes of one documented type."""

    def __init__(self, notation: Notation) -> None:
        self._notation: Notation = notation
        self._inside = inside(notation)
        self._enums: dict[int, Literals] = {}

    def shape(self, of: ValueType, depth: int, level: int) -> Shape:
        """The shape of a type at nesting ``level``. Undocumented values may have ``depth`` more levels.

        The time is linear in the size of the type.
        """
        if level > MAX_DOCUMENTED_DEPTH:
            raise DocumentationError(
                f"the documented type is nested deeper than {MAX_DOCUMENTED_DEPTH} levels; document a flatter one"
            )
        if of.nullable:
            return Union([self.shape(replace(of, nullable=False), depth, level), Literals([self._inside.null])])
        if of.enum:
            return self._enum(of.enum)
        if of.any_of:
            return Union([self.shape(branch, depth, level) for branch in of.any_of])
        below = max(depth - 1, 0)
        match of.kind:
            case "str" | "int" | "float" | "bool":
                return scalar_shape(of.kind, self._notation)
            case "any":
                return any_shape(depth, self._notation)
            case "dict" if of.properties:
                keys = [self._key(spec, below, level + 1) for spec in of.properties]
                return Record(KeyRules(keys, spacing=self._inside.spacing, dialect=self._inside.dialect))
        element = self.shape(of.items, below, level + 1) if of.items else any_shape(below, self._notation)
        if of.kind == "dict":
            return _dictionary(self._notation, element)
        # JSON cannot tell tuples from lists.
        return Elements("(" if of.kind == "tuple" and self._inside.has_tuples else "[", element, self._inside.spacing)

    def _enum(self, members: tuple[Any, ...]) -> Literals:
        if id(members) not in self._enums:
            self._enums[id(members)] = Literals(writable(map(self._inside.render, members), self._is_literal))
        return self._enums[id(members)]

    def _is_literal(self, text: str) -> bool:
        if isinstance(self._notation, RawText):
            text = self._notation.other_lead + text + self._notation.mark
        return is_literal(text, self._notation)

    def _key(self, spec: ParameterSpec, depth: int, level: int) -> Key:
        if not is_key(spec.name, self._notation):
            raise DocumentationError(f"the key {spec.name!r} of an object cannot be written in this call format")
        shape = self.shape(spec.value_type, depth, level)
        return Key(tuple(self._inside.keys(spec.name)), shape, bool(spec.required), self._inside.spacing)


def writable(literals: Iterable[str], can_be_written: Callable[[str], bool]) -> list[str]:
    """The distinct literals of an enum; DocumentationError if one cannot be written."""
    distinct = list(dict.fromkeys(literals))
    for literal in distinct:
        if not can_be_written(literal):
            shown = "".join(c for c in literal if ord(c) not in RESERVED)
            raise DocumentationError(f"the member {shown!r} of the enum cannot be written in this call format")
    return distinct


@lru_cache(maxsize=64)
def scalar_shape(kind: str, notation: Notation) -> Shape:
    """All texts, integers, numbers or booleans: ``str``, ``int``, ``float`` or ``bool``."""
    if kind == "str":
        return Union(_texts(notation))
    return Number(_INT) if kind == "int" else Number(_FLOAT) if kind == "float" else Literals(inside(notation).booleans)


def _texts(notation: Notation) -> tuple[Text, ...]:
    return tuple(map(any_text, inside(notation).texts))


def _dictionary(notation: Notation, element: Shape) -> Record:
    """Objects with arbitrary keys."""
    around = inside(notation)
    free = FreeKeys(tuple(map(any_text, around.free_keys)), lambda _: element, element)
    return Record(KeyRules((), free, around.spacing, dialect=around.dialect))


@lru_cache(maxsize=64)
def any_shape(depth: int, notation: Notation) -> Shape:
    """Any literal with at most ``depth`` levels of nesting."""
    around = inside(notation)
    scalars: list[Shape] = [Number(_FLOAT), *_texts(notation), Literals([*around.booleans, around.null])]
    if not depth:
        return Union(scalars)
    below = any_shape(depth - 1, notation)
    nested = [Elements("[", below, around.spacing), *([Elements("(", below)] if around.has_tuples else [])]
    return Union([*scalars, *nested, _dictionary(notation, below)])
