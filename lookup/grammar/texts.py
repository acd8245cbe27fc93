"""Parsers of texts in every syntax: between quotes with escapes, between marks without, or bare keys."""
# ruff: noqa: D102 - overriding methods are documented in the base class

import itertools
import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Final

import regex

from lookup.grammar.notations import TextSyntax
from lookup.grammar.parsers import CharRange, Fixed, Leaf, LeafParser, ParserState, char_ranges, fixed
from lookup.languages.codepoints import END
from lookup.languages.language import ANY_TEXT, Language, State, completions, pattern_language
from lookup.languages.limits import LanguageError
from lookup.literals.literal_reader import parse_literal

_MAX_KEPT: Final = 512  # states whose next characters are kept
_IN_ESCAPES: Final = "\"'\\/bfnrtu0123456789abcdefABCDEF"
_LOW_HALF: Final = "\\udd00"
_RESTS: Final = (
    *("", "\\", "'", *("0" * n for n in range(1, 5))),
    *(_LOW_HALF[start:] for start in range(len(_LOW_HALF))),
    *("0" * n + _LOW_HALF for n in (1, 2)),
)
"""What completes an escape that has begun."""


_TextState = tuple[State, str]
"""The state of a text's language, and the part of an escape that stands behind."""


class _Writing:
    """How a syntax writes characters.

    Attributes
    ----------
    escapes : dict of str to str
        The usual escapes and their characters; JSON writes control characters as ``\\u001f``.
    plain : list of (int, int)
        The characters that stand for themselves.
    """

    def __init__(self, syntax: TextSyntax) -> None:
        self._unit = regex.compile(syntax.unit or r"[\s\S]")
        short = [f"\\{c}" for c in "\"'\\/bfnrt"]
        written = [*short, *(f"\\u{code:04x}" for code in range(32))] if syntax.unit else []
        self.escapes = {text: parse_literal(f'"{text}"') for text in written if self._unit.fullmatch(text)}
        special = [c for c in map(chr, range(128)) if not self._unit.fullmatch(c)]
        self._special = frozenset(special)
        self._stop = re.compile(f"[{re.escape(''.join(special) + syntax.closing[0])}]")
        edges = [-1, *map(ord, special), END]
        self.plain = [(before + 1, stop) for before, stop in itertools.pairwise(edges)]
        self._escape_of = {c: text for text, c in reversed(self.escapes.items()) if not self.is_plain(c)}

    def is_plain(self, character: str) -> bool:
        """Whether a character stands for itself."""
        return character not in self._special

    def plain_until(self, text: str, position: int) -> int:
        """The end of the characters from ``position`` on that stand for themselves and do not close the text."""
        found = self._stop.search(text, position)
        return found.start() if found else len(text)

    def written(self, text: str) -> str:
        """A text with its escapes."""
        return "".join(self._escape_of.get(c, c) for c in text) if text else text

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


def text_parser(syntax: TextSyntax, language: Language) -> "Text | None":
    """The texts of a language in a syntax; ``None`` if it can write none of them.

    A language that becomes too large with the syntax is not enforced.
    """
    if language is ANY_TEXT:
        return any_text(syntax)
    try:
        language = language.intersection(any_text(syntax).language)
    except LanguageError:
        return any_text(syntax)
    return None if language.is_empty else Text(syntax, language, is_limited=True)


@lru_cache(maxsize=64)
def any_text(syntax: TextSyntax) -> "Text":
    """Any text of a syntax. One object is shared by all parameters."""
    return Text(syntax, pattern_language(syntax.contents), is_limited=False)


class Text(LeafParser):
    """The texts of a language in a syntax. A state is one of the language, and the part of an escape behind it.

    Parameters
    ----------
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
        self.initial = (language.start, "")
        self._spans = lru_cache(maxsize=_MAX_KEPT)(self._spans_of)

    @property
    def opener(self) -> str:
        return self.syntax.opening

    @cached_property
    def _shortest(self) -> str:
        rest = self.language.completion(self.language.start)
        return self.syntax.opening + self.writing.written(rest) + self.syntax.closing

    def shortest(self) -> str:
        return self._shortest

    def start(self, continuation: ParserState) -> Iterable[ParserState]:
        syntax = self.syntax
        return [fixed(syntax.opening, Leaf(self, self.initial, Fixed(syntax.closing, continuation)))]

    def advance(self, state: _TextState, character: str) -> _TextState | None:
        read, pending = state
        if pending:
            return self._escaped(read, pending + character)
        if self.writing.is_plain(character):
            behind = self.language.run(read, character)
            return None if behind is None else (behind, "")
        return self._escaped(read, character) if character == "\\" else None

    def _escaped(self, read: State, pending: str) -> _TextState | None:
        if not self.writing.begins_escape(pending):
            return None
        if self.is_limited and next(self._possible(read, pending), None) is None:
            return None
        escaped = self.writing.escape(pending)
        if escaped is None:
            return (read, pending)
        behind = self.language.run(read, escaped)
        return None if behind is None else (behind, "")

    def _possible(self, read: State, pending: str) -> Iterator[str]:
        """The usual escapes that begin so and whose characters may follow."""
        for escape, character in self.writing.escapes.items():
            if escape.startswith(pending) and self.language.run(read, character) is not None:
                yield escape

    def advance_text(self, state: _TextState, text: str, position: int) -> tuple[_TextState, int]:
        read, pending = state
        end = position if pending else self.writing.plain_until(text, position)
        if end == position:
            return state, position
        behind = self.language.run(read, text[position:end])
        return (state, position) if behind is None else ((behind, ""), end)

    def may_end(self, state: _TextState) -> bool:
        return not state[1] and self.language.accepts(state[0])

    def completion(self, state: _TextState) -> str:
        return next(self.completions(state))

    def completions(self, state: _TextState) -> Iterator[str]:
        read, pending, begun = *state, ""
        if pending:
            possible = next(self._possible(read, pending)) if self.is_limited else None
            begun = possible[len(pending) :] if possible else self.writing.completed(pending)
            escaped = self.writing.escape(pending + begun)
            read = (self.language.run(read, escaped) if escaped else None) or read
        for rest in completions(self.language, read):
            yield begun + self.writing.written(rest)

    def allowed_ranges(self, state: _TextState) -> list[CharRange]:
        read, pending = state
        if pending:
            return char_ranges(character for character in _IN_ESCAPES if self._escaped(read, pending + character))
        return self._spans(read)

    def _spans_of(self, read: State) -> list[CharRange]:
        """The characters that may follow inside the text, where no escape has begun."""
        spans = list(self.language.allowed_ranges(read))
        plain = self.writing.plain
        found = [(max(first, low), min(stop, high)) for first, stop in spans for low, high in plain]
        if next(self._possible(read, ""), None) is not None:
            found.append((ord("\\"), ord("\\") + 1))
        return [span for span in found if span[0] < span[1]]
