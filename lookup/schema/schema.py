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

_MAX_LOOKED_AT: Final = 4
_MAX_WALKED: Final = 500
_MAX_SURE_LENGTH: Final = 1_000
_WITH_VALUES: Final = frozenset({"enum", "type", "notes"})
_SURE_WORDS: Final = _WITH_VALUES | {
    *("properties", "items", "additionalProperties", "required", "maxLength", "minLength", "texts", "maxItems"),
    *("uniqueItems", "allOf", "tuple"),
}


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

    def surely_allows(self, depth: int = 0) -> bool:
        """Whether some value surely obeys the schema, at a short look. False says nothing."""
        words = self.words
        if depth > _MAX_LOOKED_AT or not _SURE_WORDS.issuperset(words):
            return False
        if "allOf" in words:
            inner: tuple[Schema, ...] = words["allOf"]
            return len(words) == len(inner) == 1 and inner[0].surely_allows(depth + 1)
        if "enum" in words:  # its members have the type
            return bool(words["enum"]) and _WITH_VALUES.issuperset(words)
        lengths = [word for word in ("minLength", "maxLength", "texts") if word in words]
        formats = all(word == "format" for word, _, _ in words.get("texts", ()))
        if len(lengths) > 1 or not formats or words.get("minLength", 0) > _MAX_SURE_LENGTH:
            return False
        if self.kinds != {"object"}:
            return bool(self.kinds)
        other = words.get("additionalProperties", EVERYTHING)
        needed = (words.get("properties", {}).get(name, other) for name in words.get("required", ()))
        return all(schema.surely_allows(depth + 1) for schema in needed)


EVERYTHING: Final = Schema({})
"""The schema of all values."""

NOTHING: Final = Schema({"enum": ()})
"""The schema of no value."""


def said(schemas: Iterable[Schema], word: str) -> list[Any]:
    """What some schemas say with a word."""
    return [schema.words[word] for schema in schemas if word in schema.words]


def with_all(schema: Schema) -> list[Schema]:
    """A schema and all that hold with it, a bounded number."""
    found = [schema]
    for here in found:  # it grows
        found += [inner for inner in here.words.get("allOf", ()) if inner not in found][: _MAX_WALKED - len(found)]
    return found
