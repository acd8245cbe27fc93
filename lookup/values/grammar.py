"""Value grammars: what a parameter's value may be as text, asked of beginnings of it.

Texts and numbers are ``regex`` patterns; brackets, the keys of objects and the members of enums are read with a stack
(``lookup.values.shapes``). What has been read of a beginning is kept, so a value that grows is read once.
"""

import weakref
from dataclasses import replace
from functools import cached_property
from typing import Final, Literal

from lookup.dictionary import ANY, MISSING, ParameterSpec, ValueType
from lookup.errors import DocumentationError, LiteralError
from lookup.values.bracket_shapes import Quoted
from lookup.values.notations import INSIDE, QUOTED_TEXT, RENDERERS, Notation
from lookup.values.plain_shapes import Literals, Union
from lookup.values.shapes import ANY_CHARACTER, Reading, Shape, Start, advance, closing
from lookup.values.sorted_texts import is_prefix_free
from lookup.values.type_shapes import shape_of, text_shape

Constraint = Literal["typed", "free"]

MAX_CLOSING: Final = 65_536
"""Bytes that closing a value may take at most."""

MAX_WIDTH: Final = 256
"""In so many ways one beginning may be read at most."""

_MAX_KEPT: Final = 512  # beginnings of one grammar
_MAX_TOKEN: Final = 32  # a beginning is looked for among those that are shorter by so many characters


class ValueGrammar:
    """The literals that one parameter may take in one notation.

    Parameters
    ----------
    shape : Shape
        Of the literals.
    opener : str
    literals : tuple of str, optional
        All literals, where they can be listed.

    Attributes
    ----------
    opener : str
        Text that every literal begins with (an opening quote or bracket), empty if there is none.
    choices : tuple of str, or None
        All literals, when they can be listed and none is a prefix of another (enums, booleans).
    """

    def __init__(self, shape: Shape, opener: str = "", literals: tuple[str, ...] | None = None) -> None:
        self._shape = shape
        self._literals = literals
        self.opener = opener
        self._start: list[Reading] = [Start(shape)]
        self._kept: dict[str, list[Reading]] = {}
        self._bytes: dict[str, frozenset[int]] = {}

    @cached_property
    def choices(self) -> tuple[str, ...] | None:
        """See the class."""
        listed = self._literals
        return listed if listed is not None and is_prefix_free(listed) else None

    @property
    def shortest(self) -> int:
        """Bytes of the shortest whole literal."""
        return self._shape.size

    @property
    def longest_closing(self) -> int:
        """Bytes that ``close`` never exceeds, whatever the beginning, the empty one among them.

        It holds all required keys of objects with their shortest values; some bytes above the exact bound. Time linear
        in the size of the documented type, once.
        """
        return max(self._shape.size, self._shape.longest_closing)

    @property
    def width(self) -> int:
        """A bound on the ways in which one beginning may be read."""
        return self._shape.width

    def complete(self, text: str) -> bool:
        """Whether ``text`` is a whole literal whose objects have each key once and all required ones."""
        return any(reading.whole and reading.frame is None for reading in self._read(text))

    def possible(self, text: str) -> bool:
        """Whether ``text`` is such a literal or the beginning of one."""
        return bool(self._read(text))

    def bytes_after(self, text: str) -> frozenset[int]:
        """What the UTF-8 of a character that may follow ``text`` can begin with."""
        found = self._bytes.get(text)
        if found is None:
            if len(self._bytes) >= _MAX_KEPT:
                self._bytes.clear()  # not one by one: threads may share a grammar
            found = frozenset[int]().union(*(reading.first_bytes() for reading in self._read(text)))
            self._bytes[text] = found
        return found

    def possible_behind(self, text: str, part: bytes) -> bool:
        """Whether a character whose UTF-8 begins with ``part``, of the first byte on, may follow ``text``."""
        readings = self._read(text)
        letters = {c for reading in readings for c in reading.letters() if c.encode().startswith(part)}
        return any(reading.takes(c) for reading in readings for c in letters | {ANY_CHARACTER})

    def extendable(self, text: str) -> bool:
        """Whether the complete literal ``text`` is also the beginning of a longer one (``1`` of ``13``)."""
        return bool(self.bytes_after(text))

    def close(self, text: str) -> str:
        """A short text that completes the beginning ``text``, at most ``longest_closing`` bytes.

        Raises
        ------
        LiteralError
            If ``text`` is not the beginning of a literal of this grammar.
        """
        readings = self._read(text)
        if not readings:
            raise LiteralError("the beginning of a literal of the documented type", len(text))
        whole = any(reading.whole and reading.frame is None for reading in readings)
        return "" if whole else closing(readings)

    def beside(self, literal: str) -> "ValueGrammar":
        """The grammar, and one literal more."""
        return ValueGrammar(
            Union([self._shape, Literals([literal])]),
            self.opener if literal.startswith(self.opener) else "",
            None if self._literals is None else (*self._literals, literal),
        )

    def _read(self, text: str) -> list[Reading]:
        """The readings of a beginning; only what was not read before is read."""
        found = self._kept.get(text)
        if found is not None:
            return found
        start = len(text)
        for start in range(len(text) - 1, max(0, len(text) - _MAX_TOKEN) - 1, -1):
            found = self._kept.get(text[:start])
            if found is not None:
                break
        readings = advance(self._start, text) if found is None else advance(found, text[start:])
        if readings:
            if len(self._kept) >= _MAX_KEPT:
                self._kept.clear()
            self._kept[text] = readings
        return readings


_GRAMMARS: dict[int, tuple["weakref.ref[ParameterSpec]", dict[tuple[Notation, Constraint], ValueGrammar]]] = {}
"""By the identity of each living spec: comparing specs by value costs as much as what their documentation holds."""


def value_grammar(spec: ParameterSpec, notation: Notation, constraint: Constraint = "typed") -> ValueGrammar:
    """The grammar of a parameter's values; made once for each object ``spec``, as long as it lives.

    ``typed`` admits literals of the documented type, only members where an enum is documented, the documented
    default beside both, and null where it is allowed. ``free`` is the paper's way (section 3.2): any literal, to be
    dropped by the type check when voting.

    Raises
    ------
    DocumentationError
        Naming the key, if its type is nested too deep, allows too many types side by side, or if its required keys
        take too much text.
    """
    number = id(spec)
    if number not in _GRAMMARS:
        _GRAMMARS[number] = weakref.ref(spec, lambda _: _GRAMMARS.pop(number, None)), {}
    known = _GRAMMARS[number][1]
    if (notation, constraint) not in known:
        known[notation, constraint] = _free(notation) if constraint == "free" else _typed(spec, notation)
    return known[notation, constraint]


def _free(notation: Notation) -> ValueGrammar:
    return _grammar(ANY, notation)


def _typed(spec: ParameterSpec, notation: Notation) -> ValueGrammar:
    try:
        grammar = _grammar(spec.value_type, notation)
    except DocumentationError as error:
        raise DocumentationError(f"key {spec.name!r}: {error}") from None
    render = RENDERERS[notation]
    beside = [] if spec.default is MISSING else [render(spec.default)]
    if spec.type.nullable:
        beside.append(render(None))
    for literal in beside:
        # In quoted notation a value is never empty.
        if literal != "''" and not grammar.complete(literal):
            grammar = grammar.beside(literal)
    if grammar.width > MAX_WIDTH:
        raise DocumentationError(
            f"key {spec.name!r}: the documented types allow {grammar.width} ways to read a value, expected at most "
            f"{MAX_WIDTH}; document fewer lists and objects side by side"
        )
    if grammar.choices is None and grammar.longest_closing > MAX_CLOSING:
        raise DocumentationError(
            f"key {spec.name!r}: what the documentation requires of a value can take {grammar.longest_closing} bytes, "
            f"expected at most {MAX_CLOSING}; document fewer required keys, or none below the first levels"
        )
    return grammar


def _grammar(value_type: ValueType, notation: Notation) -> ValueGrammar:
    kind, inside = value_type.kind, INSIDE[notation]
    if value_type.enum or kind == "bool":
        members = dict.fromkeys(map(RENDERERS[notation], value_type.enum or (True, False)))
        return ValueGrammar(Literals(members), literals=tuple(members))
    if notation == "quoted" and admits_text(value_type):
        return ValueGrammar(text_shape(QUOTED_TEXT), "'")
    if kind == "str":
        return ValueGrammar(text_shape(inside.plain_text), inside.plain_text.quote)
    shape = shape_of(replace(value_type, nullable=False), notation)  # null stands beside
    opener = shape.bracket
    if notation == "quoted":
        shape, opener = Quoted(shape), f"'{opener}"
    return ValueGrammar(shape, opener)


def admits_text(value_type: ValueType) -> bool:
    """Whether any text is a value of the type, so that a quoted text is itself and no literal in quotes."""
    branches = value_type.any_of or (value_type,)
    return any(branch.kind in ("str", "any") and not branch.enum and not branch.any_of for branch in branches)
