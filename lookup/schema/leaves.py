"""Plain branches of texts, and of values that are given."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, TypeVar

from lookup.languages.formats import FORMATS
from lookup.languages.language import ANY_TEXT, Language, any_of, format_language, pattern_language
from lookup.languages.limits import LanguageError
from lookup.schema.words import INFINITE

NOT_ENFORCED: Final = frozenset({"regex", "idn-email", "idn-hostname", "iri", "iri-reference", "relative-json-pointer"})
"""Formats of JSON Schema that are neither enforced nor checked."""

_Made = TypeVar("_Made")


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

    @property
    def size(self) -> int:
        """About the characters of the smallest value; ``INFINITE`` if there is none."""
        return min((len(str(value)) for value in self.values), default=INFINITE)


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
            if language is not None and found is not None:
                found = _tried(partial(found.both, language), "several patterns", notes) or found
            elif language is not None:
                found = language
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
    def size(self) -> int:
        """About the characters of the smallest text; ``INFINITE`` if there is none."""
        if self.is_contradictory:
            return INFINITE
        shortest = 0 if self.language is None else self.language.shortest
        return INFINITE if shortest is None else 2 + shortest

    @property
    def is_contradictory(self) -> bool:
        """Whether the shortest text is longer than the longest."""
        return self.most is not None and self.least > self.most

    @property
    def notes(self) -> tuple[str, ...]:
        """What cannot be enforced while a text is written."""
        return self._built[1]


def _tried(build: Callable[[], _Made | None], what: str, notes: list[str]) -> _Made | None:
    try:
        return build()
    except LanguageError as error:
        notes.append(f"{what} ({error})")
        return None
