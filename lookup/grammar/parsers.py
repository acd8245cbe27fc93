"""An incremental parser of values, character by character.

A ``ValueParser`` describes the literals of one type. A prefix of a literal leads to one ``ParserState``, or to several
if a union does not yet determine the type: what may stand next. A state has a continuation, the state behind what
stands there, and so on up to ``END``. States are immutable, so that all texts that begin alike share them.
"""
# ruff: noqa: D102 - overriding methods are documented in the base class

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from lookup.grammar.number_here import NumberHere

CharRange = tuple[int, int]
"""Some code points, from the first one to the one behind the last one."""


def char_ranges(characters: Iterable[str]) -> list[CharRange]:
    """The code points of characters."""
    return [(ord(character), ord(character) + 1) for character in characters]


def byte_length(text: str) -> int:
    """The length of a text in UTF-8 bytes."""
    return len(text.encode())


class ParserState(ABC):
    """What may stand next: the rest of a member, what is between members, or what follows one in a bracket.

    Attributes
    ----------
    continuation : ParserState
        The state behind what stands here.
    may_end : bool
        Whether nothing may stand here.
    is_stuck : bool
        Whether nothing is found that completes it: a free key that must be none of the named ones.
    """

    continuation: "ParserState"
    may_end = False
    is_stuck = False

    @abstractmethod
    def advance(self, character: str) -> "Iterable[ParserState]":
        """The states behind one more character that stands here."""

    @abstractmethod
    def completion(self) -> str:
        """A short text that completes what stands here."""

    def completions(self) -> Iterator[str]:
        """Texts that complete what stands here, roughly the shorter ones first."""
        yield self.completion()

    def identity(self) -> tuple[object, ...]:
        """Equal for states with the same continuations."""
        return (self,)

    def advance_text(self, text: str, position: int) -> "tuple[ParserState, int]":
        """Read as much of ``text`` as possible at once. Return the state and the position behind it."""
        return self, position

    @abstractmethod
    def allowed_ranges(self) -> Iterable[CharRange]:
        """The characters that may stand here."""

    def all_allowed_ranges(self) -> list[CharRange]:
        """The characters that may follow, here or in the continuation."""
        return [*self.allowed_ranges(), *(self.continuation.allowed_ranges() if self.may_end else ())]

    def numbers(self) -> Iterable[NumberHere]:
        """The numbers of which this is the inside."""
        return ()

    @property
    def is_end(self) -> bool:
        """Whether a whole value may end here."""
        return self.may_end and isinstance(self.continuation, End)

    def stack(self) -> "Iterator[ParserState]":
        """This state and its continuations, without the end."""
        state = self
        while not isinstance(state, End):
            yield state
            state = state.continuation

    @property
    def depth(self) -> int:
        """The number of brackets around, also of those that have read what stands inside by itself."""
        above = list(self.stack())
        end = above[-1].continuation if above else self
        assert isinstance(end, End)
        return len(above) + end.around


class End(ParserState):
    """Behind a value that is read by itself.

    Parameters
    ----------
    around : int
        The depth of the list whose element it is; 0 behind a whole value.
    """

    may_end = True

    def __init__(self, around: int = 0) -> None:
        self.around = around

    def identity(self) -> tuple[object, ...]:
        return End, self.around

    @property
    def continuation(self) -> ParserState:  # type: ignore[override]
        return self

    def advance(self, character: str) -> Iterable[ParserState]:
        return ()

    def completion(self) -> str:
        return ""

    def allowed_ranges(self) -> Iterable[CharRange]:
        return ()


END: ParserState = End()
"""Behind a whole value: the last state."""


class ValueParser(ABC):
    """Reads the literals of one type in one notation.

    Attributes
    ----------
    size : int
        Bytes of the shortest literal in UTF-8.
    bracket : str
        The opening bracket of lists, tuples and dicts; empty for all others.
    is_single : bool
        Whether all literals have the same value.
    """

    bracket: str = ""
    is_single: bool = False

    @property
    def rank(self) -> int:
        """About ``size``, found without a look at parsers inside that may contain this one."""
        return self.size

    @property
    def alternatives(self) -> "tuple[ValueParser, ...]":
        """The parsers of a union; otherwise the parser itself."""
        return (self,)

    @property
    def opener(self) -> str:
        """The text that every literal begins with; may be empty."""
        return self.bracket

    @property
    def listed(self) -> tuple[str, ...] | None:
        """All literals, if they are listed."""
        return None

    @property
    def inside(self) -> "Sequence[ValueParser]":
        """The parsers of what its literals are made of."""
        return ()

    @cached_property
    def size(self) -> int:
        """See the class."""
        return byte_length(self.shortest())

    @abstractmethod
    def start(self, continuation: ParserState) -> Iterable[ParserState]:
        """The states before the first character of a literal that ``continuation`` follows."""

    @abstractmethod
    def shortest(self) -> str:
        """A literal that is as short as possible, roughly."""


class Start(ParserState):
    """Before the first character of a value."""

    def __init__(self, parser: ValueParser, continuation: ParserState = END) -> None:
        self.continuation = continuation
        self.parser = parser

    @cached_property
    def _ways(self) -> Sequence[ParserState]:
        ways = list(self.parser.start(self.continuation))
        return ways + [way.continuation for way in ways if way.may_end]

    def advance(self, character: str) -> Iterable[ParserState]:
        return [state for way in self._ways for state in way.advance(character)]

    def completion(self) -> str:
        return self.parser.shortest()

    def identity(self) -> tuple[object, ...]:
        return Start, self.parser, self.continuation

    def allowed_ranges(self) -> list[CharRange]:
        return [span for way in self._ways for span in way.allowed_ranges()]


class Fixed(ParserState):
    """Before the rest of a fixed text, which is not empty."""

    def __init__(self, rest: str, continuation: ParserState) -> None:
        self.continuation = continuation
        self._rest = rest

    def advance(self, character: str) -> Iterable[ParserState]:
        return [fixed(self._rest[1:], self.continuation)] if character == self._rest[0] else ()

    def completion(self) -> str:
        return self._rest

    def identity(self) -> tuple[object, ...]:
        return Fixed, self._rest, *self.continuation.identity()

    def allowed_ranges(self) -> list[CharRange]:
        point = ord(self._rest[0])
        return [(point, point + 1)]


def fixed(rest: str, continuation: ParserState) -> ParserState:
    """The state before the rest of a fixed text, which may be empty."""
    return Fixed(rest, continuation) if rest else continuation


class LeafParser(ValueParser):
    """Literals without brackets, read in states that the parser makes.

    ``initial``: the state before the first character.
    """

    initial: Any

    @abstractmethod
    def advance(self, state: Any, character: str) -> Any:
        """The state behind a character; ``None`` if it may not follow."""

    @abstractmethod
    def may_end(self, state: Any) -> bool:
        """Whether a literal may end here."""

    @abstractmethod
    def completion(self, state: Any) -> str:
        """A short text that completes a literal."""

    def completions(self, state: Any) -> Iterator[str]:
        """Texts that complete a literal, roughly the shorter ones first."""
        yield self.completion(state)

    def advance_text(self, state: Any, text: str, position: int) -> tuple[Any, int]:
        """Read as much of ``text`` as possible at once. Return the state and the position behind it."""
        return state, position

    @abstractmethod
    def allowed_ranges(self, state: Any) -> Iterable[CharRange]:
        """The characters that may follow."""

    def number(self, state: Any) -> NumberHere | None:
        """The number that is being read."""
        return None

    def shortest(self) -> str:
        return self.completion(self.initial)

    def start(self, continuation: ParserState) -> Iterable[ParserState]:
        return [Leaf(self, self.initial, continuation)]


class Leaf(ParserState):
    """Inside a literal without brackets."""

    def __init__(self, parser: LeafParser, state: Any, continuation: ParserState) -> None:
        self.continuation = continuation
        self._parser = parser
        self._state = state
        self.may_end = parser.may_end(state)

    def advance(self, character: str) -> Iterable[ParserState]:
        state = self._parser.advance(self._state, character)
        return () if state is None else [Leaf(self._parser, state, self.continuation)]

    def advance_text(self, text: str, position: int) -> tuple[ParserState, int]:
        state, end = self._parser.advance_text(self._state, text, position)
        return (Leaf(self._parser, state, self.continuation) if end > position else self), end

    def completion(self) -> str:
        return self._parser.completion(self._state)

    def completions(self) -> Iterator[str]:
        return self._parser.completions(self._state)

    def numbers(self) -> Iterable[NumberHere]:
        found = self._parser.number(self._state)
        return () if found is None else (found,)

    def identity(self) -> tuple[object, ...]:
        return Leaf, self._parser, self._state, self.continuation

    def allowed_ranges(self) -> Iterable[CharRange]:
        return self._parser.allowed_ranges(self._state)


class Enclosed(ValueParser):
    """What another parser reads, between an opening and a closing text, which is not empty."""

    def __init__(self, opening: str, inner: ValueParser, closing: str) -> None:
        self._opening, self._inner, self._closing = opening, inner, closing

    @property
    def opener(self) -> str:
        return self._opening + self._inner.bracket

    @property
    def inside(self) -> Sequence[ValueParser]:
        return (self._inner,)

    def shortest(self) -> str:
        return self._opening + self._inner.shortest() + self._closing

    def start(self, continuation: ParserState) -> Iterable[ParserState]:
        return [fixed(self._opening, Start(self._inner, Fixed(self._closing, continuation)))]


class Union(ValueParser):
    """What one of several parsers reads."""

    def __init__(self, parsers: Sequence[ValueParser]) -> None:
        self._parsers = parsers

    @cached_property
    def alternatives(self) -> tuple[ValueParser, ...]:
        return tuple(alternative for parser in self._parsers for alternative in parser.alternatives)

    @property
    def inside(self) -> Sequence[ValueParser]:
        return self._parsers

    @property
    def opener(self) -> str:
        openers = {parser.opener for parser in self.alternatives}
        return openers.pop() if len(openers) == 1 else ""

    @property
    def listed(self) -> tuple[str, ...] | None:
        found = [parser.listed for parser in self.alternatives]
        return None if None in found else tuple(dict.fromkeys(text for texts in found for text in texts or ()))

    def start(self, continuation: ParserState) -> Iterable[ParserState]:
        return [state for parser in self.alternatives for state in parser.start(continuation)]

    def shortest(self) -> str:
        return min(self.alternatives, key=lambda parser: parser.size).shortest()
