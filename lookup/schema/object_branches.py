"""Plain schemas of objects -> their keys: named ones, and free ones by patterns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lookup.languages.language import Language, any_of, pattern_language
from lookup.languages.limits import LanguageError
from lookup.schema.document import Document, Part
from lookup.schema.negation import Refused
from lookup.schema.nodes import Constants, Node, Objects, Texts
from lookup.schema.plain_checks import matches
from lookup.schema.words import count, is_schema, names, schemas

if TYPE_CHECKING:
    from lookup.schema.conjunction import Conjunction

_WORDS: Final = frozenset({"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"})
_NONE: Final[Mapping[str, Any]] = {}


class _Keys(NamedTuple):
    """What one schema says of keys.

    Attributes
    ----------
    properties : mapping of str to schema
    patterns : list of (Language, schema)
    additional : schema or None
        For all other keys; ``None`` if the schema does not say.
    unevaluated : schema or None
        For keys that no schema beside this one names.
    refused : bool
        Whether the schema says what another one refuses, so that it names no keys.
    """

    properties: Mapping[str, Any]
    patterns: list[tuple[Language, Any]]
    additional: Any
    unevaluated: Any
    resource: Mapping[str, Any]
    refused: bool

    def of(self, name: str) -> list[Any]:
        """The schemas of a key, apart from additional ones."""
        found = [self.properties[name]] if name in self.properties else []
        return found + [schema for language, schema in self.patterns if matches(language, name)]


class ObjectBranches:
    """Makes the branches of objects; see ``PlainBranches``."""

    def __init__(
        self, conjunction: "Callable[[Iterable[Part]], Conjunction]", document: Document, closed: bool
    ) -> None:
        self._conjunction = conjunction
        self._document = document
        self._closed = closed
        self._is_naming = False
        self._read: dict[tuple[int, int], tuple[Any, _Keys, list[str]]] = {}

    def build(self, plain: Sequence[tuple[Mapping[Any, Any], Mapping[str, Any]]], notes: list[str]) -> list[Objects]:
        """The branch of objects that obey some schemas, in a list; empty if there is none."""
        said = [self._said(schema, resource, notes) for schema, resource in plain if not _WORDS.isdisjoint(schema)]
        found = _Found(said, self._closed, self._of)
        inner = any(keys.unevaluated not in (None, True) for keys in said[1:])
        if inner and any(keys.properties or keys.patterns for keys in said[:-1]):
            notes.append("unevaluatedProperties of a branch")  # it does not see what stands around it
        texts = [
            self._names(schema["propertyNames"], resource)
            for schema, resource in plain
            if is_schema(schema.get("propertyNames"))
        ]
        languages, allowed = self._names_allowed(texts, notes)
        required = list(dict.fromkeys(name for schema, _ in plain for name in _required(schema, self._closed)))
        dependent = _dependent(plain)
        for name in required:  # it grows
            required += [other for other in dependent.get(name, ()) if other not in required]
        needed = [*required, *(name for key, needs in dependent.items() for name in (key, *needs))]
        named: dict[str, Conjunction] = {}
        for name in dict.fromkeys([*(name for keys in said for name in keys.properties), *needed]):
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
        mosts = [most for schema, _ in plain if (most := count(schema, "maxProperties")) is not None]
        most = min(mosts, default=None)
        least = max((count(schema, "minProperties") or 0 for schema, _ in plain), default=0)
        if (most is not None and max(least, len(required)) > most) or (free is None and least > len(named)):
            return []
        patterns = tuple(language for keys in said for language, _ in keys.patterns)
        return [Objects(named, tuple(required), free, language, least, most, dependent, patterns)]

    def _said(self, schema: Mapping[Any, Any], resource: Mapping[str, Any], notes: list[str]) -> _Keys:
        """What a schema says of keys; read once."""
        key = id(schema), id(resource)
        if key not in self._read:
            own: list[str] = []
            self._read[key] = schema, _read_keys(schema, resource, own), own
        notes += self._read[key][2]
        return self._read[key][1]

    def _of(self, schemas_of_key: Iterable[tuple[Any, Mapping[str, Any]]]) -> "Conjunction":
        return self._conjunction(self._document.part(schema, resource) for schema, resource in schemas_of_key)

    def _names(self, schema: Any, resource: Mapping[str, Any]) -> "Conjunction":
        return self._conjunction([self._document.part(schema, resource)])

    def _names_allowed(
        self, texts: "list[Conjunction]", notes: list[str]
    ) -> tuple[list[Language], Callable[[str], bool]]:
        """What ``propertyNames`` says: languages, and whether a name is in all of them."""
        languages: list[Language] = []
        for conjunction in texts:
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
        self,
        said: Sequence[_Keys],
        closed: bool,
        conjunction: "Callable[[Iterable[tuple[Any, Mapping[str, Any]]]], Conjunction]",
    ) -> None:
        self._said = said
        self._conjunction = conjunction
        self._patterns_only = closed and all(
            w in (None, False) for keys in said for w in (keys.additional, keys.unevaluated)
        )

    def key(self, name: str) -> "Conjunction | None":
        """The schema of a key; ``None`` if an object may not have it."""
        found: list[tuple[Any, Mapping[str, Any]]] = []
        named = [keys.of(name) for keys in self._said]
        evaluated = any(here and not keys.refused for keys, here in zip(self._said, named, strict=True))
        for place, (keys, here) in enumerate(zip(self._said, named, strict=True)):
            found += [(schema, keys.resource) for schema in here]
            if not here and keys.additional is not None:
                found.append((keys.additional, keys.resource))
            if not evaluated and (unevaluated := self._unevaluated(place)) is not None:
                found.append((unevaluated, keys.resource))
        return None if any(schema is False for schema, _ in found) else self._conjunction(found)

    def _unevaluated(self, place: int) -> Any:
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
    def free(self) -> "Callable[[str], Conjunction | None] | None":
        """Key -> its schema, for keys that are not named; ``None`` if there are none."""
        return None if any(not languages for languages in self._limits) else self.key

    @cached_property
    def _limits(self) -> list[list[Language]]:
        """Lists of languages; a free key must be in one of each."""
        every = [pattern for keys in self._said for pattern in keys.patterns]
        limits = [keys.patterns for keys in self._said if keys.additional is False]
        limits += [every for place in range(len(self._said)) if self._unevaluated(place) is False]
        limits += [every] if self._patterns_only else []
        return [[language for language, schema in patterns if schema is not False] for patterns in limits]

    def free_languages(self) -> list[Language]:
        """What free keys look like where only some are allowed."""
        found = [reduce(lambda one, other: one.either(other), languages) for languages in self._limits]
        refused = [language for keys in self._said for language, schema in keys.patterns if schema is False]
        return found + [language.outside() for language in refused]


def _common(languages: Sequence[Language]) -> Language | None:
    """What is in all languages; ``None`` if there are none."""
    return reduce(lambda one, other: one.both(other), languages) if languages else None


def _read_keys(schema: Mapping[Any, Any], resource: Mapping[str, Any], notes: list[str]) -> _Keys:
    patterns: list[tuple[Language, Any]] = []
    for pattern, inner in (schemas(schema, "patternProperties") if "patternProperties" in schema else _NONE).items():
        try:
            patterns.append((pattern_language(pattern), inner))
        except LanguageError as error:
            notes.append(f"patternProperties {pattern!r} ({error})")
    additional, unevaluated = (
        schema[word] if is_schema(schema.get(word)) else None
        for word in ("additionalProperties", "unevaluatedProperties")
    )
    properties = schemas(schema, "properties") if "properties" in schema else _NONE
    return _Keys(properties, patterns, additional, unevaluated, resource, Refused.KEYS in schema)


def _required(schema: Mapping[Any, Any], closed: bool) -> list[str]:
    """The required keys; in documentation also those that say so themselves, as in draft 3."""
    found = names(schema.get("required"))
    if closed:
        inner = schemas(schema, "properties").items()
        found += [name for name, key in inner if isinstance(key, dict) and key.get("required") is True]
    return found


def _dependent(plain: Sequence[tuple[Mapping[Any, Any], Mapping[str, Any]]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for schema, _ in plain:
        for word in ("dependentRequired", "dependencies"):
            lists = schema.get(word)
            for key, needed in lists.items() if isinstance(lists, dict) else ():
                if isinstance(needed, list | tuple | str):
                    found[key] = (*found.get(key, ()), *([needed] if isinstance(needed, str) else names(needed)))
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
