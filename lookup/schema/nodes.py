"""The normal form of schemas: a union of plain branches, without references, ``allOf``, ``anyOf`` and ``oneOf``.

The schemas of members (items, values of keys) are ``Conjunction``s, whose own normal form is made when it is needed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Protocol, TypeVar

from lookup.languages.formats import FORMATS
from lookup.languages.language import ANY_TEXT, Language, any_of, format_language, pattern_language
from lookup.languages.limits import LanguageError
from lookup.schema.schema import NOTHING, Schema

NOT_ENFORCED: Final = frozenset({"regex", "idn-email", "idn-hostname", "iri", "iri-reference", "relative-json-pointer"})
"""Formats of JSON Schema that are neither enforced nor checked."""

_Made = TypeVar("_Made")

INFINITE: Final = 1 << 60
"""The size of the smallest value of a branch that has none."""


def matches(language: Language, text: str) -> bool:
    """Whether a text is in a language."""
    state = language.run(language.start, text)
    return state is not None and language.whole(state)


def language_of(word: str, name: str) -> Language | None:
    """The texts of a ``pattern`` or ``format``; ``None`` if it limits nothing. LanguageError if it is too much work."""
    if word == "pattern":
        return pattern_language(name)
    return format_language(name) if name in FORMATS else None


@dataclass(frozen=True, eq=False)
class Constants:
    """Given values: an enum, a constant, booleans, null."""

    values: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts.

    Attributes
    ----------
    limits : tuple of (str, str, bool)
        ``pattern`` or ``format``, its text, and whether a text must have it or must not have it.
    least, most : int
        Length in code points; ``most`` may be ``None``.
    excluded : tuple of str
    """

    limits: tuple[tuple[str, str, bool], ...] = ()
    least: int = 0
    most: int | None = None
    excluded: tuple[str, ...] = ()

    @cached_property
    def _built(self) -> tuple[Language | None, tuple[str, ...]]:
        notes: list[str] = []
        languages = [self._limited(*limit, notes) for limit in self.limits]
        if self.excluded:
            languages.append(_tried(lambda: any_of(self.excluded).outside(), "not enum", notes))
        found: Language | None = None
        for language in languages:
            if language is not None:
                found = language if found is None else _both(found, language, notes) or found
        if self.least or self.most is not None:
            base = ANY_TEXT if found is None else found
            found = _tried(lambda: base.with_length(self.least, self.most), "minLength or maxLength", notes) or found
        return found, tuple(notes)

    def _limited(self, word: str, name: str, wanted: bool, notes: list[str]) -> Language | None:
        if word == "format" and name in NOT_ENFORCED:
            notes.append(f"format {name!r}")
            return None
        language = _tried(lambda: language_of(word, name), f"{word} {name!r}", notes)
        return language if language is None or wanted else _tried(language.outside, f"not {word} {name!r}", notes)

    @property
    def language(self) -> Language | None:
        """The texts, or ``None`` if all texts are allowed."""
        return self._built[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """What cannot be enforced while a text is written."""
        return self._built[1]


def _both(one: Language, other: Language, notes: list[str]) -> Language | None:
    return _tried(lambda: one.both(other), "several patterns", notes)


def _tried(build: Callable[[], _Made | None], what: str, notes: list[str]) -> _Made | None:
    try:
        return build()
    except LanguageError as error:
        notes.append(f"{what} ({error})")
        return None


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers between two limits that are multiples of a step, all in exact arithmetic."""

    integer: bool = False
    low: Fraction | None = None
    high: Fraction | None = None
    low_open: bool = False
    high_open: bool = False
    step: Fraction | None = None
    excluded: frozenset[Fraction] = frozenset()

    @property
    def is_limited(self) -> bool:
        """Whether not every number, or every integer, is allowed."""
        return not (self.low is None and self.high is None and self.step is None and not self.excluded)


class Maker(Protocol):
    """Makes what a conjunction says of itself, each once."""

    def node(self, conjunction: "Conjunction") -> "Node":
        """The normal form."""

    def size(self, conjunction: "Conjunction") -> int:
        """About the characters of the smallest value; ``INFINITE`` if no value is allowed."""

    def branch_size(self, branch: "Branch") -> int:
        """The same of a branch."""

    def surely_allows(self, schema: Schema) -> bool:
        """Whether some value surely obeys a schema. False says nothing."""


class Conjunction:
    """Some schemas, all of which a value must obey.

    Attributes
    ----------
    schemas : tuple of Schema
        Empty if every value is allowed.
    """

    def __init__(self, schemas: tuple[Schema, ...], maker: Maker) -> None:
        self.schemas = schemas
        self._maker = maker

    @cached_property
    def node(self) -> "Node":
        """The normal form."""
        return self._maker.node(self)

    @property
    def size(self) -> int:
        """About the characters of the smallest value; ``INFINITE`` if no value is allowed."""
        return self._maker.size(self)

    def size_of(self, branch: "Branch") -> int:
        """About the characters of the smallest value of a branch."""
        return self._maker.branch_size(branch)

    @cached_property
    def inhabited(self) -> list["Branch"]:
        """The branches of the normal form without those that have no value."""
        if self._is_sure and len(self.node.branches) == 1:
            return list(self.node.branches)
        return [branch for branch in self.node.branches if self.size_of(branch) < INFINITE]

    @cached_property
    def _is_sure(self) -> bool:
        """Whether some value is surely allowed."""
        return not self.schemas or (len(self.schemas) == 1 and self._maker.surely_allows(self.schemas[0]))

    @cached_property
    def is_false(self) -> bool:
        """Whether one of the schemas is ``false``."""
        return NOTHING in self.schemas

    @cached_property
    def is_empty(self) -> bool:
        """Whether no value is allowed."""
        return self.is_false or not (self._is_sure or self.size < INFINITE)


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists: the schemas of the first items, and of all others (``None``: there are no others).

    ``is_tuple`` says that they are written as tuples where a notation has them.
    """

    prefix: tuple[Conjunction, ...]
    rest: Conjunction | None
    least: int = 0
    most: int | None = None
    unique: bool = False
    is_tuple: bool = False

    def item(self, index: int) -> Conjunction | None:
        """The schema of an item; ``None`` if there cannot be so many."""
        if self.most is not None and index >= self.most:
            return None
        return self.prefix[index] if index < len(self.prefix) else self.rest


@dataclass(frozen=True, eq=False)
class Objects:
    """Objects.

    Attributes
    ----------
    keys : mapping of str to Conjunction
        The named keys that an object may have, and their schemas.
    required : tuple of str
    free : callable or None
        Key -> the schema of its value, or ``None`` if an object may not have this key. ``None``: named keys only.
    free_language : Language or None
        What free keys look like; ``None`` if they may be any text.
    least, most : int
        Number of keys; ``most`` may be ``None``.
    dependent : mapping of str to tuple of str
        Key -> the keys that it requires.
    patterns : tuple of Language
        Free keys that the same of these match have values of one schema.
    """

    keys: Mapping[str, Conjunction]
    required: tuple[str, ...]
    free: Callable[[str], Conjunction | None] | None
    free_language: Language | None = None
    least: int = 0
    most: int | None = None
    dependent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    patterns: tuple[Language, ...] = ()


Branch = Constants | Texts | Numbers | Lists | Objects


@dataclass(frozen=True, eq=False)
class Node:
    """A union of branches.

    Attributes
    ----------
    branches : tuple of Branch
        Empty if no value is allowed.
    notes : tuple of str
        The words that are not enforced while a value is decoded, only checked after.
    anything : bool
        Whether every value is allowed.
    """

    branches: tuple[Branch, ...]
    notes: tuple[str, ...] = ()
    anything: bool = False
