"""TOOLDEC's state machine of calls (v3, section 3.1): what text may come next, and what has been written.

The machine reads bytes. A token is admitted if the text with it is still the beginning of a call, so a token may cross
the border between two parts of a call (``', days=`` ends a value and writes the next key). This is the strongest
reading of the papers: their implementation leaves a value only at a separate token, which no tokenizer makes of ``'``
or ``,`` (Tool Decoding, appendix F).
"""

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import NamedTuple

from lookup.dictionary import LookupDictionary, ToolSpec
from lookup.grammar.literal_values import read_value
from lookup.grammar.value_grammar import Constraint, ValueGrammar, value_grammar
from tooldecoding.decoding.name_trie import demand_distinct
from tooldecoding.formats.call_format import INDEX, Call, CallFormat


class Mark(Enum):
    """Goals of fixed text other than tools and keys."""

    CALL = "the end of a call"
    ALL = "the end of all calls"


Goal = ToolSpec | int | Mark
"""What fixed text leads to: the arguments of a tool, the value of a parameter (its number), or an end."""

Texts = tuple[tuple[bytes, Goal], ...]
"""What may be written next, each with its goal; none is the beginning of another."""


class WrittenCall(NamedTuple):
    """A call so far: its tool, and the texts of its values with the numbers of their parameters."""

    tool: ToolSpec
    values: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Fixed:
    """Inside names, keys and punctuation; ``texts`` is what may follow."""

    calls: tuple[WrittenCall, ...]
    texts: Texts


@dataclass(frozen=True, slots=True)
class Value:
    """Inside a value of the last of ``calls``.

    Attributes
    ----------
    number : int
        The number of the tool's parameter.
    tail : bytes
        An unfinished character behind ``text``.
    """

    calls: tuple[WrittenCall, ...]
    number: int
    grammar: ValueGrammar
    text: str = ""
    tail: bytes = b""

    @property
    def ended(self) -> bool:
        """Whether the value is whole and cannot be longer."""
        whole = not self.tail and self.grammar.complete(self.text)
        return whole and not self.grammar.extendable(self.text)


@dataclass(frozen=True, slots=True)
class Finished:
    """Behind the last character."""

    calls: tuple[WrittenCall, ...]


Position = Fixed | Value | Finished


class CallMachine:
    """The language of calls of some tools.

    Keys stand in the documented sequence. A required key cannot be skipped, an optional one can.

    DocumentationError if the name of a tool is the beginning of another. ``CompiledTools`` demands it of keys.

    Parameters
    ----------
    tools : LookupDictionary
        At least one tool. Keys that are not known to be required are optional.
    constraint : {"typed", "free"}
        Whether values have their documented type; see ``lookup.grammar.value_grammar``.
    max_calls : int
        Limit of calls, if the format allows several.
    """

    def __init__(
        self, tools: LookupDictionary, call_format: CallFormat, constraint: Constraint, max_calls: int
    ) -> None:
        self._format = call_format
        self._constraint = constraint
        numbered = INDEX in call_format.bracket + call_format.next_call  # it knows no number but the first
        self._max_calls = max_calls if call_format.parallel and not numbered else 1
        self._names = [(tool.name + call_format.bracket_of(0), tool) for tool in tools.tools]
        demand_distinct([name for name, _ in self._names], "tools")
        self.start = Fixed((), _texts((call_format.start(0) + name, tool) for name, tool in self._names))
        self._keys: dict[tuple[str, int, bool], Texts] = {}
        self._grammars: dict[tuple[str, int], ValueGrammar] = {}

    def advance(self, position: Position, piece: bytes) -> Position | None:
        """Return the position behind ``piece``, which is not empty; None if no call goes on with it."""
        if isinstance(position, Fixed):
            return self._through(position.calls, position.texts, piece)
        if isinstance(position, Value):
            return self._within(position, piece)
        return None

    def read(self, position: Finished) -> tuple[Call, ...]:
        """Return the calls that have been written."""
        calls = []
        for tool, values in position.calls:
            specs = [(tool.parameters[number], text) for number, text in values]
            arguments = {spec.name: read_value(text, spec, self._format.notation) for spec, text in specs}
            calls.append(Call(tool.name, arguments))
        return tuple(calls)

    def _through(self, calls: tuple[WrittenCall, ...], texts: Texts, piece: bytes) -> Position | None:
        """Read a piece inside fixed text."""
        rest = tuple((text[len(piece) :], goal) for text, goal in texts if text.startswith(piece))
        if any(text for text, _ in rest):
            return Fixed(calls, rest)
        if rest:
            return self._reach(calls, rest[0][1])
        passed = (
            self.advance(self._reach(calls, goal), piece[len(text) :]) for text, goal in texts if piece.startswith(text)
        )
        return next(passed, None)

    def _reach(self, calls: tuple[WrittenCall, ...], goal: Goal) -> Position:
        """Return the position behind fixed text."""
        if isinstance(goal, ToolSpec):
            return Fixed((*calls, WrittenCall(goal)), self._next_keys(goal, 0, first=True))
        if isinstance(goal, int):
            return Value(calls, goal, self._grammar(calls[-1].tool, goal))
        if goal is Mark.ALL or not self._format.closer:
            return Finished(calls)
        return Fixed(calls, self._behind_call(len(calls) < self._max_calls))

    def _within(self, value: Value, piece: bytes) -> Position | None:
        """Read a piece that goes on with a value or ends it."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            new = decoder.decode(value.tail + piece)
        except UnicodeDecodeError:
            return None
        tail, text, grammar = decoder.getstate()[0], value.text + new, value.grammar
        if _is_scaled_integer(grammar, text):
            return None
        if grammar.possible(text) and (not tail or any(grammar.characters_behind(text, tail))):
            return replace(value, text=text, tail=tail)
        return next((end for end in self._ends(value, new, tail) if end is not None), None)

    def _ends(self, value: Value, new: str, tail: bytes) -> Iterator[Position | None]:
        """Yield the positions behind the piece if the value ends before one of its characters, ``new`` and ``tail``."""
        *before, call = value.calls
        texts = self._next_keys(call.tool, value.number + 1, first=False)
        beginnings = {text[:1] for text, _ in texts}
        for split in range(len(new) + 1):
            text, behind = value.text + new[:split], new[split:].encode() + tail
            if behind and behind[:1] in beginnings and value.grammar.complete(text):
                ended = call._replace(values=(*call.values, (value.number, text)))
                yield self._through((*before, ended), texts, behind)

    def _next_keys(self, tool: ToolSpec, start: int, first: bool) -> Texts:
        """Return the keys from number ``start`` to the next required one, or to the end of the call."""
        place = (tool.name, start, first)
        if place not in self._keys:
            texts: list[tuple[str, Goal]] = []
            for number, spec in enumerate(tool.parameters[start:], start):
                separator = "" if first else self._format.separator
                texts.append((separator + self._format.key(spec.name), number))
                if spec.required:
                    break
            else:
                texts.append((self._format.end_of(first), Mark.CALL))
            self._keys[place] = _texts(texts)
        return self._keys[place]

    def _behind_call(self, more: bool) -> Texts:
        """Return what may follow a call: the closer, and another call if there may be ``more``."""
        names = [(self._format.start(1) + name, tool) for name, tool in self._names] if more else []
        return _texts([(self._format.closer, Mark.ALL), *names])

    def _grammar(self, tool: ToolSpec, number: int) -> ValueGrammar:
        if (tool.name, number) not in self._grammars:
            spec = tool.parameters[number]
            self._grammars[tool.name, number] = value_grammar(spec, self._format.notation, self._constraint)
        return self._grammars[tool.name, number]


def _texts(texts: Iterable[tuple[str, Goal]]) -> Texts:
    return tuple((text.encode(), goal) for text, goal in texts)


class Admission:
    """Which tokens a position admits. Most of the others are refused by their first byte."""

    def __init__(self, machine: CallMachine, position: Position) -> None:
        self._machine = machine
        self._position = position
        self._begins = cache(lambda first: machine.advance(position, bytes([first])) is not None)

    def first_bytes(self) -> frozenset[int]:
        """Return the bytes that may come next, possibly with some others."""
        return frozenset(b for b in range(256) if b >= 0x80 or self._begins(b))

    def __call__(self, piece: bytes) -> Position | None:
        """Return the position behind a piece, or None."""
        if piece[0] < 0x80 and not self._begins(piece[0]):
            return None
        return self._machine.advance(self._position, piece)


def _is_scaled_integer(grammar: ValueGrammar, text: str) -> bool:
    """Whether a value ends inside an integer as ``1e6``: what is written is read as it stands, and that is a float."""
    here = grammar.number_inside(text) if "e" in text.lower() and grammar.possible(text) else None
    return here is not None and here.is_whole and "e" in here.written.lower()
