"""What a schema refuses, as alternatives of schemas: ``not``, the second branch of ``if``, exclusive ``oneOf``."""

import enum
from collections.abc import Callable, Mapping
from typing import Any, Final

from lookup.schema.words import KINDS, Kind, count, is_schema, kinds_of, names, number, schema_list, schemas, text


class Refused(enum.Enum):
    """Words of schemas that are made here; no document has them, because they are no texts."""

    PATTERN = enum.auto()
    FORMAT = enum.auto()
    VALUES = enum.auto()
    KEYS = enum.auto()  # its properties are named by what refuses them, so they stay unevaluated


Alternatives = list[list[Any]]
"""A value has one of them: a list of schemas that hold together."""

ANNOTATIONS: Final = frozenset(
    {
        "$schema", "$id", "id", "$comment", "$anchor", "$defs", "definitions", "title", "description", "default",
        "example", "examples", "deprecated", "readOnly", "writeOnly", "contentMediaType", "contentEncoding", "then",
        "else", "xml", "externalDocs", "discriminator",
    }
)  # fmt: skip
"""Words that refuse nothing by themselves."""

_Negate = Callable[[Mapping[str, Any], str], Alternatives | None]


def negated(schema: Any) -> Alternatives | None:
    """What a schema without a reference refuses; ``None`` if that cannot be said in schemas.

    >>> negated({"required": ["a"]})
    [[{'type': 'object', 'properties': {'a': False}}]]
    """
    if schema is True:
        return []
    if schema is False:
        return [[]]
    found: Alternatives = []
    for word in schema:
        if word in ANNOTATIONS or (isinstance(word, str) and word.startswith("x-")):
            continue
        negate = _WORDS.get(word)
        alternatives = None if negate is None else negate(schema, word)
        if alternatives is None:
            return None
        found += alternatives
    return found


def _type(schema: Mapping[str, Any], word: str) -> Alternatives | None:
    kinds = kinds_of(schema)
    if "integer" in kinds and "number" not in kinds:
        return None  # fractions have no type of their own
    others = sorted(KINDS - kinds)
    return [[{"type": others}]] if others else []


def _values(schema: Mapping[str, Any], word: str) -> Alternatives | None:
    values = schema[word] if word == "enum" else [schema[word]]
    if not isinstance(values, list | tuple) or any(isinstance(value, list | tuple | dict) for value in values):
        return None
    return [[{Refused.VALUES: tuple(values)}]]


def _required(schema: Mapping[str, Any], word: str) -> Alternatives:
    return [[{"type": "object", "properties": {name: False}}] for name in names(schema[word])]


def _properties(schema: Mapping[str, Any], word: str) -> Alternatives:
    return [
        [{"type": "object", "required": [key], "properties": {key: {"not": inner}}, Refused.KEYS: True}]
        for key, inner in schemas(schema, word).items()
    ]


def _limit(kind: Kind, opposite: str, step: int = 0) -> _Negate:
    def negate(schema: Mapping[str, Any], word: str) -> Alternatives | None:
        value = number(schema, word) if not step else count(schema, word)
        if value is None or isinstance(schema.get(f"exclusive{word.capitalize()}"), bool):
            return None
        if step and value + step < 0:
            return []
        return [[{"type": kind, opposite: int(value + step) if step else schema[word]}]]

    return negate


def _worded(refused: Refused) -> _Negate:
    def negate(schema: Mapping[str, Any], word: str) -> Alternatives | None:
        written = text(schema, word)
        return None if written is None else [[{"type": "string", refused: written}]]

    return negate


def _not(schema: Mapping[str, Any], word: str) -> Alternatives | None:
    return [[schema[word]]] if is_schema(schema[word]) else None


def _any_of(schema: Mapping[str, Any], word: str) -> Alternatives:
    return [[{"not": inner} for inner in schema_list(schema, word)]]


def _all_of(schema: Mapping[str, Any], word: str) -> Alternatives:
    return [[{"not": inner}] for inner in schema_list(schema, word)]


_WORDS: Final[dict[Any, _Negate]] = {
    "type": _type,
    "enum": _values,
    "const": _values,
    "required": _required,
    "properties": _properties,
    "minimum": _limit("number", "exclusiveMaximum"),
    "maximum": _limit("number", "exclusiveMinimum"),
    "exclusiveMinimum": _limit("number", "maximum"),
    "exclusiveMaximum": _limit("number", "minimum"),
    "minLength": _limit("string", "maxLength", -1),
    "maxLength": _limit("string", "minLength", 1),
    "minItems": _limit("array", "maxItems", -1),
    "maxItems": _limit("array", "minItems", 1),
    "minProperties": _limit("object", "maxProperties", -1),
    "maxProperties": _limit("object", "minProperties", 1),
    "pattern": _worded(Refused.PATTERN),
    "format": _worded(Refused.FORMAT),
    "not": _not,
    "anyOf": _any_of,
    "allOf": _all_of,
}
