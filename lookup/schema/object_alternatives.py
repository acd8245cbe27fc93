"""Plain schemas of objects -> their keys: named ones, and free ones by patterns."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Final, NamedTuple

from lookup.errors import quoted
from lookup.languages.language import ANY_TEXT, Language, any_of, pattern_language
from lookup.languages.limits import LanguageError
from lookup.schema.leaves import Constants, Texts
from lookup.schema.normal import LazySchema, Objects
from lookup.schema.schema import EVERYTHING, NOTHING, Schema, values_of

_KEYWORDS: Final = frozenset({"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"})

OF_KEYS: Final = _KEYWORDS | {"propertyNames"}
"""Keywords that say something of single keys."""

_TEXT: Final = Schema({"type": frozenset({"string"})})

Conjoin = Callable[[Iterable[Schema]], LazySchema]


class Keys(NamedTuple):
    """What one schema says of keys.

    Attributes
    ----------
    patterns : list of (Language, Schema)
    additional : list of Schema
        For all other keys; empty if the schema does not say.
    unnamed : bool
        Whether the schema says what another one refuses, so that it names no keys.
    """

    properties: Mapping[str, Schema]
    patterns: list[tuple[Language, Schema]]
    additional: list[Schema]
    unnamed: bool

    def of(self, name: str) -> list[Schema]:
        """The schemas of a key, apart from additional ones; empty if it is not named."""
        found = [self.properties[name]] if name in self.properties else []
        return found + [schema for language, schema in self.patterns if name in language]

    @property
    def documents(self) -> bool:
        """Whether the schema names keys that an object may have."""
        inner = (*self.properties.values(), *(schema for _, schema in self.patterns))
        return not self.unnamed and any(schema is not NOTHING for schema in inner)


class _Free(NamedTuple):
    """What several schemas say of keys together.

    Attributes
    ----------
    keys : list of Keys
    unevaluated : list of Schema
        For keys that no schema names.
    limits : list of list of Language
        A free key must be in one of each; there are none if one of them is empty.
    places : mapping of (str or None) to list of int
        Key -> which of ``keys`` name it; None -> those with keywords for keys that they do not name.
    """

    keys: list[Keys]
    unevaluated: list[Schema]
    limits: list[list[Language]]
    places: Mapping[str | None, list[int]]
    conjoin: Conjoin

    def of(self, name: str) -> LazySchema | None:
        """The schema of a key; ``None`` if an object may not have it."""
        found: list[Schema] = []
        evaluated = False
        for place in sorted({*self.places.get(name, ()), *self.places.get(None, ())}):
            one = self.keys[place]
            here = one.of(name)
            evaluated |= bool(here) and not one.unnamed
            found += here or one.additional
        if not evaluated:
            found += self.unevaluated
        return None if NOTHING in found else self.conjoin(found)

    def language(self, names: list[Language]) -> Language:
        """What free keys look like, ``names`` among it. LanguageError if it is too much work."""
        refused = [language for one in self.keys for language, schema in one.patterns if schema is NOTHING]
        limits = [*names, *(reduce(Language.union, some) for some in self.limits), *(r.complement() for r in refused)]
        return reduce(Language.intersection, limits, ANY_TEXT)


def objects_of(plain: Sequence[Schema], conjoin: Conjoin, closed: bool, notes: list[str]) -> list[Objects]:
    """The alternative of objects that obey some schemas, in a list; empty if there is none. See ``alternatives_of``."""
    needed = dict.fromkeys(name for schema in plain if "unnamed" not in schema.keywords for name in _needed(schema))
    free = _free(plain, conjoin, needed if closed else None, notes)
    names = _names(plain, conjoin, notes)
    required = list(dict.fromkeys(name for listed in values_of(plain, "required") for name in listed))
    dependent = _dependent(plain)
    for name in required:  # it grows
        required += [other for other in dependent.get(name, ()) if other not in required]
    named: dict[str, LazySchema] = {}
    for name in dict.fromkeys([*(name for one in free.keys for name in one.properties), *needed, *dependent]):
        key = free.of(name) if all(name in language for language in names) else None
        if key is not None:
            named[name] = key
    if any(name not in named for name in required):
        return []
    language = ANY_TEXT
    has_free = all(free.limits)
    if has_free:
        try:
            language = free.language(names)
        except LanguageError as error:  # then free keys could not be told from those that are not allowed
            notes.append(f"patternProperties ({error})")
            has_free = False
    most = min(values_of(plain, "maxProperties"), default=None)
    least = max(values_of(plain, "minProperties"), default=0)
    if (most is not None and max(least, len(required)) > most) or (not has_free and least > len(named)):
        return []
    patterns = tuple(language for one in free.keys for language, _ in one.patterns)
    of_free = free.of if has_free else None
    return [Objects(named, tuple(required), of_free, language, least, most, dependent, patterns)]


def _free(plain: Sequence[Schema], conjoin: Conjoin, known: Iterable[str] | None, notes: list[str]) -> _Free:
    """``known`` are the keys that documentation speaks of, which then has no others but those that it names."""
    speaking = [schema for schema in plain if not _KEYWORDS.isdisjoint(schema.keywords)]
    keys = [read_keys(schema, notes) for schema in speaking]
    unevaluated = values_of(speaking, "unevaluatedProperties")[-1:]  # the innermost one, which is the last
    naming = [
        schema for schema, one in zip(speaking, keys, strict=True) if one.properties or one.patterns or one.additional
    ]
    for schema in speaking:
        closes = schema is not plain[0] and schema.keywords.get("unevaluatedProperties", EVERYTHING) is not EVERYTHING
        if closes and any(other is not schema for other in naming):
            notes.append("unevaluatedProperties of a branch")  # it does not see what stands around it
    additional = [schema for one in keys for schema in one.additional]
    if additional:
        unevaluated = []
    every = [pattern for one in keys for pattern in one.patterns]
    limits = [one.patterns for one in keys if NOTHING in one.additional]
    silent = all(schema is NOTHING for schema in additional + values_of(speaking, "unevaluatedProperties"))
    if known is not None and silent and any(one.documents for one in keys):
        keys.append(Keys(dict.fromkeys(known, EVERYTHING), [], [], unnamed=False))
        unevaluated = [NOTHING]
    limits += [every] if NOTHING in unevaluated else []
    allowed = [[language for language, schema in patterns if schema is not NOTHING] for patterns in limits]
    places: dict[str | None, list[int]] = {}
    for place, one in enumerate(keys):
        for name in [*one.properties, *([None] if one.patterns or one.additional else [])]:
            places.setdefault(name, []).append(place)
    return _Free(keys, unevaluated, allowed, places, conjoin)


def read_keys(schema: Schema, notes: list[str]) -> Keys:
    """What a schema says of keys. Patterns that are too much work are left out and noted."""
    keywords = schema.keywords
    patterns: list[tuple[Language, Schema]] = []
    for pattern, inner in keywords.get("patternProperties", {}).items():
        try:
            patterns.append((pattern_language(pattern), inner))
        except LanguageError as error:
            notes.append(f"patternProperties {quoted(pattern)} ({error})")
    additional = values_of([schema], "additionalProperties")
    return Keys(keywords.get("properties", {}), patterns, additional, "unnamed" in keywords)


def _needed(schema: Schema) -> Iterator[str]:
    """The keys that a schema requires, always or beside others."""
    yield from schema.keywords.get("required", ())
    yield from itertools.chain.from_iterable(schema.keywords.get("dependentRequired", {}).values())


def _dependent(plain: Sequence[Schema]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for needs in values_of(plain, "dependentRequired"):
        for key, needed in needs.items():
            found[key] = (*found.get(key, ()), *needed)
    return {key: tuple(name for name in dict.fromkeys(needed) if name != key) for key, needed in found.items()}


def _names(plain: Sequence[Schema], conjoin: Conjoin, notes: list[str]) -> list[Language]:
    """What ``propertyNames`` says: the language of the names, in a list; empty if they may be all texts."""
    schemas = values_of(plain, "propertyNames")
    if not schemas:
        return []
    node = conjoin([_TEXT, *schemas]).node
    notes += node.notes
    languages: list[Language] = []
    for alternative in node.alternatives:
        if isinstance(alternative, Texts):
            notes += alternative.notes
            if alternative.language is ANY_TEXT:
                return []
            languages.append(alternative.language)
        elif isinstance(alternative, Constants):
            languages.append(any_of(value for value in alternative.values if isinstance(value, str)))
    try:
        return [reduce(Language.union, languages, any_of(()))]
    except LanguageError as error:
        notes.append(f"propertyNames ({error})")
        return []
