"""Schemas in the words of JSON Schema 2020-12 alone, as a graph: a reference leads to the schema that it names."""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Protocol

from lookup.schema.words import KINDS, Kind, identity

Words = Mapping[Any, Any]
"""Word -> what it says. No word has a value of the wrong type, and schemas are ``Schema``s.

``type`` is a frozenset of kinds; ``enum`` a tuple, also of a constant; counts are ints, other limits numbers;
``required`` is a tuple; ``allOf`` and the like are tuples of schemas, ``properties`` and the like dictionaries of them.
"""


class Made(enum.Enum):
    """Words of schemas that are made here; no document has them, because they are no texts."""

    PATTERN = enum.auto()  # a pattern, a format and values that are refused
    FORMAT = enum.auto()
    VALUES = enum.auto()
    KEYS = enum.auto()  # its properties are named by what refuses them, so they stay unevaluated
    TUPLE = enum.auto()  # arrays are written as tuples where a notation has them
    NOTES = enum.auto()  # what is not enforced


class Written:
    """A part of a document, equal only to itself, as a key: YAML's aliases and references lead to one part often."""

    def __init__(self, part: Any) -> None:
        self.part = part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Written) and self.part is other.part

    def __hash__(self) -> int:
        return id(self.part)


@dataclass(frozen=True, eq=False)
class Resource:
    """The root of a document, or a schema in it with its own ``$id``: references inside it are relative to it."""

    url: str
    written: Mapping[str, Any]


class Reader(Protocol):
    """Reads schemas, each when it is asked for its words."""

    def words(self, written: Mapping[str, Any], resource: Resource) -> Words:
        """The words of a schema that stands in a resource."""


class Schema:
    """One schema, equal only to itself.

    Attributes
    ----------
    words : mapping
        See ``Words``.
    """

    def __init__(self, reader: Reader, written: Mapping[str, Any], resource: Resource) -> None:
        self._source = reader, written, resource

    @cached_property
    def words(self) -> Words:
        """See ``Words``."""
        reader, written, resource = self._source
        return reader.words(written, resource)

    def __reduce__(self) -> tuple[Any, ...]:
        return Schema, self._source

    @property
    def kinds(self) -> frozenset[Kind]:
        """The types that the word ``type`` allows."""
        found: frozenset[Kind] = self.words.get("type", KINDS)
        return found

    @cached_property
    def members(self) -> frozenset[Any]:
        """The identities of the members of ``enum``."""
        return frozenset(map(identity, self.words["enum"]))

    @cached_property
    def negation(self) -> "Schema":
        """The schema that refuses this one."""
        return MadeSchema({"not": self})


class MadeSchema(Schema):
    """A schema that no document has."""

    def __init__(self, words: Words) -> None:
        self._words = words

    @property
    def words(self) -> Words:
        """See ``Words``."""
        return self._words

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self._words,)


def _made(words: Words) -> Schema:
    """The schema of some words; that without words is one object."""
    return MadeSchema(words) if words != _REFUSES and words else NOTHING if words else EVERYTHING


_REFUSES: Final[Words] = {"enum": ()}
EVERYTHING: Final[Schema] = MadeSchema({})
"""The schema of all values."""

NOTHING: Final[Schema] = MadeSchema(_REFUSES)
"""The schema of no value."""


def said(schemas: Iterable[Schema], word: Any) -> list[Any]:
    """What some schemas say with a word."""
    return [schema.words[word] for schema in schemas if word in schema.words]
