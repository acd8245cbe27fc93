"""How a call is written: pieces of text around names, keys and values."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Final

from lookup.grammar.literal_values import render_value
from lookup.grammar.notations import BareKeys, Notation, RawText, is_json
from lookup.languages.codepoints import RESERVED
from lookup.literals.syntaxes import render_json
from tooldecoding.formats.cursor import Reader

INDEX: Final = "\0"
"""Stands in a piece for the number of the call."""

ID: Final = "\x01"
"""Stands in a piece for an id of nine letters and digits, which is read and not written."""


@dataclass(frozen=True)
class Call:
    """A tool name with its arguments, key -> Python value, in the sequence of the text."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class CallFormat:
    """The pieces of a call format: ``opener name bracket key value separator key value end next_call name … closer``.

    A piece may have ``INDEX`` where the number of the call stands, counted from 0. The text of a piece that is a
    special token of the tokenizer is written as this token (``marks``, ``bound``).

    Attributes
    ----------
    name : str
        Its name in ``CALL_FORMATS``.
    notation : Notation
        How values are written (``lookup.grammar.notations``).
    parallel : bool
        Whether several calls may stand between opener and closer.
    reader : callable, optional
        Decides which texts are valid calls, in place of ``calls_reader``, which reads by the pieces.
    also : tuple of mappings
        Other spellings of the same calls, which are read and not written: the pieces in which each differs.
    opener, closer : str
        The text around all calls, with what opens the first call. When the model writes the opener, it calls a tool.
        Without a closer, the model ends its turn behind the last call.
    next_call : str
        The text between the end of a call and the name of the next one.
    bracket, end : str
        The text around the arguments of a call.
    empty_end : str, optional
        The end of a call without arguments, where it is another one.
    separator : str
        The text between two arguments.
    key_opener, key_closer : str
        The text around a key, where values are not written as JSON.
    lead : str
        White space that the model writes before the opener where no text stands before it.
    marks : tuple of str
        Texts that models have as tokens of their own. No value may hold one.
    turn_ends : tuple of str
        Special tokens that end the assistant's turn, beside the model's own.
    opens_by_mark : bool
        Whether a mark at the beginning of the opener is enough to open a call.
    sorted_keys : bool
        Whether models were trained on keys in alphabetical order.
    """

    name: str
    notation: Notation = "json"
    parallel: bool = True
    reader: Reader | None = None
    also: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)
    opener: str = "["
    closer: str = ""
    next_call: str = ", "
    bracket: str = "("
    end: str = ")"
    empty_end: str | None = None
    separator: str = ", "
    key_opener: str = ""
    key_closer: str = "="
    lead: str = ""
    marks: tuple[str, ...] = ()
    turn_ends: tuple[str, ...] = ()
    opens_by_mark: bool = True
    sorted_keys: bool = False

    def bound(self, bind: Callable[[str], str]) -> "CallFormat":
        """Return this format with each piece bound: the marks that are tokens get the characters that stand for them.

        ``bind``: ``SpecialTexts.bound`` of a tokenizer.
        """

        def bound(pieces: Mapping[str, Any]) -> dict[str, Any]:
            return {name: bind(piece) if isinstance(piece, str) else piece for name, piece in pieces.items()}

        pieces = bound({field.name: getattr(self, field.name) for field in fields(self)})
        notation = self.notation
        if not isinstance(notation, str):
            notation = replace(notation, **bound(vars(notation)))
        return replace(self, **pieces | {"notation": notation, "also": tuple(map(bound, self.also))})

    @cached_property
    def spellings(self) -> "tuple[CallFormat, ...]":
        """This format, and the other spellings of its calls."""
        return self, *(replace(self, also=(), **pieces) for pieces in self.also)

    @property
    def trigger(self) -> str:
        """The beginning of the opener that opens a call; the whole opener if the tokenizer has no token for it."""
        return self.opener[0] if self.opens_by_mark and ord(self.opener[0]) in RESERVED else self.start(0)

    def start(self, number: int) -> str:
        """Return the text before the name of a call, by its number."""
        return (self.next_call if number else self.opener).replace(INDEX, str(number))

    def bracket_of(self, number: int) -> str:
        """Return the text between the name and the arguments of a call, by its number."""
        return self.bracket.replace(INDEX, str(number))

    def end_of(self, empty: bool) -> str:
        """Return the text behind the arguments of a call; ``empty`` says that there are none."""
        return self.end if not empty or self.empty_end is None else self.empty_end

    def key(self, name: str) -> str:
        """Return the text before the value of a key."""
        if is_json(self.notation):
            return render_json(name) + (self.key_closer if self.key_closer.startswith(":") else ": ")
        return self.key_opener + name + self.key_closer

    def ordered(self, keys: Iterable[str]) -> list[str]:
        """Return keys in the order that models know best: as documented, or sorted."""
        return sorted(keys, key=str.lower) if self.sorted_keys else list(keys)

    def may_follow_value(self, text: str) -> bool:
        """Whether a token that ends a value may go on with ``text``: a separator, or the end of the call.

        The text behind these does not matter: it is not taken with the value, the model is asked for it again.
        """
        return any(text.startswith(behind) or behind.startswith(text) for behind in self._behind_value)

    @cached_property
    def first_behind_value(self) -> str:
        """The first characters of what may follow a value."""
        return "".join(text[:1] for text in self._behind_value)

    @cached_property
    def value_mark(self) -> str:
        """The mark that ends each value, without the newlines before it; empty in most notations."""
        return self.notation.mark.lstrip("\n") if isinstance(self.notation, RawText) else ""

    @cached_property
    def longest_mark(self) -> int:
        """Characters of the longest mark."""
        return max(map(len, [*self.marks, self.value_mark]))

    def mark_inside(self, text: str, begin: int) -> bool:
        """Whether a mark that no value may hold stands in a text, behind its first ``begin`` characters."""
        return self._refused is not None and self._refused.search(text, begin) is not None

    @cached_property
    def _refused(self) -> re.Pattern[str] | None:
        own = self.notation.mark if isinstance(self.notation, BareKeys) else self.value_mark
        refused = [mark for mark in self.marks if mark not in own] + [self.value_mark] * bool(self.value_mark)
        return re.compile("|".join(map(re.escape, refused))) if refused else None

    @cached_property
    def _behind_value(self) -> tuple[str, ...]:
        following = (self.separator, self.end + self.closer, self.end + self.next_call.partition(INDEX)[0])
        return tuple(text for text in following if text)

    def render_call(self, name: str, arguments: Mapping[str, Any], number: int = 0) -> str:
        """Return one call without opener and closer: ``Name(key='value')``."""
        pairs = [self.key(k) + render_value(arguments[k], self.notation) for k in self.ordered(arguments)]
        return self.call_text(name, pairs, number)

    def call_text(self, name: str, pairs: Sequence[str], number: int = 0) -> str:
        """Return one call from the texts of its keys with their values."""
        return f"{name}{self.bracket_of(number)}{self.separator.join(pairs)}{self.end_of(not pairs)}"

    def render(self, calls: Sequence[Call]) -> str:
        """Return all calls, with opener and closer."""
        return self.joined([self.render_call(call.name, call.arguments, n) for n, call in enumerate(calls)])

    def joined(self, calls: Sequence[str]) -> str:
        """Return the texts of calls with opener and closer."""
        return "".join(self.start(n) + call for n, call in enumerate(calls)) + self.closer

    def ending(self, text: str, calls: str) -> str:
        """Return calls as they end a decoded text: a closer that is the token of an end of turn is not shown there."""
        return calls if text.endswith(self.closer) else calls.removesuffix(self.closer)
