"""Shapes of texts of a regular language (patterns, formats, lengths), between quotes or before a mark."""
# ruff: noqa: D102 - overriding methods are documented in the base class

import itertools
import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

import regex

from lookup.languages.language import Language, State, completions, pattern_language
from lookup.literals.literal_reader import parse_literal
from lookup.values.notations import TextSyntax
from lookup.values.shapes import Ended, Frame, Reading, Shape, byte_length

_MAX_TRIED: Final = 2_000
_LONGEST_CHARACTER: Final = 6
"""Bytes of a character that is written as an escape."""


class _Escape(NamedTuple):
    written: str
    character: str


@lru_cache(maxsize=16)
def _escapes(syntax: TextSyntax) -> tuple[_Escape, ...]:
    """The usual escapes of a syntax; JSON writes control characters as ``\\u001f``."""
    unit = regex.compile(syntax.unit)
    short = [f"\\{c}" for c in "\"'\\/bfnrt"]
    written = [*short, *(f"\\u{code:04x}" for code in range(32))]
    return tuple(_Escape(text, parse_literal(f'"{text}"')) for text in written if unit.fullmatch(text))


@lru_cache(maxsize=16)
def _writable(syntax: TextSyntax) -> Language | None:
    """The texts that a syntax can write; ``None`` if it can write all."""
    unit = regex.compile(syntax.unit)
    known = {escape.character for escape in _escapes(syntax)}
    missing = [code for code in range(128) if not unit.fullmatch(chr(code)) and chr(code) not in known]
    some = "*" if syntax.may_be_empty else "+"
    if not missing and syntax.may_be_empty:
        return None
    refused = "".join(f"\\x{code:02x}" for code in missing)
    return pattern_language(f"^[^{refused}]{some}$" if refused else r"^[\s\S]+$")


def quoted_text(syntax: TextSyntax, language: Language) -> "LimitedText | None":
    """The texts of a language between quotes; ``None`` if none of them can be written so.

    Raises
    ------
    LanguageError
        If the language becomes too large.
    """
    limits = _writable(syntax)
    limited = language if limits is None else language.both(limits)
    return None if limited.is_empty else LimitedText(syntax, limited)


class LimitedText(Shape):
    """The texts of a language between quotes. A character is escaped only where it must be."""

    def __init__(self, syntax: TextSyntax, language: Language) -> None:
        self.quote = syntax.quote
        self.language = language
        unit = regex.compile(syntax.unit)
        self.escapes = _escapes(syntax)
        self._escape_of = {e.character: e.written for e in reversed(self.escapes) if not unit.fullmatch(e.character)}
        stops = "".join(re.escape(c) for c in map(chr, range(128)) if not unit.fullmatch(c))
        self._plain = re.compile(f"[^{stops}]+")

    def plain_until(self, text: str, position: int) -> int:
        """The end of the characters from ``position`` on that stand for themselves."""
        found = self._plain.match(text, position)
        return found.end() if found else position

    def written(self, text: str) -> str:
        """A text with its escapes."""
        return "".join(self._escape_of.get(c, c) for c in text)

    @cached_property
    def _shortest(self) -> str:
        return self.quote + self.written(self.language.rest(self.language.start)) + self.quote

    @property
    def size(self) -> int:
        return byte_length(self._shortest)

    @cached_property
    def longest_closing(self) -> int:
        return (self.language.longest_rest + 1) * _LONGEST_CHARACTER + 2

    def shortest(self) -> str:
        return self._shortest

    def begin(self, character: str, frame: Frame | None) -> Iterable[Reading]:
        return [_LimitedReading(self, frame, self.language.start)] if character == self.quote else []

    def shortest_of(self, frame: Frame) -> str:
        """A short text that the frame admits."""
        return self.quote + _LimitedReading(self, frame, self.language.start).closing()


class _LimitedReading(Reading):
    """Inside a text of a language, behind its opening quote.

    ``written`` is the text so far, ``pending`` the part of an escape at its end, ``state`` the state before it.
    """

    def __init__(
        self, text: LimitedText, frame: Frame | None, state: State, written: str = "", pending: str = ""
    ) -> None:
        self.frame = frame
        self._text = text
        self._state = state
        self._written = written
        self._pending = pending

    def read(self, character: str) -> Iterable[Reading]:
        text, written = self._text, self._written + character
        if not self._pending and character == text.quote:
            if not text.language.whole(self._state):
                return []
            return [Ended(None)] if self.frame is None else self.frame.ended(text.quote + written)
        if self._pending or character == "\\":
            return self._escaped(self._pending + character, written)
        if text.plain_until(character, 0) == 0:
            return []
        state = text.language.step(self._state, character)
        return [] if state is None else [_LimitedReading(text, self.frame, state, written)]

    def _escaped(self, pending: str, written: str) -> Iterable[Reading]:
        text = self._text
        for escape in self._possible(pending):
            if escape.written == pending:
                state = text.language.step(self._state, escape.character)
                assert state is not None
                return [_LimitedReading(text, self.frame, state, written)]
            return [_LimitedReading(text, self.frame, self._state, written, pending)]
        return []

    def _possible(self, pending: str) -> Iterator[_Escape]:
        """The escapes that begin so and whose characters may follow."""
        step, state = self._text.language.step, self._state
        for escape in self._text.escapes:
            if escape.written.startswith(pending) and step(state, escape.character) is not None:
                yield escape

    def skip(self, text: str, position: int) -> tuple[Reading, int]:
        end = position if self._pending else self._text.plain_until(text, position)
        if end == position:
            return self, position
        state = self._text.language.run(self._state, text[position:end])
        if state is None:
            return self, position
        return _LimitedReading(self._text, self.frame, state, self._written + text[position:end]), end

    def closing(self) -> str:
        text, state, begun = self._text, self._state, ""
        if self._pending:
            escape = next(self._possible(self._pending))
            begun = escape.written[len(self._pending) :]
            state = text.language.step(state, escape.character) or state
        for rest in itertools.islice(completions(text.language, state), _MAX_TRIED):
            behind = begun + text.written(rest) + text.quote
            if self.frame is None:
                return behind
            if self.frame.admits(text.quote + self._written + behind):
                break
        assert self.frame is not None
        return behind + self.frame.rest_behind(text.quote + self._written + behind)

    def identity(self) -> tuple[object, ...]:
        return _LimitedReading, id(self._text), id(self.frame), self._written

    def letters(self) -> Iterable[str]:
        if self._pending:
            return ()
        return (c for c in self._text.language.letters(self._state) if not c.isascii())


class BareText(Shape):
    """The texts of a language as they are; another shape encloses them."""

    def __init__(self, language: Language) -> None:
        self.language = language

    @cached_property
    def size(self) -> int:
        return byte_length(self.shortest())

    @cached_property
    def longest_closing(self) -> int:
        return (self.language.longest_rest + 1) * 4

    @property
    def letters(self) -> frozenset[str]:
        return frozenset(c for c in self.language.letters(self.language.start) if not c.isascii())

    def shortest(self) -> str:
        return self.language.rest(self.language.start)

    def begin(self, character: str, frame: Frame | None) -> Iterable[Reading]:
        empty = frame is not None and self.language.whole(self.language.start)
        behind = frame.behind(character) if frame is not None and empty else ()
        return [*BareTextReading(self, frame, self.language.start).read(character), *behind]


class BareTextReading(Reading):
    """Inside a bare text or at its end."""

    def __init__(self, text: BareText, frame: Frame | None, state: State) -> None:
        self.frame = frame
        self._text = text
        self._state = state
        self.whole = text.language.whole(state)

    def read(self, character: str) -> Iterable[Reading]:
        state = self._text.language.step(self._state, character)
        return [] if state is None else [BareTextReading(self._text, self.frame, state)]

    def closing(self) -> str:
        return self._text.language.rest(self._state)

    def identity(self) -> tuple[object, ...]:
        return BareTextReading, id(self._text), id(self.frame), self._state

    def letters(self) -> Iterable[str]:
        return (c for c in self._text.language.letters(self._state) if not c.isascii())


_SPACES: Final = "".join(f"\\u{code:04x}" for code in range(0x3001) if chr(code).isspace())


@lru_cache(maxsize=64)
def _before_mark(core: str, stripped: bool, not_first: str) -> Language | None:
    """The texts that may stand before a mark; ``None`` if all may."""
    limits: list[Language] = []
    if stripped:
        limits.append(pattern_language(f"^(?:[^{_SPACES}](?:[^]*[^{_SPACES}])?)?$"))
    if all(ord(c) < 0xF0000 for c in core):  # no text has a reserved character
        limits.append(pattern_language(re.sub(r"(\W)", lambda m: f"\\u{{{ord(m[1]):x}}}", core)).outside())
    if not_first:
        limits.append(pattern_language("^(?:[^" + "".join(f"\\x{ord(c):02x}" for c in not_first) + "][^]*)?$"))
    found: Language | None = None
    for language in limits:
        found = language if found is None else found.both(language)
    return found


def text_before(language: Language, mark: str, stripped: bool, not_first: str = "") -> BareText | None:
    """The texts of a language that may stand before a mark; ``None`` if there is none.

    Raises
    ------
    LanguageError
        If the language becomes too large.
    """
    limits = _before_mark(mark.lstrip("\n"), stripped, not_first)
    limited = language if limits is None else language.both(limits)
    return None if limited.is_empty else BareText(limited)
