"""Sets of parser states: to which a text leads, what completes them, what may follow, and their open brackets."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Final, Literal

from lookup.grammar.notations import SPACED, Spacing
from lookup.grammar.number_here import NumberHere
from lookup.grammar.parsers import END, CharRange, End, Fixed, ParserState, ValueParser, byte_length, char_ranges

_NEVER_FIRST: Final = range(0x80, 0xC2)
"""Bytes that begin no character in UTF-8."""

_WIDEST: Final = 64
"""Spaces that a line may begin with."""


def advance(states: Sequence[ParserState], text: str, most: int | None = None) -> list[ParserState]:
    """The states after ``text`` was added to a prefix; empty if no literal begins so. At most ``most`` are kept.

    Linear in ``text``: each state reads each character once. The alternatives of a union are read side by side: of an
    integer, a number up to 2.5 and 123, ``1`` leads to three states, ``12`` to two, ``1.`` to one.
    """
    current = list(states)
    position = 0
    while current and position < len(text):
        if len(current) == 1:
            current[0], position = current[0].advance_text(text, position)
        if position == len(text):
            break
        current = _step(current, text[position])[:most]
        position += 1
    return current


def _step(states: Sequence[ParserState], character: str) -> list[ParserState]:
    """The distinct states after one character."""
    found: list[ParserState] = []
    for state in states:
        found += state.advance(character)
        if state.may_end:
            found += state.continuation.advance(character)
    if len(found) < 2:
        return found
    distinct: dict[tuple[object, ...], ParserState] = {}
    for state in found:
        distinct.setdefault(state.identity(), state)
    return list(distinct.values())


def completion(states: Iterable[ParserState]) -> str:
    """The shortest text, in bytes, that completes one of the states: ``b"`` before ``bcd"``."""
    given = list(states)
    if len(given) == 1:
        return _completion(given[0])
    able = [state for state in given if not state.is_stuck]
    return min((_completion(state) for state in able or given), key=byte_length)


def _completion(state: ParserState) -> str:
    return "".join([one.completion() for one in state.stack()])


def completions(state: ParserState) -> Iterator[str]:
    """Texts that complete a state and its continuations, roughly the shorter ones first."""
    if isinstance(state, End):
        yield ""
        return
    for text in state.completions():
        for rest in completions(state.continuation):
            yield text + rest


class Checked(ParserState):
    """Inside a member that is checked when it is finished: a free key, or an element that no other may equal.

    Attributes
    ----------
    continuation : ParserState
        The state behind the bracket around it.
    _inner : sequence of ParserState
        What may stand next in the member alone.
    _written : str
        What of the member stands before.
    """

    _inner: Sequence[ParserState]
    _written: str

    def numbers(self) -> Iterable[NumberHere]:
        for state in self._inner:
            ends = not state.is_end or bool(self.behind(self._written))  # a 2 that is there already goes on
            yield from (number._replace(may_end=number.may_end and ends) for number in state.numbers())

    @abstractmethod
    def behind(self, written: str) -> "Sequence[ParserState]":
        """The state behind the finished member; none if it may not stand here."""

    @abstractmethod
    def going_on(self, inner: Sequence[ParserState], written: str) -> "Sequence[ParserState]":
        """The state behind more of the member, which goes on; none if nothing that begins so may stand here."""

    def advance(self, character: str) -> Iterable[ParserState]:
        further = _step(self._inner, character)
        found: list[ParserState] = []
        if inner := [state for state in further if not isinstance(state, End)]:
            found += self.going_on(inner, self._written + character)
        if len(inner) < len(further):
            found += self.behind(self._written + character)
        for state in self._inner:
            if state.is_end:
                found += [new for behind in self.behind(self._written) for new in behind.advance(character)]
                break
        return found


def first_bytes(states: Iterable[ParserState]) -> frozenset[int]:
    """The first UTF-8 bytes of all characters that may follow."""
    return frozenset[int]().union(*[_first_bytes(span) for state in states for span in state.all_allowed_ranges()])


@lru_cache(maxsize=4096)
def _first_bytes(span: CharRange) -> frozenset[int]:
    # those of all others lie between the first and the last, as UTF-8 is ordered
    first, last = (chr(point).encode(errors="surrogatepass")[0] for point in (span[0], span[1] - 1))
    return frozenset(range(first, last + 1)).difference(_NEVER_FIRST)


def beginning_with(part: bytes, span: CharRange) -> Iterator[str]:
    """The first and last of some code points whose UTF-8 bytes begin with ``part``: of é to ž, é and ÿ behind C3."""
    missing = sum(part[0] >= lead for lead in (0xC0, 0xE0, 0xF0)) + 1 - len(part)
    begun = part[0] & (0x7F >> (missing + len(part)))
    for byte in part[1:]:
        begun = begun << 6 | byte & 0x3F
    first, stop = max(span[0], begun << 6 * missing), min(span[1], begun + 1 << 6 * missing)
    for point in {first, stop - 1} if first < stop else ():
        with suppress(UnicodeEncodeError):
            if chr(point).encode().startswith(part):  # no other spelling of fewer bytes
                yield chr(point)


BracketPosition = Literal["opened", "comma", "space", "colon", "value", "member", "line"]
"""Behind the bracket, a comma, the optional space behind a comma, a key (``colon``), a colon (``value``), a member, or
the line break before a closing bracket in a line of its own."""


class Bracket(ParserState):
    """Behind a member of an open bracket, whose members are separated by commas."""

    closer: str
    spacing: Spacing = SPACED

    @abstractmethod
    def members(self) -> Iterable[ParserState]:
        """The states before the next member or its key."""

    @abstractmethod
    def may_close(self, position: BracketPosition) -> bool:
        """Whether the bracket may be closed at this position."""

    @abstractmethod
    def behind_comma(self) -> "Bracket | None":
        """The bracket before its next member; ``None`` if there may be none."""

    @abstractmethod
    def completed(self, position: BracketPosition) -> str:
        """The text that completes the bracket at this position."""

    def value_parser(self) -> ValueParser | None:
        """The parser of the last key's value."""
        return None

    def advance(self, character: str) -> Iterable[ParserState]:
        if character == ",":
            behind = self.behind_comma()
            return [] if behind is None else [BetweenMembers(behind, "comma")]
        if character == "\n" and self.spacing.lines and self.may_close("member"):
            return [BetweenMembers(self, "line", spaced=True, indent=0)]
        return [self.continuation] if character == self.closer and self.may_close("member") else []

    def allowed_ranges(self) -> list[CharRange]:
        return char_ranges(character for character in f",\n{self.closer}" if self.advance(character))


class BracketParser(ValueParser):
    """Literals between brackets."""

    @abstractmethod
    def opened(self, continuation: ParserState) -> Bracket:
        """The bracket behind its opening, which ``continuation`` follows."""

    def shortest(self) -> str:
        return self.bracket + self.opened(END).completed("opened")

    def start(self, continuation: ParserState) -> Iterable[ParserState]:
        return [Fixed(self.bracket, BetweenMembers(self.opened(continuation), "opened"))]


class BetweenMembers(ParserState):
    """Inside a bracket, before a member, a key, a value or the closing bracket.

    ``indent``: the spaces behind a line break; None if there was none.
    """

    def __init__(
        self, inside: Bracket, position: BracketPosition, spaced: bool = False, indent: int | None = None
    ) -> None:
        self.continuation = inside.continuation
        self._inside = inside
        self._position: BracketPosition = position
        self._spaced = spaced
        self._indent = indent

    def advance(self, character: str) -> Iterable[ParserState]:
        inside, position = self._inside, self._position
        if position == "colon":
            return [BetweenMembers(inside, "value")] if character == ":" else []
        if character == " " and not self._spaced and self._space:
            return [BetweenMembers(inside, "space" if position == "comma" else "value", spaced=True)]
        if character in self._line:
            indent = 0 if self._indent is None else self._indent + 1
            return [BetweenMembers(inside, position, spaced=True, indent=indent)]
        if character == inside.closer and position != "value":
            return [inside.continuation] if inside.may_close(position) else []
        return [state for way in self._ways for state in way.advance(character)]

    @property
    def _ways(self) -> list[ParserState]:
        """The states before the member or value."""
        if self._position == "value":
            parser = self._inside.value_parser()
            return [] if parser is None else list(parser.start(self._inside))
        return list(self._inside.members()) if self._position != "line" else []

    def allowed_ranges(self) -> list[CharRange]:
        if self._position == "colon":
            return char_ranges(":")
        found = [span for way in self._ways for span in way.allowed_ranges()]
        space = " " if self._space and not self._spaced else ""
        closer = self._inside.closer if self._position != "value" and self._inside.may_close(self._position) else ""
        return [*char_ranges(space + closer + self._line), *found]

    @property
    def _line(self) -> str:
        """The line break that may stand before a member, and a space of its indentation."""
        if self._indent is not None:
            return " " if self._indent < _WIDEST else ""
        return "\n" if self._inside.spacing.lines and self._position in ("opened", "comma") else ""

    @property
    def _space(self) -> str:
        """The optional space behind a comma or colon."""
        if self._position == "comma":
            return self._inside.spacing.comma[1:] if self._ways else ""  # the comma of a tuple of one ends it
        return self._inside.spacing.colon[1:] if self._position == "value" else ""

    def completion(self) -> str:
        missing = "" if self._spaced else self._space
        if self._position == "comma" and self._inside.may_close("comma"):
            missing = ""
        return missing + self._inside.completed(self._position)

    def identity(self) -> tuple[object, ...]:
        return BetweenMembers, self._inside, self._position, self._spaced, self._indent
