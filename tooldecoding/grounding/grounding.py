"""Where the arguments of a call were said.

A value is *grounded* if the conversation says it: a text whole or by most of its words, a number in digits or in words,
a date or a time in any writing, a boolean by a word of its key. The conversation is what the user, the system and tools
say, and what the assistant proposed and the user confirmed.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

import regex

from lookup.dictionary import ParameterSpec
from lookup.schema.leaves import Constants
from lookup.schema.normal import LazySchema, Lists, Objects
from lookup.schema.value_schema import schema_of
from tooldecoding.chat.messages import Message
from tooldecoding.grounding.dates import date_said, read_dates, read_time, short_name_said, time_said
from tooldecoding.grounding.index import ConversationIndex, Source, Span, is_spaceless, words_of, words_of_name
from tooldecoding.grounding.numbers import number_said

_MOST_PARTS, _MOST_CHARACTERS, _MOST_WORDS, _MOST_DEPTH = 1000, 20_000, 400, 100
"""What is looked at of a value: so many parts, characters of a text, words of it one by one, and levels."""
_HALF: Final = 0.5
"""A text is said if more of its words are."""
_AROUND: Final = ".,;:!?()[]{}<>\"'`"
"""What stands around a code and is none of it."""
_SAY_NOTHING: Final = frozenset(
    words_of(
        "a all and any are as at be by can do does for from has have how i if in include includes included is it its "
        "me my no not of on only or other our set should show that the their them there this to use was what when "
        "where which who will with you your default dontcare none null unknown"
    )
)
"""Words that stand in any conversation, or for a value that nobody gave."""
_NO: Final = frozenset(words_of("no not none without don doesn never kein keine sans sin senza без 不 没"))
_BESIDE: Final = 2
"""Words between *no* and what there shall not be."""
_CODE: Final = regex.compile(r"(\p{L}{2,3})(?:[-_]\p{L}{2,4})?")
"""A code of a language, a country or a currency: ``es``, ``en-US``, ``USD``."""
_PARTS: Final = regex.compile(r"\s?[,/]\s?")
_IS_CODE: Final = regex.compile(
    r"[\p{L}\p{M}][-_.]?\p{Nd}|\p{Nd}[-_]\p{L}"  # P00913, BA-117
    r"|[@/\\]|[\p{L}\p{Nd}]{2}\.\p{L}{2}|_\p{Nd}"  # an address, a path, a file, a domain
)
"""What a word has that is a code, an address or a path: those are said as a whole, or not at all."""
_NO_CODE: Final = regex.compile(
    r"\p{Lu}\p{L}+(?:/\p{Lu}[\p{L}_-]+)+|\d+[\p{L}°]{1,4}(?:/\p{L}{1,2})?|\p{L}{1,3}/\p{L}{1,3}"
)
"""A place (``Europe/Paris``), a number with its unit (``10km``, ``5m/s``), a unit (``km/h``)."""
_DURATION: Final = regex.compile(r"P(?=T?\d)(?:\d{1,9}[YMWD])*(?:T(?:\d{1,9}[HMS])+)?")
"""Of ISO 8601: ``PT30M``."""
_NUMBERS: Final = regex.compile(r"\d+")
_LONGEST_CODE: Final = 200
"""A longer code is looked for just as it is written."""
_BETWEEN: Final = regex.compile(r"[/\\]+")
_SCHEME: Final = regex.compile(r"^\p{L}{1,20}://(?:www\.)?")
_COMPOSED: Final = frozenset(words_of("caption description headline label memo reason subject summary title topic"))
"""Words of keys whose texts people leave to the model: half of such a text is enough."""
_TIME_OF_DATE: Final = regex.compile(r"\d[T ](\d{1,2}:\d{2})")
_BOOLEANS: Final = {"true": True, "yes": True, "false": False, "no": False}
_CONSENT: Final = regex.compile(
    r"(?:yes|yeah|yep|yup|y|sure|ok|okay|alright|right|correct|perfect|great|good|fine|nice|exactly|indeed|absolutely"
    r"|definitely|confirm\w*|cool|please|sounds|works|do it|go ahead|no problem|i would|i.d l|si|sí|claro|vale|oui"
    r"|d.accord|ja|jo|klar|genau|gerne|sim|da|да|конечно|хорошо|evet|tamam|tak|dobrze|네|예|좋아|是|好|对|對|可以|行|没问题|はい|ええ|うん"
    r"|いい|نعم|حسنا|हाँ|ठीक|👍)(?!\p{Latin})",
    regex.IGNORECASE,
)
_FIRST_WORDS: Final = 2
"""Words of an answer among which one agrees; more, where it begins with what was proposed: *that sounds good*."""
_CLAUSE: Final = regex.compile(r"[^.!?;,\n。！？，、]*[?？]?")
_OF_WHAT_WAS_PROPOSED: Final = frozenset(["that", "that's", "it", "it's", "this", "everything", "all", "i", "i'd"])
_OPEN_QUESTION: Final = regex.compile(
    r"(?:^|[.!?\n]\s{0,8})(?:what|how|which|when|where|who)\b(?! about\b)[^?\n]*\?$", regex.IGNORECASE
)
_MOST_ASKED: Final = 500
"""Characters of the end of a message in which a question is looked for."""
_REFUSES: Final = regex.compile(
    r"\b(?:no(?! problem)|not|never|instead|but|nicht|kein|nein|non|pas|ne|нет|не)\b|n.t\b|不|[?？]$", regex.IGNORECASE
)


@dataclass(frozen=True)
class Grounding:
    """Where the value of an argument was said.

    Attributes
    ----------
    spans : tuple of Span
        Where its parts were said: the value, or members of a list or an object.
    missing : tuple of str
        What the value needs and nobody said, such as ``period.start``; "" is the whole value. An object needs its
        required keys, or any if none is required; a list needs one item.
    """

    spans: tuple[Span, ...]
    missing: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return ``said``, where parts of the value stand in the conversation, and ``missing``."""
        return {"said": [span._asdict() for span in self.spans], "missing": list(self.missing)}


def conversation_sources(messages: Sequence[Message]) -> list[Source]:
    """Return the messages that count as said: of the assistant those that the user confirmed.

    An open question proposes nothing: *What should the date (such as 2024-01-01) be?*

    >>> proposed = [Message("assistant", "In celsius, right?"), Message("user", "Yes.")]
    >>> [source.text for source in conversation_sources(proposed)]
    ['In celsius, right?', 'Yes.']
    """
    sources, confirmed = [], False
    for number, message in reversed(list(enumerate(messages))):
        if message.role == "user":
            confirmed = _confirms(message.content)
        if message.role != "assistant" or (
            confirmed and not _OPEN_QUESTION.search(message.content.rstrip()[-_MOST_ASKED:])
        ):
            place = number if message.number is None else message.number
            role = message.role
            sources.append(Source(place, message.content, escaped=role == "tool", of_system=role == "system"))
    return sources[::-1]


def _confirms(answer: str) -> bool:
    """Whether the first clause of an answer agrees: *Yes, please*, *that sounds good*; not *Oslo would be perfect*."""
    found = _CLAUSE.match(answer.strip())
    clause = found[0] if found else ""
    words = clause.split()
    reach = len(words) if words and words[0].casefold() in _OF_WHAT_WAS_PROPOSED else _FIRST_WORDS
    agrees = any(_CONSENT.match(" ".join(words[place:])) for place in range(min(reach, len(words))))
    return agrees and not _REFUSES.search(clause)


def index_of(messages: Sequence[Message]) -> ConversationIndex | None:
    """Return the index of a conversation; None without messages."""
    return ConversationIndex(conversation_sources(messages)) if messages else None


def ground(
    spec: ParameterSpec, value: Any, index: ConversationIndex, may_leave_out: Callable[[str], bool] = lambda _: False
) -> tuple[Grounding, Any]:
    """Return where the value of a parameter was said, part by part, and the value without what nobody said.

    Nothing is missing where nothing was made up: of the documented default, of the only value that is allowed, of null
    and of false. Only optional keys of objects go, of the items of a list from all or from none. A value of which
    nothing was said stays whole.

    Parameters
    ----------
    may_leave_out : callable
        Whether a key may go, by its path in the value, such as ``period.start``; by default none may.

    >>> ground(spec, {"email": "jo@example.com", "bio": "Likes tea."}, index, may_leave_out)[1]  # doctest: +SKIP
    {'email': 'jo@example.com'}
    """
    schema = schema_of(spec).lazy_schema
    found = _Parts(index, may_leave_out).walk(spec.name, value, schema, ())
    made_up = spec.default not in (value, found.rest) and not _is_only_value(schema)
    return Grounding(tuple(dict.fromkeys(found.spans)), tuple(found.missing if made_up else ())), found.rest


def _is_only_value(schema: LazySchema) -> bool:
    branches = schema.node.alternatives
    return len(branches) == 1 and isinstance(branches[0], Constants) and len(branches[0].values) == 1


class _Part(NamedTuple):
    """Where a part of a value was said, what of it is missing, whether it is said or nobody looked, and what stays."""

    spans: list[Span]
    missing: list[str]
    is_said: bool
    rest: Any


class _Parts:
    """Looks for the parts of one value, as long as there are not too many."""

    def __init__(self, index: ConversationIndex, may_leave_out: Callable[[str], bool]) -> None:
        self._index = index
        self._may_leave_out = may_leave_out
        self._left = _MOST_PARTS

    def walk(self, key: str, value: Any, schema: LazySchema | None, path: tuple[str, ...]) -> _Part:
        """Look for a part of a value.

        Parameters
        ----------
        key : str
            The nearest key of an object above the part.
        schema : LazySchema or None
            That of the part, if it is documented.
        """
        self._left -= 1
        if self._left < 0 or len(path) > _MOST_DEPTH:
            return _Part([], [], True, value)  # nobody looked
        if isinstance(value, dict) and value:
            return self._object(value, _branch(schema, Objects), path)
        if isinstance(value, list | tuple) and value:
            return self._list(key, value, _branch(schema, Lists), path)
        if value is None or (path and value in ("", [], {})):
            return _Part([], [], False, value)
        span = _said(key, value, self._index, is_documented=_is_member(schema, value))
        if span is not None:
            return _Part([span], [], True, value)
        nothing_made_up = value is False or (value is True and path)
        return _Part([], [] if nothing_made_up else [".".join(path)], False, value)

    def _object(self, value: Mapping[Any, Any], branch: Objects | None, path: tuple[str, ...]) -> _Part:
        documented, required = ({}, ()) if branch is None else (branch.keys, branch.required)
        needed = [name for name in value if name in required]
        spans, missing, kept, is_said = list[Span](), list[str](), {}, False
        for name, member in value.items():
            at = (*path, str(name))
            part = self.walk(str(name), member, documented.get(name), at)
            spans += part.spans
            missing += part.missing if name in needed else ()
            is_said |= part.is_said
            may_go = name in documented and name not in required and self._may_leave_out(".".join(at))
            if part.is_said or not may_go or is_named(str(name), self._index):
                kept[name] = part.rest
        return _Part(spans, missing if needed or spans else [".".join(path)], is_said, kept if is_said else value)

    def _list(self, key: str, value: Sequence[Any], branch: Lists | None, path: tuple[str, ...]) -> _Part:
        parts = [
            self.walk(key, member, None if branch is None else branch.item(number), (*path, str(number)))
            for number, member in enumerate(value)
        ]
        spans = [span for part in parts for span in part.spans]
        missing = min((part.missing for part in parts), key=len) if spans else [".".join(path)]
        is_said = any(part.is_said for part in parts)
        return _Part(spans, missing, is_said, _items_left(value, parts) if is_said else value)


def _items_left(value: Sequence[Any], parts: Sequence[_Part]) -> Sequence[Any]:
    """Return the items of a list without the keys that went from one and are said in none; a tuple stays whole."""
    if isinstance(value, tuple):
        return value
    objects = [(part, member) for part, member in zip(parts, value, strict=True) if isinstance(member, dict)]
    gone = {name for part, member in objects for name in member if name not in part.rest}
    gone -= {name for part, _ in objects if part.is_said for name in part.rest}
    return [
        {name: part.rest.get(name, member[name]) for name in member if name not in gone}
        if isinstance(member, dict)
        else part.rest
        for part, member in zip(parts, value, strict=True)
    ]


def _branch(schema: LazySchema | None, kind: type[Objects] | type[Lists]) -> Any:
    """Return how a schema documents objects, or lists; None if it does not."""
    branches = () if schema is None else schema.node.alternatives
    return next((branch for branch in branches if isinstance(branch, kind)), None)


def _is_member(schema: LazySchema | None, value: Any) -> bool:
    """Whether a value is a member of a documented enum."""
    branches = () if schema is None else schema.node.alternatives
    return any(isinstance(branch, Constants) and value in branch.values for branch in branches)


def _said(key: str, value: Any, index: ConversationIndex, is_documented: bool) -> Span | None:
    match value:
        case bool():
            return _boolean_said(key, value, index)
        case int() | float():
            return number_said(value, index)
        case str():
            return _text_said(key, value[:_MOST_CHARACTERS], index, is_documented)
    return None


def is_named(key: str, index: ConversationIndex) -> bool:
    """Whether all words of a key stand behind one that says how: *full volume* names it, *what time* does not."""
    words = [index.form(word) for word in telling_words(key)]
    first = words[0] if words else ""
    befores = [index.words[place - 1] for place in index.places(first) if place]
    return all(map(index.places, words)) and any(word not in _SAY_NOTHING for word in befores)


def telling_words(key: str) -> list[str]:
    """Return the words of a key or a name, without those that say nothing if there are others."""
    words = words_of_name(key)
    return [word for word in words if word not in _SAY_NOTHING] or words


def _boolean_said(key: str, value: bool, index: ConversationIndex) -> Span | None:
    """Return where a word of a key was said, of ``has_live_music`` *live* or *music*; for true, without *no* beside."""
    return _first_place(telling_words(key), index, lambda near: not value or _NO.isdisjoint(near))


def _first_place(words: Sequence[str], index: ConversationIndex, fits: Callable[[list[str]], bool]) -> Span | None:
    """Return where the first of some words stands, or a form of it, of which the words beside it fit."""
    places = (place for word in words for place in index.places(index.form(word)))
    return next((index.span(place) for place in places if fits(index.around(place, _BESIDE))), None)


def _text_said(key: str, text: str, index: ConversationIndex, is_documented: bool) -> Span | None:
    text = text.strip()
    folded, words = text.casefold(), words_of_name(text)
    if folded in _BOOLEANS:
        return _boolean_said(key, _BOOLEANS[folded], index)
    if folded == "none":
        return _none_said(key, index)
    dates, minutes = read_dates(text), read_time(text)
    if dates or minutes is not None:
        index = index.without_clock
        if "id" in words_of_name(key):
            return None  # a day or a time is the id of nothing
    if span := index.phrase(words_of(text)) or index.phrase(words) or (None if words else index.text(text)):
        return None if len(words) == 1 and words[0] in _SAY_NOTHING and not is_documented else span
    if dates:
        span = next((span for date in dates if (span := date_said(date, index))), None)
        clock = _TIME_OF_DATE.search(text)
        return span or (time_said(read_time(clock[1]) or 0, index) if clock else None)
    if minutes is not None:
        return time_said(minutes, index)
    if (number := _number(text)) is not None:
        return number_said(number, index)
    if _DURATION.fullmatch(text):
        return next(filter(None, (number_said(int(number), index) for number in _NUMBERS.findall(text))), None)
    if not is_documented and any(map(_is_code, codes := text.split()[:_MOST_WORDS])):
        spans = [_whole_said(code, index) for code in codes if _is_code(code)]
        if len(codes) == 1 or not all(spans):
            return spans[0] if all(spans) else None
    return _most_said(key, text, words[:_MOST_WORDS], index) or _code_said(text, index) or index.initials(text)


def _is_code(word: str) -> bool:
    return _IS_CODE.search(word) is not None and not (_NO_CODE.fullmatch(word) or _CODE.fullmatch(word))


def _whole_said(code: str, index: ConversationIndex) -> Span | None:
    """Return where a code was said as a whole: ``BA117`` also as *BA 117*, a path by each of its parts.

    ``reports/q2.txt`` is said by *q2.txt in the folder reports*, but ``tmp/largest_file`` not by *tmp*.
    """
    code = _SCHEME.sub("", code).strip(_AROUND)
    if len(code) > _LONGEST_CODE:
        return index.text(code)
    if "@" in code:
        return index.whole(code)
    parts = [part for part in _BETWEEN.split(code) if part]
    spans = [index.whole(part, spaced=len(parts) == 1) for part in parts]
    return spans[-1] if spans and all(spans) else None


def _most_said(key: str, text: str, words: Sequence[str], index: ConversationIndex) -> Span | None:
    """Return where a text was said, by more than half of its words, or by a part: of *Paris, FR* or *Europe/Paris*."""
    ignored = _SAY_NOTHING.union(words_of_name(key))
    parts = [words_of(part) for part in _PARTS.split(text)]
    if len(parts) > 1 and (span := index.first_phrase(part for part in parts if not ignored.issuperset(part))):
        return span
    spaced = [word for word in words if word not in ignored and (len(word) > 1 or word.isdecimal())]
    found = [index.word(index.form(word)) for word in spaced]
    # one character of a script without spaces says little: two together are a word
    found += [index.phrase(pair) for pair in pairwise(words) if all(map(is_spaceless, pair))]
    spans = [span for span in found if span]
    half = _HALF * len(found)
    is_enough = len(spans) > half or (len(spans) == half and not _COMPOSED.isdisjoint(words_of_name(key)))
    return spans[0] if spans and is_enough else None


def _code_said(text: str, index: ConversationIndex) -> Span | None:
    found = _CODE.fullmatch(text)
    if found is None:
        return None
    names = (_name_said(name, index) if words_of(name) else index.text(name) for name in _meanings_of_code(found[1]))
    return next(filter(None, names), None) or short_name_said(text, index)


def _name_said(name: str, index: ConversationIndex) -> Span | None:
    return index.phrase([index.form(word) for word in words_of(name)])


@lru_cache(maxsize=1024)
def _meanings_of_code(code: str) -> tuple[str, ...]:
    """Return the names of a language, a country or a currency, also in the language itself, and the currency's sign.

    >>> _meanings_of_code("es"), _meanings_of_code("USD")
    (('Spanish', 'Spain', 'español'), ('US Dollar', '$', 'Dollar'))
    """
    from babel import Locale, UnknownLocaleError
    from babel.numbers import get_currency_symbol

    english, upper = Locale("en"), code.upper()
    names = [english.languages.get(code.lower()), english.territories.get(upper), english.currencies.get(upper)]
    if names[-1]:
        names += [get_currency_symbol(upper, english), names[-1].split()[-1]]  # yen
    with suppress(UnknownLocaleError, ValueError):
        names.append(Locale.parse(code.lower()).get_language_name())
    return tuple(name for name in names if name and name != upper)


def _none_said(key: str, index: ConversationIndex) -> Span | None:
    """Return where a word of a key stands beside *no*: *none* as a value means *no subtitles*."""
    return _first_place(words_of_name(key), index, lambda near: not _NO.isdisjoint(near))


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None
