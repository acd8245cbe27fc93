"""What a schema refuses, as alternatives of schemas: ``not``, the second branch of ``if``, exclusive ``oneOf``."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from lookup.schema.schema import EVERYTHING, NOTHING, Made, MadeSchema, Schema, Words
from lookup.schema.words import KINDS, NUMBERS, Kind

Alternatives = list[tuple[Schema, ...]]
"""A value has one of them: schemas that hold together."""

_Negate = Callable[[Any], Alternatives | None]

_SIZES: Final[dict[str, Kind]] = {"Length": "string", "Items": "array", "Properties": "object"}


def negated(schema: Schema) -> Alternatives | None:
    """What a schema refuses; ``None`` if that cannot be said in schemas.

    ``{"required": ["a"]}`` refuses ``{"type": "object", "properties": {"a": false}}``.
    """
    if schema is EVERYTHING:
        return []
    if schema is NOTHING:
        return [(EVERYTHING,)]
    found: Alternatives = []
    for word, value in schema.words.items():
        negate = _NEGATED.get(word)
        alternatives = None if negate is None else negate(value)
        if alternatives is None:
            return None
        found += alternatives
    return found


def _made(words: Words) -> Alternatives:
    return [(MadeSchema(words),)]


def _type(kinds: frozenset[Kind]) -> Alternatives | None:
    if "integer" in kinds and "number" not in kinds:
        return None  # fractions have no type of their own
    return _made({"type": KINDS - kinds}) if kinds != KINDS else []


def _values(values: tuple[Any, ...]) -> Alternatives | None:
    nested = any(isinstance(value, list | tuple | dict) for value in values)
    return None if nested else _made({Made.VALUES: values})


def _required(keys: tuple[str, ...]) -> Alternatives:
    return [(MadeSchema({"type": _OBJECT, "properties": {key: NOTHING}}),) for key in keys]


def _properties(properties: Mapping[str, Schema]) -> Alternatives:
    return [
        (MadeSchema({"type": _OBJECT, "required": (key,), "properties": {key: inner.negation}, Made.KEYS: True}),)
        for key, inner in properties.items()
    ]


def _limit(opposite: str) -> _Negate:
    return lambda value: _made({"type": NUMBERS, opposite: value})


def _size(kind: Kind, opposite: str, step: int) -> _Negate:
    return lambda value: _made({"type": frozenset({kind}), opposite: value + step}) if value + step >= 0 else []


def _worded(word: Made) -> _Negate:
    return lambda written: _made({"type": frozenset({"string"}), word: written})


_OBJECT: Final = frozenset[Kind]({"object"})
_NEGATED: Final[dict[Any, _Negate]] = {
    "type": _type,
    "enum": _values,
    "required": _required,
    "properties": _properties,
    "minimum": _limit("exclusiveMaximum"),
    "maximum": _limit("exclusiveMinimum"),
    "exclusiveMinimum": _limit("maximum"),
    "exclusiveMaximum": _limit("minimum"),
    **{f"min{what}": _size(kind, f"max{what}", -1) for what, kind in _SIZES.items()},
    **{f"max{what}": _size(kind, f"min{what}", 1) for what, kind in _SIZES.items()},
    "pattern": _worded(Made.PATTERN),
    "format": _worded(Made.FORMAT),
    "not": lambda inner: [(inner,)],
    "anyOf": lambda members: [tuple(inner.negation for inner in members)],
    "allOf": lambda members: [(inner.negation,) for inner in members],
    "$ref": lambda target: [(target.negation,)],
}
