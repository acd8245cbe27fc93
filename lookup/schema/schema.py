"""Schemas, whose words are read when they are needed."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Final

from lookup.schema.words import KINDS, Kind, identity

Words = Mapping[str, Any]
"""Word -> what it says; nothing is said in two ways, and no word has a value of the wrong type.

``type`` is a frozenset of kinds; ``enum`` a tuple of values of this type, also of a constant; ``refused`` are values
that are not allowed; ``texts`` are (``pattern`` or ``format``, its text, whether a text must have it or must not);
``low`` and ``high`` are (limit, whether it is excluded); counts are ints; ``required`` is a tuple; ``allOf`` and the
like are tuples of schemas, ``properties`` and the like dictionaries of them. What a reference names, and a union of
one, is in ``allOf``.

``unnamed`` says that the properties are named by what refuses them, so they stay unevaluated; ``tuple`` that arrays are
written as tuples where a notation has them; ``notes`` what is not enforced.
"""


class Schema:
    """One schema, equal only to itself.

    Parameters
    ----------
    source : mapping or callable
        The words, or what reads them.
    """

    def __init__(self, source: Words | Callable[[], Words]) -> None:
        self._source = source

    @cached_property
    def words(self) -> Words:
        """See ``Words``."""
        return self._source() if callable(self._source) else self._source

    def __reduce__(self) -> str | tuple[Any, ...]:
        names = {EVERYTHING: "EVERYTHING", NOTHING: "NOTHING"}  # each of them is one object
        return names.get(self) or (Schema, (self._source,))

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
        return Schema({"not": self})


EVERYTHING: Final = Schema({})
"""The schema of all values."""

NOTHING: Final = Schema({"enum": ()})
"""The schema of no value."""


def said(schemas: Iterable[Schema], word: str) -> list[Any]:
    """What some schemas say with a word."""
    return [schema.words[word] for schema in schemas if word in schema.words]
