"""The keys that an object may have beside the named ones, in groups whose values have one schema each."""

import itertools
from collections.abc import Iterator
from typing import Final, NamedTuple

from lookup.languages.language import ANY_TEXT, Language, completions
from lookup.languages.limits import LanguageError
from lookup.schema.nodes import Conjunction, Objects

_MAX_GROUPS: Final = 16
_MAX_COUNTED: Final = 256


class FreeKeys(NamedTuple):
    """One group.

    Attributes
    ----------
    language : Language or None
        ``None`` if they may be any text.
    values : Conjunction
    size : int or None
        How many there are; ``None`` if they are many.
    """

    language: Language | None
    values: Conjunction
    size: int | None


def groups_of(branch: Objects) -> list[FreeKeys] | None:
    """The groups that have a key; ``None`` if they are too many, or too much work."""
    if branch.free is None:
        return []
    languages = [branch.free_language]
    try:
        for pattern in branch.patterns:
            languages = [part for language in languages for part in _parts(language, pattern)]
            if len(languages) > _MAX_GROUPS:
                return None
        return [group for language in languages for group in _group(branch, language)]
    except LanguageError:
        return None


def _parts(language: Language | None, pattern: Language) -> list[Language | None]:
    """The texts of a language that match a pattern, and those that do not."""
    whole = ANY_TEXT if language is None else language
    return [part for part in (whole.both(pattern), whole.both(pattern.outside())) if not part.is_empty]


def _group(branch: Objects, language: Language | None) -> Iterator[FreeKeys]:
    assert branch.free is not None
    members = None if language is None else language.members(_MAX_COUNTED)
    texts = map(str, itertools.count()) if language is None else completions(language, language.start)
    names = [name for name in members if name not in branch.keys] if members is not None else None
    tried = itertools.islice(texts, len(branch.keys) + _MAX_COUNTED) if names is None else names
    name = next((name for name in tried if name not in branch.keys), None)
    values = None if name is None else branch.free(name)
    if values is not None:
        yield FreeKeys(language, values, None if names is None else len(names))
