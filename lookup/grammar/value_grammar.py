"""Value grammars: which texts are values of a parameter, or prefixes of one.

Texts and numbers are ``regex`` patterns. Brackets, keys of objects and members of enums are parsed with a stack
(``lookup.grammar.parsers``). The state behind each prefix is cached, so a growing value is read only once.
"""

import re
from collections import deque
from collections.abc import Iterator
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Final, Literal

from lookup.dictionary import ParameterSpec
from lookup.errors import DocumentationError, LiteralError
from lookup.grammar.literal_values import is_literal, render_value
from lookup.grammar.notations import Notation
from lookup.grammar.number_here import NumberHere
from lookup.grammar.parsers import ParserState, Start, Union, ValueParser
from lookup.grammar.plain_parsers import Literals, is_prefix_free, numbers_of
from lookup.grammar.states import advance, beginning_with, completion, first_bytes
from lookup.grammar.whole_parsers import whole_parser
from lookup.schema.document import Document
from lookup.schema.json_types import JsonType
from lookup.schema.value_schema import ValueSchema, schema_of, value_schema

Constraint = Literal["typed", "free"]

MAX_CLOSING: Final = 65_536
"""The most bytes that the shortest value may take."""

MAX_WIDTH: Final = 256
"""The most ways in which one prefix is read; further ones are dropped."""

_SCALED: Final = re.compile(r"-?[0-9]+[eE][+-]?[0-9]+")

_MAX_KEPT: Final = 512  # prefixes of one grammar whose next bytes are kept
_MAX_READ: Final = 512  # prefixes whose states are kept for sure, some for each order of each prompt
_MAX_MADE: Final = 1_000  # parsers of a value that are made before it is decoded; others when they are reached
_MAX_TOKEN: Final = 64  # how much shorter than a text the prefixes are that reading goes on from


class ValueGrammar:
    """The literals that one parameter may take in one notation.

    Parameters
    ----------
    parser : ValueParser
        The parser of the literals.
    opener : str, optional
        By default that of the parser.

    Attributes
    ----------
    opener : str
        The text that every literal begins with (an opening quote or bracket); may be empty.
    choices : tuple of str, or None
        All literals, if they can be listed and none is a prefix of another (enums, booleans).
    """

    def __init__(self, parser: ValueParser, opener: str | None = None) -> None:
        self._parser = parser
        self._start = Start(parser)
        self._last: tuple[str, list[ParserState]] = "", [self._start]
        self.opener = parser.opener if opener is None else opener
        self._read_lately: dict[str, list[ParserState]] = {}
        self._read_before: dict[str, list[ParserState]] = {}
        self._bytes = lru_cache(maxsize=_MAX_KEPT)(lambda text: first_bytes(self._read(text)))

    @cached_property
    def choices(self) -> tuple[str, ...] | None:
        """See the class."""
        listed = self._parser.listed
        return listed if listed is not None and is_prefix_free(listed) else None

    @cached_property
    def written_choices(self) -> tuple[str, ...] | None:
        """The choices, but for several numbers: of these the model writes one, so that it shows if it wants another."""
        choices = self.choices or ()
        return None if len(choices) > 1 and numbers_of(choices) else self.choices

    @property
    def shortest(self) -> int:
        """Bytes of the shortest literal."""
        return self._parser.size

    def complete(self, text: str) -> bool:
        """Whether ``text`` is a complete literal. Its objects have unique keys and all required ones."""
        return any(state.is_end for state in self._read(text))

    def possible(self, text: str) -> bool:
        """Whether ``text`` is a literal or a prefix of one."""
        return bool(self._read(text))

    def bytes_after(self, text: str) -> frozenset[int]:
        """The first UTF-8 bytes of all characters that may follow ``text``."""
        return self._bytes(text)

    def characters_behind(self, text: str, part: bytes) -> Iterator[str]:
        """Characters whose UTF-8 bytes begin with ``part`` and that may follow ``text``; one at least of each kind."""
        for span in (span for state in self._read(text) for span in state.all_allowed_ranges()):
            yield from (character for character in beginning_with(part, span) if self.possible(text + character))

    def number_inside(self, text: str) -> NumberHere | None:
        """The number inside of which, or behind which, a literal ends; None elsewhere."""
        numbers = [number for state in self._read(text) for number in state.numbers()]
        return max(numbers, key=lambda number: (len(number.written), not number.is_whole), default=None)

    def number_behind(self, text: str) -> NumberHere | None:
        """As ``number_inside``, and with nothing written where a number may begin."""
        found = self.number_inside(text)
        for digit in () if found else "1234567890":
            if begun := self.number_inside(text + digit):
                return begun._replace(written="")
        return found

    def with_plain_integers(self, text: str) -> str:
        """A whole literal with the digits of each integer that has an exponent: of ``[1e3]`` ``[1000]``."""
        plain, copied = "", 0
        for found in _SCALED.finditer(text):
            here = self.number_inside(text[: found.end()])
            if here is not None and here.is_whole and here.written == found[0]:
                plain += text[copied : found.start()] + str(int(Decimal(found[0])))
                copied = found.end()
        return plain + text[copied:]

    def extendable(self, text: str) -> bool:
        """Whether the complete literal ``text`` is also a prefix of a longer one (``1`` of ``13``)."""
        return bool(self.bytes_after(text))

    def close(self, text: str) -> str:
        """A short text that completes ``text``.

        LiteralError if ``text`` is not a prefix of a literal of this grammar.
        """
        states = self._read(text)
        if not states:
            raise LiteralError("the beginning of a literal of the documented type", len(text))
        whole = any(state.is_end for state in states)
        return "" if whole else completion(states)

    def with_literal(self, literal: str) -> "ValueGrammar":
        """This grammar with one more literal."""
        opener = self.opener if literal.startswith(self.opener) else ""
        return ValueGrammar(Union([self._parser, Literals([literal])]), opener)

    def _read(self, text: str) -> list[ParserState]:
        """The states of a prefix. Goes on from the longest prefix that was read lately and is not much shorter."""
        begun, found = text, self._known(text)
        last, states = self._last
        if found is None and text.startswith(last) and len(text) - len(last) < _MAX_TOKEN:
            begun, found = last, states
        while found is None and begun and len(text) - len(begun) < _MAX_TOKEN:
            begun = begun[:-1]
            found = self._known(begun)
        if found is None:
            begun, found = "", [self._start]
        new = text[len(begun) :]
        if not new:
            return found
        states = advance(found, new, MAX_WIDTH)
        if states:
            self._keep(text, states)
            self._last = text, states
        return states

    def _known(self, text: str) -> list[ParserState] | None:
        found = self._read_lately.get(text)
        if found is None:
            found = self._read_before.get(text)
            if found is not None:
                self._keep(text, found)
        return found

    def _keep(self, text: str, states: list[ParserState]) -> None:
        """Keep the states of a prefix; those that nobody asked for since the last ``_MAX_READ`` are dropped."""
        if len(self._read_lately) >= _MAX_READ:
            self._read_before, self._read_lately = self._read_lately, {}
        self._read_lately[text] = states


def value_grammar(spec: ParameterSpec, notation: Notation, constraint: Constraint = "typed") -> ValueGrammar:
    """The grammar of a parameter's values, made once.

    ``typed`` allows the values of its schema, and the documented default (``ParameterSpec.always_allowed``). ``free``
    allows any literal, as in the paper (section 3.2); the check of the vote then drops wrong ones.

    DocumentationError, naming the key, if no value can obey its schema, if its required keys are too long, or if the
    notation cannot write a member of an enum or a key of an object. A default that it cannot write is left out.
    """
    key = notation, constraint
    if key not in spec.derived:
        spec.derived[key] = schema_grammar(_FREE, notation) if constraint == "free" else _typed(spec, notation)
    found: ValueGrammar = spec.derived[key]
    return found


def schema_grammar(schema: ValueSchema, notation: Notation) -> ValueGrammar:
    """The grammar of all values that a schema allows, however long the shortest is.

    DocumentationError if the schema allows no value, or the notation can write none.
    """
    return ValueGrammar(whole_parser(schema.lazy_schema, notation))


_FREE: Final = value_schema(True)


def _typed(spec: ParameterSpec, notation: Notation) -> ValueGrammar:
    schema = schema_of(spec)
    try:
        types = schema.plain_types
        grammar = _bounded(schema, notation) if types is None else _type_grammar(types, notation)
    except DocumentationError as error:
        raise DocumentationError(f"key {spec.name!r}: {error}") from None
    for literal in (render_value(value, notation) for value in spec.always_allowed):
        # A quoted value is never empty.
        if literal != "''" and is_literal(literal, notation) and not grammar.complete(literal):
            grammar = grammar.with_literal(literal)
    return grammar


@lru_cache(maxsize=256)
def _type_grammar(types: frozenset[JsonType], notation: Notation) -> ValueGrammar:
    """The grammar of some types; all parameters without another keyword share it."""
    return _bounded(value_schema({"type": sorted(types)}, Document({}, documentation=True)), notation)


def _bounded(schema: ValueSchema, notation: Notation) -> ValueGrammar:
    """The grammar of a schema whose shortest value is not too long."""
    parser = None if schema.unsatisfiable else whole_parser(schema.lazy_schema, notation)
    if parser is None or parser.size > MAX_CLOSING:
        raise DocumentationError(
            f"{schema.contradiction} in at most {MAX_CLOSING} bytes: correct what it says, or leave the key out"
        )
    _make_all(parser)
    return ValueGrammar(parser)


def _make_all(parser: ValueParser) -> None:
    """DocumentationError if the notation cannot write what stands inside of a parser."""
    waiting, seen = deque([parser]), {parser}
    while waiting and len(seen) <= _MAX_MADE:
        new = [inner for inner in waiting.popleft().inside if inner not in seen]
        seen.update(new)
        waiting.extend(new)
