"""Plain schemas of objects -> their keys: named ones, and free ones by patterns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, reduce
from typing import Final, NamedTuple

from lookup.languages.language import Language, any_of, pattern_language
from lookup.languages.limits import LanguageError
from lookup.schema.nodes import Conjunction, Constants, Node, Objects, Texts, matches
from lookup.schema.schema import EVERYTHING, NOTHING, Made, Schema, said

_WORDS: Final = frozenset({"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"})


class _Keys(NamedTuple):
    """What one schema says of keys.

    Attributes
    ----------
    properties : mapping of str to Schema
    patterns : list of (Language, Schema)
    additional : Schema or None
        For all other keys; ``None`` if the schema does not say.
    unevaluated : Schema or None
        For keys that no schema beside this one names.
    refused : bool
        Whether the schema says what another one refuses, so that it names no keys.
    """

    properties: Mapping[str, Schema]
    patterns: list[tuple[Language, Schema]]
    additional: Schema | None
    unevaluated: Schema | None
    refused: bool

    def of(self, name: str) -> list[Schema]:
        """The schemas of a key, apart from additional ones."""
        found = [self.properties[name]] if name in self.properties else []
        return found + [schema for language, schema in self.patterns if matches(language, name)]


class ObjectBranches:
    """Makes the branches of objects; see ``PlainBranches``."""

    def __init__(self, conjunction: Callable[[Iterable[Schema]], Conjunction], closed: bool) -> None:
        self._conjunction = conjunction
        self._closed = closed
        self._is_naming = False
        self._read: dict[Schema, tuple[_Keys, list[str]]] = {}

    def build(self, plain: Sequence[Schema], notes: list[str]) -> list[Objects]:
        """The branch of objects that obey some schemas, in a list; empty if there is none."""
        keys = [self._said(schema, notes) for schema in plain if not _WORDS.isdisjoint(schema.words)]
        found = _Found(keys, self._closed, self._conjunction)
        inner = any(one.unevaluated not in (None, EVERYTHING) for one in keys[1:])
        if inner and any(one.properties or one.patterns for one in keys[:-1]):
            notes.append("unevaluatedProperties of a branch")  # it does not see what stands around it
        names = [self._conjunction([schema]) for schema in said(plain, "propertyNames")]
        languages, allowed = self._names_allowed(names, notes)
        required = list(dict.fromkeys(name for listed in said(plain, "required") for name in listed))
        dependent = _dependent(plain)
        for name in required:  # it grows
            required += [other for other in dependent.get(name, ()) if other not in required]
        needed = [*required, *(name for key, needs in dependent.items() for name in (key, *needs))]
        named: dict[str, Conjunction] = {}
        for name in dict.fromkeys([*(name for one in keys for name in one.properties), *needed]):
            key = found.key(name) if allowed(name) else None
            if key is not None:
                named[name] = key
        if any(name not in named for name in required):
            return []
        free = found.free
        language: Language | None = None
        if free is not None:
            try:
                language = _common([*languages, *found.free_languages()])
            except LanguageError as error:  # then free keys could not be told from those that are not allowed
                notes.append(f"patternProperties ({error})")
                free = None
        most = min(said(plain, "maxProperties"), default=None)
        least = max(said(plain, "minProperties"), default=0)
        if (most is not None and max(least, len(required)) > most) or (free is None and least > len(named)):
            return []
        patterns = tuple(language for one in keys for language, _ in one.patterns)
        return [Objects(named, tuple(required), free, language, least, most, dependent, patterns)]

    def _said(self, schema: Schema, notes: list[str]) -> _Keys:
        """What a schema says of keys; read once."""
        if schema not in self._read:
            own: list[str] = []
            self._read[schema] = _read_keys(schema, own), own
        keys, own = self._read[schema]
        notes += own
        return keys

    def _names_allowed(
        self, conjunctions: list[Conjunction], notes: list[str]
    ) -> tuple[list[Language], Callable[[str], bool]]:
        """What ``propertyNames`` says: languages, and whether a name is in all of them."""
        languages: list[Language] = []
        for conjunction in conjunctions:
            if self._is_naming:  # a schema of names may contain itself
                notes.append("propertyNames")
                continue
            self._is_naming = True
            try:
                language = _language(conjunction.node)
            except LanguageError as error:
                notes.append(f"propertyNames ({error})")
                continue
            finally:
                self._is_naming = False
            node = conjunction.node
            notes += [*node.notes, *(note for b in node.branches if isinstance(b, Texts) for note in b.notes)]
            languages += [] if language is None else [language]
        return languages, lambda name: all(matches(language, name) for language in languages)


class _Found:
    """What several schemas say of keys together."""

    def __init__(
        self, said: Sequence[_Keys], closed: bool, conjunction: Callable[[Iterable[Schema]], Conjunction]
    ) -> None:
        self._said = said
        self._conjunction = conjunction
        silent = all(one in (None, NOTHING) for keys in said for one in (keys.additional, keys.unevaluated))
        self._patterns_only = closed and silent and any(_documents(keys) for keys in said)

    def key(self, name: str) -> Conjunction | None:
        """The schema of a key; ``None`` if an object may not have it."""
        found: list[Schema] = []
        named = [keys.of(name) for keys in self._said]
        evaluated = any(here and not keys.refused for keys, here in zip(self._said, named, strict=True))
        for place, (keys, here) in enumerate(zip(self._said, named, strict=True)):
            found += here
            if not here and keys.additional is not None:
                found.append(keys.additional)
            if not evaluated and (unevaluated := self._unevaluated(place)) is not None:
                found.append(unevaluated)
        return None if NOTHING in found else self._conjunction(found)

    def _unevaluated(self, place: int) -> Schema | None:
        """What a schema's ``unevaluatedProperties`` says of keys that nobody names; ``None`` if others speak of them.

        Schemas inside another one come behind it.
        """
        others = (
            n != place and (k.additional is not None or (n > place and k.unevaluated is not None))
            for n, k in enumerate(self._said)
        )
        own = self._said[place]
        return None if own.additional is not None or any(others) else own.unevaluated

    @property
    def free(self) -> Callable[[str], Conjunction | None] | None:
        """Key -> its schema, for keys that are not named; ``None`` if there are none."""
        return None if any(not languages for languages in self._limits) else self.key

    @cached_property
    def _limits(self) -> list[list[Language]]:
        """Lists of languages; a free key must be in one of each."""
        every = [pattern for keys in self._said for pattern in keys.patterns]
        limits = [keys.patterns for keys in self._said if keys.additional is NOTHING]
        limits += [every for place in range(len(self._said)) if self._unevaluated(place) is NOTHING]
        limits += [every] if self._patterns_only else []
        return [[language for language, schema in patterns if schema is not NOTHING] for patterns in limits]

    def free_languages(self) -> list[Language]:
        """What free keys look like where only some are allowed."""
        found = [reduce(lambda one, other: one.either(other), languages) for languages in self._limits]
        refused = [language for keys in self._said for language, schema in keys.patterns if schema is NOTHING]
        return found + [language.outside() for language in refused]


def _documents(keys: _Keys) -> bool:
    """Whether a schema names keys that an object may have."""
    inner = (*keys.properties.values(), *(schema for _, schema in keys.patterns))
    return not keys.refused and any(schema is not NOTHING for schema in inner)


def _common(languages: Sequence[Language]) -> Language | None:
    """What is in all languages; ``None`` if there are none."""
    return reduce(lambda one, other: one.both(other), languages) if languages else None


def _read_keys(schema: Schema, notes: list[str]) -> _Keys:
    words = schema.words
    patterns: list[tuple[Language, Schema]] = []
    for pattern, inner in words.get("patternProperties", {}).items():
        try:
            patterns.append((pattern_language(pattern), inner))
        except LanguageError as error:
            notes.append(f"patternProperties {pattern!r} ({error})")
    return _Keys(
        words.get("properties", {}),
        patterns,
        words.get("additionalProperties"),
        words.get("unevaluatedProperties"),
        Made.KEYS in words,
    )


def _dependent(plain: Sequence[Schema]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for needs in said(plain, "dependentRequired"):
        for key, needed in needs.items():
            found[key] = (*found.get(key, ()), *needed)
    return {key: tuple(name for name in dict.fromkeys(needed) if name != key) for key, needed in found.items()}


def _language(node: Node) -> Language | None:
    """The texts of a node; ``None`` if all are allowed."""
    if node.anything:
        return None
    found: Language | None = None
    for branch in node.branches:
        match branch:
            case Texts():
                language = branch.language
                if language is None:
                    return None
            case Constants(values):
                language = any_of(value for value in values if isinstance(value, str))
            case _:
                continue
        found = language if found is None else found.either(language)
    return any_of(()) if found is None else found
