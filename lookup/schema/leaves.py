"""Plain alternatives of texts, and of values that are given."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

from lookup.errors import quoted
from lookup.languages.language import ANY_TEXT, Language, any_of, format_language, pattern_language
from lookup.languages.limits import LanguageError
from lookup.schema.schema import INFINITE

MAX_LISTED: Final = 256
"""The most values that are listed."""

NOT_ENFORCED: Final = frozenset({"regex", "idn-email", "idn-hostname", "iri", "iri-reference", "relative-json-pointer"})
"""Formats of JSON Schema that are neither enforced nor checked."""


def language_of(keyword: str, name: str) -> Language:
    """The texts of a ``pattern`` or ``format``; ``ANY_TEXT`` if not limited. LanguageError if it is too much work."""
    return pattern_language(name) if keyword == "pattern" else format_language(name)


def meant_pattern(pattern: str) -> str | None:
    """A pattern as it stands, or without the slashes of JavaScript's ``/^a$/``; ``None`` if no text has either."""
    slashed = re.fullmatch(r"/(.*)/[dguy]*", pattern, re.DOTALL)
    for written in (pattern, slashed[1]) if slashed else (pattern,):
        try:
            if not pattern_language(written).is_empty:
                return written
        except LanguageError:  # told where it is not enforced
            return written
    return None


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
    """

    limits: tuple[tuple[str, str, bool], ...] = ()
    least: int = 0
    most: int | None = None
    excluded: tuple[str, ...] = ()

    @cached_property
    def _built(self) -> tuple[Language, tuple[str, ...]]:
        notes: list[str] = []
        languages = [self._limited(*limit, notes) for limit in self.limits]
        if self.excluded:
            languages.append(_tried(lambda: any_of(self.excluded).complement(), "not enum", notes, ANY_TEXT))
        found = ANY_TEXT
        for language in languages:
            found = _tried(partial(found.intersection, language), "several patterns", notes, found)
        if self.least or self.most is not None:
            found = _tried(partial(found.with_length, self.least, self.most), "minLength or maxLength", notes, found)
        return found, tuple(notes)

    def _limited(self, keyword: str, name: str, wanted: bool, notes: list[str]) -> Language:
        """The texts that have a pattern or format, or do not have it; all texts where that is not enforced."""
        enforced = len(notes)
        if keyword == "format" and name in NOT_ENFORCED:
            notes.append(f"format {quoted(name)}")
        language = _tried(partial(language_of, keyword, name), f"{keyword} {quoted(name)}", notes, ANY_TEXT)
        if wanted or len(notes) > enforced:
            return language
        return _tried(language.complement, f"not {keyword} {quoted(name)}", notes, ANY_TEXT)

    @property
    def language(self) -> Language:
        """The texts; ``ANY_TEXT`` if all texts are allowed."""
        return self._built[0]

    @property
    def size(self) -> int:
        """About the characters of the smallest text; ``INFINITE`` if there is none."""
        if self.is_contradictory:
            return INFINITE
        return INFINITE if self.language.shortest is None else 2 + self.language.shortest

    @property
    def is_contradictory(self) -> bool:
        """Whether the shortest text is longer than the longest."""
        return self.most is not None and self.least > self.most

    @property
    def notes(self) -> tuple[str, ...]:
        """What cannot be enforced while a text is written."""
        return self._built[1]


def _tried(build: Callable[[], Language], what: str, notes: list[str], other: Language) -> Language:
    """The language that is built; another one, with a note, if that is too much work."""
    try:
        return build()
    except LanguageError as error:
        notes.append(f"{what} ({error})")
        return other
