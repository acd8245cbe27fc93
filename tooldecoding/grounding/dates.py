"""Dates and times of day: what a value means, and the ways in which people say it.

A date is looked for by its parts, so that ``2024-03-04`` is found as *March 4th*, *4.3.24*, *the fourth*, *Monday* or
*tomorrow*. What only the day of the conversation can tell counts as said where the conversation does not name that day.
"""

import datetime
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

import regex

from tooldecoding.grounding.index import HALF_DAY, TIME, ConversationIndex, Span, minutes_of, plain, words_of
from tooldecoding.grounding.numbers import LANGUAGES, number_words, ordinal_said

_ISO: Final = regex.compile(r"(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})日?(?!\d)")
_NUMERIC: Final = regex.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})(?!\d)")
_FROM_TODAY: Final = {
    **dict.fromkeys(("day after tomorrow", "übermorgen", "après-demain", "pasado mañana", "后天"), 2),
    **dict.fromkeys(("today", "tonight", "now", "heute", "hoy", "oggi", "hoje", "сегодня", "今天", "今日"), 0),
    **dict.fromkeys(("tomorrow", "tmrw", "demain", "mañana", "domani", "amanhã", "завтра", "jutro", "明天", "明日"), 1),
    **dict.fromkeys(("yesterday", "gestern", "hier", "ayer", "ieri", "ontem", "вчера", "昨天", "昨日"), -1),
}
"""Words -> days from today."""
_PERIODS: Final = ("day", "days", "week", "weeks", "weekend", "month", "months", "year", "years")
_BEFORE_PERIODS: Final = frozenset(["next", "this", "last", "coming", "past", "following"])
_BEHIND_PERIODS: Final = frozenset(["ago", "later", "from"])
_NAMES_OF_TODAY: Final = ("today", "date", "time", "now", "day")
_WHOLE_DATE: Final = regex.compile(r"\d{4}[-/.]\d\d?[-/.]\d\d?|\p{L}{3,9}\.? \d\d?(?:st|nd|rd|th)?,? \d{4}")
_MOST_NAMES, _REACH = 8, 40
"""So many of these words are read, and so many characters behind each."""
_NAMED_TIMES: Final = {720: ("noon", "midday"), 0: ("midnight",)}
_PARTS_OF_HOURS: Final = {30: [("half",)], 15: [("quarter",)]}
_BESIDE: Final = 3
"""Words between a day and its month."""


class Date(NamedTuple):
    """A day of the calendar; the year is None where it was not written."""

    year: int | None
    month: int
    day: int

    @property
    def weekday(self) -> int | None:
        """0 for Monday; None if the year is not known."""
        return datetime.date(self.year, self.month, self.day).weekday() if self.year else None


def read_dates(text: str) -> list[Date]:
    """Return what a text may mean as a date; empty if it is none.

    >>> read_dates("03/04/2024")
    [Date(year=2024, month=3, day=4), Date(year=2024, month=4, day=3)]
    >>> read_dates("March 4th"), read_dates("Table 4")
    ([Date(year=None, month=3, day=4)], [])
    """
    if found := _ISO.match(text.strip()):
        year, month, day = map(int, found.groups())
        return _real([(year, month, day)])
    if found := _NUMERIC.match(text.strip()):
        first, second, year = map(int, found.groups())
        year += 2000 if year < 100 else 0
        return _real([(year, first, second), (year, second, first)])
    words = words_of(text[:80])
    months = [_month_names()[word] for word in words if word in _month_names()]
    numbers = [int(word) for word in words if word.isdecimal() and len(word) <= 4]
    if len(months) != 1 or not numbers or len(words) > 6:
        return []
    named_year = next((n for n in numbers if n > 31), None)
    return _real([(named_year, months[0], n) for n in numbers if n <= 31])


def _real(parts: list[tuple[int | None, int, int]]) -> list[Date]:
    dates = []
    for year, month, day in dict.fromkeys(parts):
        try:
            datetime.date(year or 2000, month, day)
        except ValueError:
            continue
        dates.append(Date(year, month, day))
    return dates


def read_time(text: str) -> int | None:
    """Return the minutes since midnight of a text such as ``19:30`` or ``7 pm``; None if it is no time of day."""
    found = TIME.fullmatch(text.strip())
    return None if found is None or not (found[2] or found[3]) else minutes_of(*found.groups())


@cache
def _month_names() -> Mapping[str, int]:
    """Return the word for a month -> its number; 1 is January."""
    return {word: number for word, number in _calendar("months") if not word.isdecimal()}


@cache
def _day_names() -> Mapping[str, int]:
    """Return the word for a day of the week -> its number; 0 is Monday."""
    return dict(_calendar("days"))


def _calendar(field: str) -> Iterator[tuple[str, int]]:
    from babel import Locale

    for language in reversed(LANGUAGES):  # English goes before the others
        # short forms in other languages are English words: ago, set, out
        for width in ("wide", "abbreviated") if language == "en" else ("wide",):
            for number, name in getattr(Locale(language), field)["format"][width].items():
                words = words_of(name)
                if len(words) == 1:
                    yield words[0], number


def date_said(date: Date, index: ConversationIndex) -> Span | None:
    """Return where a day was said: by day and month, by its day alone, by its weekday, or counted from today."""
    today, index = _today(index.with_clock), index.without_clock
    for place in index.places(str(date.day)):
        near = index.around(place, _BESIDE)
        years = {word for word in near if word.isdecimal() and len(word) == 4}
        if date.year and years and str(date.year) not in years:
            return None  # of another year
        if str(date.month) in near or any(_month_names().get(word) == date.month for word in near):
            return index.span(place)
    if span := ordinal_said(date.day, index):
        return span
    if span := _name_said(_day_names(), date.weekday, index):
        return span
    for words, days in _FROM_TODAY.items():
        meant = today and today + datetime.timedelta(days)
        fits = meant is None or (meant.month, meant.day) == (date.month, date.day)
        if fits and (span := index.phrase(words_of(words))):
            return span
    return _counted(index)


def _name_said(names: Mapping[str, int], number: int | None, index: ConversationIndex) -> Span | None:
    return index.word(*(name for name, known in names.items() if known == number))


def short_name_said(text: str, index: ConversationIndex) -> Span | None:
    """Return where the month or the day of the week was said that a text names: *MON* for *Monday*."""
    for names in (_month_names(), _day_names()):
        if (number := names.get(plain(text))) is not None:
            return _name_said(names, number, index)
    return None


def _counted(index: ConversationIndex) -> Span | None:
    """Return where a day is counted from today in another way: *next week*, *in three days*, *a week later*."""
    for place in (place for word in _PERIODS for place in index.places(word)):
        earlier, before = index.words[max(0, place - 2)], index.words[max(0, place - 1)]
        behind = index.words[place + 1 : place + 2]
        counted = earlier == "in" and before in _numbers_in_words()
        if counted or before in _BEFORE_PERIODS or not _BEHIND_PERIODS.isdisjoint(behind):
            return index.span(place)
    return None


@cache
def _numbers_in_words() -> frozenset[str]:
    """Return the numbers of days and weeks that people count with, in digits and in one word."""
    return frozenset(words[0] for number in range(1, 32) for words in number_words(number) if len(words) == 1)


def _today(index: ConversationIndex) -> datetime.date | None:
    """Return the day of the conversation: a whole date behind a word such as *today*."""
    for word in _NAMES_OF_TODAY:
        for place in index.places(word)[:_MOST_NAMES]:
            for piece in _WHOLE_DATE.findall(index.text_behind(place, _REACH)):
                for date in read_dates(piece):
                    return datetime.date(date.year or 2000, date.month, date.day)
    return None


def time_said(minutes: int, index: ConversationIndex) -> Span | None:
    """Return where a time of day was said, of the morning or of the evening.

    ``minutes``: since midnight.
    """
    index = index.without_clock
    if span := index.times.get(minutes % HALF_DAY):
        return span
    hour, minute = minutes // 60 % 12, minutes % 60
    named = index.word(*_NAMED_TIMES.get(minutes, ()))
    return named or index.first_phrase(_spoken(hour, minute)) or index.word("now")


def _spoken(hour: int, minute: int) -> Iterator[tuple[str, ...]]:
    """Yield the ways in which a time of day is said: *half past 11*, *quarter to twelve*, *seven thirty*."""
    for hours in number_words(hour or 12):
        if not minute:
            yield from [("at", *hours), (*hours, "o", "clock"), (*hours, "in", "the")]
            continue
        for part in [*number_words(minute), *_PARTS_OF_HOURS.get(minute, ())]:
            yield from [(*hours, *part), (*part, "past", *hours), (*part, "after", *hours)]
    for hours in number_words((hour + 1) % 12 or 12) if minute else ():
        for part in [*number_words(60 - minute), *_PARTS_OF_HOURS.get(60 - minute, ())]:
            yield from [(*part, "to", *hours), (*part, "before", *hours)]
