"""An index of what a conversation says: its words, numbers and times of day, with the places where they stand.

It is made once for a prompt, in time linear in its length; a look-up then takes time linear in the value.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

import regex

_SPACELESS: Final = regex.compile(r"\p{Han}|\p{Hiragana}|\p{Katakana}|\p{Thai}|\p{Lao}|\p{Khmer}|\p{Myanmar}")
"""A character of a script without spaces."""
_WORD: Final = regex.compile(_SPACELESS.pattern + r"|\p{Nd}+|[\p{L}\p{M}]+")
_ASCII_WORD: Final = re.compile(r"[0-9]+|[A-Za-z]+")
"""The same of a text in ASCII, in a third of the time."""
_ESCAPED_WORD: Final = re.compile(r"\\[^u]()|(\d+|(?:\\u[0-9A-Fa-f]{4}|[^\W\d_])+)")
r"""The same of JSON with escapes, as results of tools are: ``Z\u00fcrich`` is a word, and *Rome* of ``in\nRome``."""
_ESCAPE: Final = re.compile(r"\\u([0-9A-Fa-f]{4})")
_RUN: Final = regex.compile(r"\p{Nd}+|[\p{L}\p{M}]+")
_CAMEL: Final = regex.compile(r"(?<=\p{Ll})(?=\p{Lu})")
_NO_MARKS: Final = str.maketrans("łđø\N{LATIN SMALL LETTER DOTLESS I}", "ldoi")
"""Letters that Unicode does not take apart."""
_MOST_KEPT: Final = 40
"""Letters of a word whose plain form is kept across requests."""
_NUMBER: Final = re.compile(
    r"(?<![\d.,+])([0-9]{1,3}(?:[,.'][0-9]{3})+(?![0-9])(?:[.,][0-9]+)?|[0-9]{1,30}(?:[.,][0-9]{1,30})?)"
    r"(?:\s?(%|k|m|bn?|percent|thousand|million|billion)(?![A-Za-z]))?",
    re.IGNORECASE,
)
_THOUSANDS: Final = re.compile(r"[,.'](?=[0-9]{3}(?![0-9]))")
_FACTORS: Final = {
    **dict.fromkeys(("%", "percent"), Decimal("0.01")),
    **dict.fromkeys(("k", "thousand"), Decimal(10**3)),
    **dict.fromkeys(("m", "million"), Decimal(10**6)),
    **dict.fromkeys(("b", "bn", "billion"), Decimal(10**9)),
}
TIME: Final = regex.compile(
    r"(?<![\d:.,-])(\d{1,2})(?:[:.h](\d{2})(?::\d{2})?)?\s?(?:([ap])\.?\s?m\b)?(?![\d:-])", regex.IGNORECASE
)
_SENTENCE: Final = re.compile(r"[^.!?\n]+")
_CLOCK: Final = re.compile(r"\b(?:today|now|date|time|day)\b", re.IGNORECASE)
_YEAR: Final = re.compile(r"\d{4}")
_AT: Final = regex.compile(
    r"(?:\b(?:at|by|around|about|from|to|until|til|till|before|after|um|ab|à|vers|alle|a las|às|o|om|kl|в)\s+)$",
    regex.IGNORECASE,
)
_O_CLOCK: Final = regex.compile(
    r"\s*(?:o.?clock|in the (?:morning|afternoon|evening)|tonight|uhr|heures?|点|點|時|시)", regex.IGNORECASE
)
_NEAR: Final = 20
"""Characters beside an hour in which something says that it is one."""
HALF_DAY: Final = 12 * 60
"""Minutes; people seldom say which half of the day they mean."""
_SHORTEST_INFLECTED: Final = 5
"""Letters of a word of which other forms are looked for."""
_ALIKE: Final = 0.92
"""Similarity (Jaro-Winkler) of two forms of a word: *reservation*, *reservations* and *reservatoin*."""
_MOST_PLACES: Final = 256
"""Places of a word that are looked at."""
_INITIALS: Final = range(2, 6)


class Source(NamedTuple):
    """A message that counts as said.

    ``message`` is its number in the conversation, ``escaped`` whether its text is JSON of a tool, ``of_system`` whether
    the system says it.
    """

    message: int
    text: str
    escaped: bool = False
    of_system: bool = False


class Span(NamedTuple):
    """Where something was said: the number of a message, and the characters ``content[start:end]``."""

    message: int
    start: int
    end: int


def _without_clock(sentence: "re.Match[str]") -> str:
    """Return a sentence, or as many spaces if it says what day it is: all else stays in its place."""
    found = _CLOCK.search(sentence[0])
    return " " * len(sentence[0]) if found and _YEAR.search(sentence[0], found.end()) else sentence[0]


def plain(word: str) -> str:
    """Return a word without case and accents, a number without leading zeros.

    >>> plain("Łódź"), plain("007")
    ('lodz', '7')
    """
    return _plain_kept(word) if len(word) <= _MOST_KEPT else _plain(word)


def _plain(word: str) -> str:
    if word.isdecimal():
        return str(int(word)) if len(word) < 20 else word
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word.casefold().translate(_NO_MARKS))
    return "".join(c for c in parts if not unicodedata.combining(c)) or word


_plain_kept: Final = lru_cache(maxsize=4096)(_plain)


def words_of(text: str) -> list[str]:
    """Return the words of a text: runs of letters or of digits, and each character of a script without spaces.

    >>> words_of("Café at 12:05, 東京")
    ['cafe', 'at', '12', '5', '東', '京']
    """
    return [plain(match[0]) for match in (_ASCII_WORD if text.isascii() else _WORD).finditer(text)]


def words_of_name(name: str) -> list[str]:
    """Return the words of a key or a name: of ``hasLiveMusic`` and ``has_live_music`` *has*, *live* and *music*."""
    return words_of(_CAMEL.sub(" ", name))


def words_as_written(name: str) -> list[str]:
    """Return the words of a key or a name in their own letters: of ``período_inicial`` *período* and *inicial*."""
    return [match[0] for match in _WORD.finditer(_CAMEL.sub(" ", name))]


def is_spaceless(word: str) -> bool:
    """Whether a word is a character of a script without spaces."""
    return len(word) == 1 and _SPACELESS.match(word) is not None


def _words_with_spans(source: Source) -> Iterator[tuple[str, int, int]]:
    text = source.text
    if source.escaped and "\\" in text:
        for match in _ESCAPED_WORD.finditer(text):
            if match[2]:
                unescaped = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), match[2])
                yield from ((word, *match.span()) for word in words_of(unescaped))
        return
    for found in (_ASCII_WORD if text.isascii() else _WORD).finditer(text):
        yield plain(found[0]), *found.span()


class ConversationIndex:
    """Where each word and number of a conversation stands.

    ``words``: all words, in sequence. ``with_clock``: the index of which this one is ``without_clock``, or itself.
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        self.sources = tuple(sources)
        self.with_clock = self
        self.words: list[str] = []
        self._spans: list[tuple[int, int, int]] = []
        self._places: dict[str, list[int]] = {}
        self._forms: dict[str, str] = {}
        for source in self.sources:
            for word, start, end in _words_with_spans(source):
                self._places.setdefault(word, []).append(len(self.words))
                self.words.append(word)
                self._spans.append((source.message, start, end))

    @cached_property
    def without_clock(self) -> "ConversationIndex":
        """The same without the sentences in which the system says what day it is: nobody has chosen that day."""
        sources = [s._replace(text=_SENTENCE.sub(_without_clock, s.text)) if s.of_system else s for s in self.sources]
        if sources == [*self.sources]:
            return self
        without = ConversationIndex(sources)
        without.with_clock = self
        return without

    @cached_property
    def _texts(self) -> dict[int, str]:
        return {source.message: source.text for source in self.sources}

    @cached_property
    def _by_letter(self) -> dict[str, list[str]]:
        """First letter -> the long words that begin with it."""
        found: dict[str, list[str]] = {}
        for word in self._places:
            if len(word) >= _SHORTEST_INFLECTED and word.isalpha():
                found.setdefault(word[0], []).append(word)
        return found

    @cached_property
    def _initials(self) -> str:
        """The first letter of each word that is written with a capital; a point for any other word."""
        return "".join(
            word[0] if self._texts[message][start].isupper() else "."
            for word, (message, start, _) in zip(self.words, self._spans, strict=True)
        )

    @cached_property
    def numbers(self) -> dict[Decimal, Span]:
        """Each number in digits -> where it stands. *5k* is 5000 and 5; *1.000* is read in both ways of writing."""
        found: dict[Decimal, Span] = {}
        for source in self.sources:
            for match in _NUMBER.finditer(source.text):
                for number in _meanings(match[1], (match[2] or "").lower()):
                    found.setdefault(number, Span(source.message, *match.span()))
        return found

    @cached_property
    def times(self) -> dict[int, Span]:
        """Each time of day in digits, in minutes since midnight or noon -> where it stands.

        An hour alone is one behind *at* or before *o'clock*.
        """
        found: dict[int, Span] = {}
        for message, text, *_ in self.sources:
            for match in TIME.finditer(text):
                minutes = minutes_of(*match.groups())
                start, end = match.span()
                hour_alone = not match[2] and not match[3]
                if minutes is None or (
                    hour_alone
                    and not _AT.search(text[max(0, start - _NEAR) : start])
                    and not _O_CLOCK.match(text[end : end + _NEAR])
                ):
                    continue
                found.setdefault(minutes % HALF_DAY, Span(message, start, end))
        return found

    def places(self, word: str) -> Sequence[int]:
        """Return places of a word in ``words``, not more than are looked at."""
        return self._places.get(word, ())[:_MOST_PLACES]

    def word(self, *words: str) -> Span | None:
        """Return where the first of some words stands that stands anywhere."""
        return next((self.span(self._places[word][0]) for word in words if word in self._places), None)

    def form(self, word: str) -> str:
        """Return a word, or one like it that is said instead: its plural or singular, a form, a slip of the pen."""
        if word not in self._forms:
            self._forms[word] = word if word in self._places or not word.isalpha() else self._form(word)
        return self._forms[word]

    def _form(self, word: str) -> str:
        for other in _plurals(word):
            if other in self._places:
                return other
        if len(word) < _SHORTEST_INFLECTED:
            return word
        from rapidfuzz.distance import JaroWinkler
        from rapidfuzz.process import extractOne

        known = self._by_letter.get(word[0], [])
        alike = extractOne(word, known, scorer=JaroWinkler.normalized_similarity, score_cutoff=_ALIKE)
        return word if alike is None else str(alike[0])

    def phrase(self, words: Sequence[str]) -> Span | None:
        """Return where some words stand one behind the other, in one message."""
        if not words or any(word not in self._places for word in words):
            return None
        anchor = min(range(len(words)), key=lambda n: len(self._places[words[n]]))  # the rarest word
        for place in self.places(words[anchor]):
            begin = place - anchor
            if begin >= 0 and self.words[begin : begin + len(words)] == list(words):
                span = self.span(begin, len(words))
                if span is not None:
                    return span
        return None

    def first_phrase(self, phrases: Iterable[Sequence[str]]) -> Span | None:
        """Return where the first of some phrases stands that stands anywhere."""
        return next(filter(None, map(self.phrase, phrases)), None)

    def text(self, text: str) -> Span | None:
        """Return where a text stands as it is."""
        for message, content, *_ in self.sources:
            if text and (start := content.find(text)) >= 0:
                return Span(message, start, start + len(text))
        return None

    def whole(self, text: str, spaced: bool = False) -> Span | None:
        """Return where a code stands, in any case, and no letter or digit beside it.

        ``spaced``: whether white space, hyphens and points may part its letters and digits.
        """
        runs = _RUN.findall(text)
        between = r"[\s._-]?" if spaced else ""
        pattern = between.join(map(regex.escape, runs)) if spaced and runs else regex.escape(text)
        found = regex.compile(rf"(?<![\p{{L}}\p{{Nd}}_]){pattern}(?![\p{{L}}\p{{Nd}}_])", regex.IGNORECASE)
        for source in self.sources:
            if match := found.search(source.text):
                return Span(source.message, *match.span())
        return None

    def initials(self, text: str) -> Span | None:
        """Return where a name stands of which a text is the initials, or the initials of a name: *SF*, *NYC*."""
        words = words_of(text)
        if len(words) == 1 and len(words[0]) in _INITIALS and text.strip().isupper():
            place = self._initials.find(words[0])
            return None if place < 0 else self.span(place, len(words[0]))
        short = "".join(word[0] for word in words)
        if len(short) not in _INITIALS or not short.isalpha():
            return None
        spans = (self.span(place) for place in self.places(short))
        return next((s for s in spans if s and self._texts[s.message][s.start : s.end].isupper()), None)

    def span(self, place: int, count: int = 1) -> Span | None:
        """Return where some words stand; None if they are not in one message."""
        (message, start, _), (last, _, end) = self._spans[place], self._spans[place + count - 1]
        return Span(message, start, end) if message == last else None

    def around(self, place: int, reach: int) -> list[str]:
        """Return a word with those of its message that stand at most ``reach`` words away from it."""
        message, near = self._spans[place][0], range(max(0, place - reach), min(len(self.words), place + reach + 1))
        return [self.words[n] for n in near if self._spans[n][0] == message]

    def text_behind(self, place: int, characters: int) -> str:
        """Return so many characters behind a word."""
        message, _, end = self._spans[place]
        return self._texts[message][end : end + characters]


def _plurals(word: str) -> list[str]:
    """Return the English plural and singular of a word, by its ending: *city*, *cities*; *box*, *boxes*."""
    found = [f"{word}s", f"{word}es", f"{word[:-1]}ies" if word.endswith("y") else ""]
    for ending, instead in (("s", ""), ("es", ""), ("ies", "y"), ("ves", "f"), ("ves", "fe")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            found.append(word.removesuffix(ending) + instead)
    return list(filter(None, found))


def minutes_of(hour: str, minute: str | None, half: str | None) -> int | None:
    """Return the minutes since midnight of the groups of ``TIME``; None if there is no such time of day."""
    hours, minutes = int(hour), int(minute or 0)
    if hours > 24 or minutes > 59:
        return None
    return (hours % 12 + 12 * (half in "pP") if half else hours) * 60 + minutes


def _meanings(digits: str, unit: str) -> Iterator[Decimal]:
    """Yield what some digits with points and commas may mean, alone and with the word behind them."""
    for written in {digits.replace(",", "."), _THOUSANDS.sub("", digits).replace(",", ".")}:
        if written.count(".") <= 1 and "'" not in written:
            yield Decimal(written)
            if unit in _FACTORS:
                yield Decimal(written) * _FACTORS[unit]
