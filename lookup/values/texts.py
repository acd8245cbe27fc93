"""Shapes of texts in every syntax: between quotes with escapes, between marks without, or bare keys."""
# ruff: noqa: D102 - overriding methods are documented in the base class

import itertools
import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

import regex

from lookup.languages.codepoints import END
from lookup.languages.language import Language, State, completions, pattern_language
from lookup.languages.limits import LanguageError
from lookup.literals.literal_reader import parse_literal
from lookup.values.notations import TextSyntax
from lookup.values.shapes import Ended, Frame, Reading, Shape, Span, byte_length, fixed, spans_of

_MAX_TRIED: Final = 2_000
_MAX_KEPT: Final = 512
_IN_ESCAPES: Final = "\"'\\/bfnrtu0123456789abcdefABCDEF"
_LONGEST_CHARACTER: Final = 6
"""Bytes of a character that is written as an escape."""
_LOW_HALF: Final = "\\udd00"
_RESTS: Final = (
    *("", "\\", "'", *("0" * n for n in range(1, 5))),
    *(_LOW_HALF[start:] for start in range(len(_LOW_HALF))),
    *("0" * n + _LOW_HALF for n in (1, 2)),
)
"""What completes an escape that has begun."""


class _Escape(NamedTuple):
    written: str
    character: str


class _Writing:
    """How a syntax writes characters.

    Attributes
    ----------
    escapes : tuple of _Escape
        The usual escapes; JSON writes control characters as ``\\u001f``.
    plain : list of (int, int)
        The characters that stand for themselves.
    """

    def __init__(self, syntax: TextSyntax) -> None:
        self._unit = regex.compile(syntax.unit or r"[\s\S]")
        short = [f"\\{c}" for c in "\"'\\/bfnrt"]
        written = [*short, *(f"\\u{code:04x}" for code in range(32))] if syntax.unit else []
        self.escapes = tuple(
            _Escape(text, parse_literal(f'"{text}"')) for text in written if self._unit.fullmatch(text)
        )
        special = [c for c in map(chr, range(128)) if not self._unit.fullmatch(c)]
        self._special = frozenset(special)
        self._stop = re.compile(f"[{re.escape(''.join(special) + syntax.closing[0])}]")
        edges = [-1, *map(ord, special), END]
        self.plain = [(before + 1, stop) for before, stop in itertools.pairwise(edges)]
        self._escape_of = {e.character: e.written for e in reversed(self.escapes) if not self.is_plain(e.character)}

    def is_plain(self, character: str) -> bool:
        """Whether a character stands for itself."""
        return character not in self._special

    def plain_until(self, text: str, position: int) -> int:
        """The end of the characters from ``position`` on that stand for themselves and do not close the text."""
        found = self._stop.search(text, position)
        return found.start() if found else len(text)

    def written(self, text: str) -> str:
        """A text with its escapes."""
        return "".join(self._escape_of.get(c, c) for c in text)

    def escape(self, pending: str) -> str | None:
        """The character of an escape; ``None`` if it is not complete."""
        return parse_literal(f'"{pending}"') if self._unit.fullmatch(pending) else None

    def begins_escape(self, pending: str) -> bool:
        """Whether an escape begins so."""
        return self._unit.fullmatch(pending, partial=True) is not None

    def completed(self, pending: str) -> str:
        """The rest of an escape."""
        return next(rest for rest in _RESTS if self._unit.fullmatch(pending + rest))


@lru_cache(maxsize=64)
def _writing(syntax: TextSyntax) -> _Writing:
    return _Writing(syntax)


def text_shape(syntax: TextSyntax, language: Language | None = None) -> "Text | None":
    """The texts of a language in a syntax; ``None`` if it can write none of them.

    A language that becomes too large with the syntax is not enforced.
    """
    if language is None:
        return any_text(syntax)
    try:
        language = language.both(any_text(syntax).language)
    except LanguageError:
        return any_text(syntax)
    return None if language.is_empty else Text(syntax, language, is_limited=True)


@lru_cache(maxsize=64)
def any_text(syntax: TextSyntax) -> "Text":
    """Any text of a syntax. One object is shared by all parameters."""
    return Text(syntax, pattern_language(syntax.contents), is_limited=False)


class Text(Shape):
    """The texts of a language in a syntax.

    Parameters
    ----------
    syntax : TextSyntax
    language : Language
        It has only texts that the syntax can write.
    is_limited : bool
        Whether it lacks some of them. Then a character is escaped only where it must be, or as usual.
    """

    def __init__(self, syntax: TextSyntax, language: Language, is_limited: bool) -> None:
        self.syntax = syntax
        self.language = language
        self.is_limited = is_limited
        self.writing = _writing(syntax)
        self._spans: dict[State, list[Span]] = {}

    @cached_property
    def _shortest(self) -> str:
        rest = self.language.rest(self.language.start)
        return self.syntax.opening + self.writing.written(rest) + self.syntax.closing

    @property
    def size(self) -> int:
        return byte_length(self._shortest)

    @cached_property
    def longest_closing(self) -> int:
        around = byte_length(self.syntax.opening + self.syntax.closing)
        return self.language.longest_rest * _LONGEST_CHARACTER + 2 * _LONGEST_CHARACTER + around

    def shortest(self) -> str:
        return self._shortest

    def start(self, frame: Frame | None) -> Iterable[Reading]:
        return [fixed(frame, self.syntax.opening, lambda: TextReading(self, frame, self.language.start))]

    def spans(self, state: State) -> list[Span]:
        """The characters that may follow inside the text, where no escape has begun."""
        known = self._spans.get(state)
        if known is None:
            if len(self._spans) >= _MAX_KEPT:
                self._spans.clear()
            known = self._spans[state] = self._spans_of(state)
        return known

    def _spans_of(self, state: State) -> list[Span]:
        spans = list(self.language.spans(state))
        plain = self.writing.plain
        found = [(max(first, low), min(stop, high)) for first, stop in spans for low, high in plain]
        step = self.language.step
        if any(step(state, escape.character) is not None for escape in self.writing.escapes):
            found.append((ord("\\"), ord("\\") + 1))
        if self.language.whole(state):
            found += spans_of(self.syntax.closing[0])
        return [span for span in found if span[0] < span[1]]

    def shortest_of(self, frame: Frame) -> str:
        """A short text that the frame admits."""
        return next(iter(self.start(frame))).closing()


class TextReading(Reading):
    """Inside a text, behind what opens it.

    Parameters
    ----------
    text : Text
    frame : Frame or None
    state : State
        The state of the text's language before ``pending``.
    written : str
        What is written behind the opening.
    pending : str
        The part of an escape at its end.
    """

    def __init__(self, text: Text, frame: Frame | None, state: State, written: str = "", pending: str = "") -> None:
        self.frame = frame
        self._text = text
        self._state = state
        self._written = written
        self._pending = pending

    def read(self, character: str) -> Iterable[Reading]:
        if self._pending:
            return self._escaped(self._pending + character)
        found = self._closed() if character == self._text.syntax.closing[0] else []
        if not self._text.writing.is_plain(character):
            return found if character != "\\" else self._escaped(character)
        state = self._text.language.step(self._state, character)
        return found if state is None else [*found, self._behind(state, character)]

    def _behind(self, state: State, new: str, pending: str = "") -> Reading:
        return TextReading(self._text, self.frame, state, self._written + new, pending)

    def _closed(self) -> list[Reading]:
        """The readings behind the first character of what closes the text."""
        syntax = self._text.syntax
        if not self._text.language.whole(self._state):
            return []
        whole = syntax.opening + self._written + syntax.closing
        ended: list[Reading] = [Ended(None)] if self.frame is None else self.frame.ended(whole)
        if len(syntax.closing) == 1 or not ended:
            return ended
        return [fixed(self.frame, syntax.closing[1:], lambda: ended[0])]

    def _escaped(self, pending: str) -> list[Reading]:
        text = self._text
        if not text.writing.begins_escape(pending) or (text.is_limited and next(self._possible(pending), None) is None):
            return []
        escaped = text.writing.escape(pending)
        if escaped is None:
            return [self._behind(self._state, pending[-1], pending)]
        state = text.language.step(self._state, escaped)
        return [] if state is None else [self._behind(state, pending[-1])]

    def _possible(self, pending: str) -> Iterator[_Escape]:
        """The usual escapes that begin so and whose characters may follow."""
        step, state = self._text.language.step, self._state
        for escape in self._text.writing.escapes:
            if escape.written.startswith(pending) and step(state, escape.character) is not None:
                yield escape

    def skip(self, text: str, position: int) -> tuple[Reading, int]:
        end = position if self._pending else self._text.writing.plain_until(text, position)
        if end == position:
            return self, position
        state = self._text.language.run(self._state, text[position:end])
        return (self, position) if state is None else (self._behind(state, text[position:end]), end)

    @cached_property
    def _closing(self) -> tuple[str, bool]:
        """What completes the text, and whether the frame admits it then."""
        text, state, begun = self._text, self._state, ""
        if self._pending:
            possible = next(self._possible(self._pending)).written if text.is_limited else None
            begun = possible[len(self._pending) :] if possible else text.writing.completed(self._pending)
            escaped = text.writing.escape(self._pending + begun)
            state = (text.language.step(state, escaped) if escaped else None) or state
        for rest in itertools.islice(completions(text.language, state), _MAX_TRIED):
            behind = begun + text.writing.written(rest) + text.syntax.closing
            if self.frame is None:
                return behind, True
            whole = text.syntax.opening + self._written + behind
            if self.frame.admits(whole):
                return behind + self.frame.rest_behind(whole), True
        return behind, False

    def closing(self) -> str:
        return self._closing[0]

    @property
    def is_stuck(self) -> bool:
        return not self._closing[1]

    def identity(self) -> tuple[object, ...]:
        return TextReading, self._text, self.frame, self._written, self._pending

    def spans(self) -> list[Span]:
        if not self._pending:
            return self._text.spans(self._state)
        return spans_of(character for character in _IN_ESCAPES if self._escaped(self._pending + character))
