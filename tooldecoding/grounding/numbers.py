"""Numbers: in digits, in words of the languages that num2words knows, and in larger units."""

from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Final

from tooldecoding.grounding.index import ConversationIndex, Span, words_of

LANGUAGES: Final = ("en", "de", "es", "fr", "it", "nl", "pl", "pt", "ru", "sv", "tr", "zh", "ja")
"""Languages in which numbers, months and days are known by name, besides digits."""
_LARGEST: Final = 10**30
"""Larger numbers are not looked for."""
_MOST: Final = 10**6
"""Larger numbers are written in digits."""
_OTHER_WORDS: Final = {1: ("single", "once", "alone", "myself"), 2: ("both", "couple", "pair", "twice"), 12: ("dozen",)}
_ENGLISH_BESIDE: Final = frozenset(words_of("bin cent die dos due elf mil null on once otto set sept sex um un"))
"""Numbers in other languages that are English words: *on* is ten in Turkish."""
_UNITS: Final = {
    60: ("hour", "hours", "hr", "hrs", "h", "minute", "minutes", "min", "mins"),
    24: ("day", "days"),
    7: ("week", "weeks"),
    12: ("year", "years"),
    1000: ("km", "kg", "kilometer", "kilometers", "kilometre", "kilometres", "kilo", "kilos", "second", "seconds"),
}
"""How many smaller units are in a larger one, by its names: minutes in an hour, months in a year."""
_ORDINAL_ENDINGS: Final = ("st", "nd", "rd", "th")


def number_said(value: float, index: ConversationIndex) -> Span | None:
    """Return where a number was said, whatever its sign: in digits, in words, as a percentage, or in a larger unit."""
    if not abs(value) < _LARGEST:
        return None
    number = abs(Decimal(str(value)))
    if number in index.numbers:
        return index.numbers[number]
    if number != int(number):
        return None
    ways = _in_words(int(number)) if number <= _MOST else ()
    found = index.word(str(int(number))) or index.first_phrase(ways)
    return found or _in_unit(int(number), index)


def _in_unit(number: int, index: ConversationIndex) -> Span | None:
    """Return where a number was said in a larger unit: 180 minutes as *3 hours*."""
    return index.first_phrase(
        (*way, name)
        for size, names in _UNITS.items()
        if number and number % size == 0
        for way in number_words(number // size)
        for name in names
    )


def ordinal_said(number: int, index: ConversationIndex) -> Span | None:
    """Return where a number stands as an English ordinal: *the 4th*, *on the fourth*, *the fourth of May*."""
    phrases: list[tuple[str, ...]] = [(str(number), ending) for ending in _ORDINAL_ENDINGS]
    for way in _in_language(number, "en", "ordinal"):
        phrases += [("on", "the", *way), ("on", *way), (*way, "of")]
    return index.first_phrase(phrases)


def number_words(number: int) -> list[tuple[str, ...]]:
    """Return the ways in which a number is said in English, in digits and in words.

    >>> number_words(21)
    [('21',), ('twenty', 'one')]
    """
    return [(str(number),), *_in_language(number, "en", "cardinal")]


@lru_cache(maxsize=1024)
def _in_words(number: int) -> list[tuple[str, ...]]:
    """Return the ways in which a number is said, without digits."""
    ways: list[tuple[str, ...]] = [(word,) for word in _OTHER_WORDS.get(number, ())]
    for language in LANGUAGES:
        for kind in ("cardinal", "ordinal"):
            ways += _in_language(number, language, kind)
    ways += [("a", *way[1:]) for way in ways if way[:1] == ("one",) and len(way) > 1]  # a hundred
    mistaken = {(word,) for word in _ENGLISH_BESIDE} - set(_in_language(number, "en", "cardinal"))
    return [way for way in dict.fromkeys(filter(None, ways)) if way not in mistaken]


def _in_language(number: int, language: str, kind: str) -> Iterator[tuple[str, ...]]:
    from num2words import num2words

    try:
        yield tuple(words_of(num2words(number, lang=language, to=kind)))
    except (NotImplementedError, ArithmeticError, TypeError, LookupError):
        return  # a language without ordinals, or without this one
