"""The normal form of a schema: a union of plain branches, without references, ``allOf``, ``anyOf`` and ``oneOf``.

The schemas of members (items, values of keys) are ``Conjunction``s, whose own normal form is made when it is needed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from lookup.languages.formats import FORMATS
from lookup.languages.language import ANY_TEXT, Language, any_of, format_language, pattern_language
from lookup.languages.limits import LanguageError

if TYPE_CHECKING:
    from lookup.schema.conjunction import Conjunction

NOT_ENFORCED: Final = ("regex",)
"""Formats of JSON Schema that are no regular languages."""

_Made = TypeVar("_Made")

INFINITE: Final = 1 << 60
"""The size of the smallest value of a branch that has none."""


def knows_format(name: str) -> bool:
    """Whether a format limits texts."""
    return name in FORMATS


@dataclass(frozen=True, eq=False)
class Constants:
    """Given values: an enum, a constant, booleans, null."""

    values: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts.

    Attributes
    ----------
    patterns, formats : tuple of (str, bool)
        Each with whether a text must have it or must not have it.
    least, most : int
        Length in code points; ``most`` may be ``None``.
    excluded : tuple of str
    """

    patterns: tuple[tuple[str, bool], ...] = ()
    formats: tuple[tuple[str, bool], ...] = ()
    least: int = 0
    most: int | None = None
    excluded: tuple[str, ...] = ()

    @cached_property
    def _built(self) -> tuple[Language | None, tuple[str, ...]]:
        notes: list[str] = []
        languages: list[Language] = []
        for word, written, build in (
            ("pattern", self.patterns, pattern_language),
            ("format", self.formats, format_language),
        ):
            for name, wanted in written:
                if name in NOT_ENFORCED:
                    notes.append(f"format {name!r}")
                    continue
                language = _tried(lambda name=name, build=build: build(name), f"{word} {name!r}", notes)  # type: ignore[misc]
                if language is not None:
                    limited = language if wanted else _tried(language.outside, f"not {word} {name!r}", notes)
                    languages += [] if limited is None else [limited]
        if self.excluded:
            others = _tried(lambda: any_of(self.excluded).outside(), "not enum", notes)
            languages += [] if others is None else [others]
        found: Language | None = None
        for language in languages:
            found = language if found is None else _both(found, language, notes) or found
        if self.least or self.most is not None:
            base = ANY_TEXT if found is None else found
            found = _tried(lambda: base.with_length(self.least, self.most), "minLength or maxLength", notes) or found
        return found, tuple(notes)

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


class Contained(NamedTuple):
    """What ``contains`` says of a list.

    Attributes
    ----------
    wanted, others : tuple of Conjunction
        The items that count, and those that do not: at each place of the prefix, and behind it.
    least, most : int
        How many count; ``most`` may be ``None``.
    """

    wanted: "tuple[Conjunction, ...]"
    others: "tuple[Conjunction, ...]"
    least: int
    most: int | None


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists: the schemas of the first items, and of all others (``None``: there are no others)."""

    prefix: "tuple[Conjunction, ...]"
    rest: "Conjunction | None"
    least: int = 0
    most: int | None = None
    unique: bool = False
    contains: tuple[Contained, ...] = ()

    def item(self, index: int) -> "Conjunction | None":
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

    keys: "Mapping[str, Conjunction]"
    required: tuple[str, ...]
    free: "Callable[[str], Conjunction | None] | None"
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
