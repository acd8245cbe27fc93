"""Parsers of lists and tuples (``lookup.grammar.parsers``), also of those whose elements differ (``uniqueItems``)."""
# ruff: noqa: D102 - overriding methods are documented in the base class

import itertools
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Final

from lookup.errors import DocumentationError, LiteralError
from lookup.grammar.notations import Inside
from lookup.grammar.parsers import CharRange, End, ParserState, Start, Union, ValueParser, char_ranges
from lookup.grammar.plain_parsers import Literals
from lookup.grammar.states import Bracket, BracketParser, BracketPosition, Checked, advance, completion
from lookup.literals.literal_reader import parse_literal
from lookup.schema.equality import identity

_CLOSERS: Final = {"[": "]", "(": ")"}
_MAX_TRIED: Final = 1_000  # elements that are tried, beyond those that are there, until one is new
_MAX_STEPS: Final = 20_000  # characters that are tried behind beginnings, where few elements are left
_MAX_CHECKED: Final = 2_000  # characters of an element after which a new one is looked for at its end only
_MAX_NUMBERED: Final = 20  # numbers that are tried first, as most elements may have one
_MAX_OPENING: Final = 200  # places of an element at which they are tried
_MAX_KEPT: Final = 4_096  # elements whose identity is kept
_end_at: Final = cache(End)  # one for each depth, as equal states are told by it
_COMMON: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_CHARACTERS: Final = (*_COMMON, *sorted(set(map(chr, range(32, 127))) - set(_COMMON)))


class Elements(BracketParser):
    """A list or a tuple.

    Parameters
    ----------
    around : Inside
        How the notation writes them.
    element : ValueParser, optional
        The parser of the elements behind ``prefix``; without it there are none.
    prefix : sequence of ValueParser
        The parsers of the first elements.
    is_tuple : bool
        Whether it is a tuple, if the notation has them; one of one element ends with a comma.
    least, most : int
        The number of elements; ``most`` may be ``None``.
    unique : bool
        Whether elements are read to make sure that none stands there twice.
    """

    def __init__(
        self,
        around: Inside,
        element: ValueParser | None,
        prefix: Sequence[ValueParser] = (),
        is_tuple: bool = False,
        least: int = 0,
        most: int | None = None,
        unique: bool = False,
    ) -> None:
        self.bracket = "(" if is_tuple and around.has_tuples else "["
        self.spacing = around.spacing
        self.least = least
        self.unique = around.syntax if unique else None
        self._identities: dict[str, Hashable] = {}
        self._samples: dict[ValueParser, tuple[int, list[str]]] = {}
        self._prefix = tuple(prefix)
        self._element = element
        self.most = most if element is not None else min(len(self._prefix), len(self._prefix) if most is None else most)
        self.counted = max(2, len(self._prefix), least, self.most or 0)

    def identity(self, written: str) -> Hashable:
        """Equal for equal elements of a list without one twice; ``None`` if it is no element."""
        if written not in self._identities:
            assert self.unique is not None
            if len(self._identities) >= _MAX_KEPT:
                self._identities.clear()
            try:
                self._identities[written] = identity(parse_literal(written, self.unique))
            except LiteralError:
                return None
        return self._identities[written]

    def sample(self, parser: ValueParser, number: int) -> str | None:
        """One of the short elements of a parser, each of them another one; ``None`` if so many are not found."""
        asked, found = self._samples.get(parser, (0, []))
        if number >= asked:
            asked = 2 * number + _MAX_NUMBERED
            self._samples[parser] = asked, found  # all that a list of its own kind finds inside of an element
            self._samples[parser] = asked, (found := self._different(parser, asked))
        return found[number] if number < len(found) else None

    def _different(self, parser: ValueParser, most: int) -> list[str]:
        """Short elements of a parser, each of them another one; as many as are found."""
        found: dict[Hashable, str] = {}
        tried = 0
        for text in _rests([Start(parser)], itertools.count()):
            tried += 1
            read = self.identity(text)
            if read is not None and read not in found:
                found[read], tried = text, 0
            if len(found) == most or tried == _MAX_TRIED:
                break
        return list(found.values())

    def at(self, index: int) -> ValueParser | None:
        """The parser of an element; ``None`` if there cannot be so many."""
        if self.most is not None and index >= self.most:
            return None
        return self._prefix[index] if index < len(self._prefix) else self._element

    @property
    def inside(self) -> Sequence[ValueParser]:
        return [*self._prefix, *([self._element] if self._element is not None else [])]

    def opened(self, continuation: ParserState) -> "OpenList":
        return OpenList(self, continuation, 0)


class OpenList(Bracket):
    """An open list or tuple, with the number of its elements as far as it matters, and what they are if it matters."""

    def __init__(
        self,
        parser: Elements,
        continuation: ParserState,
        count: int,
        seen: frozenset[Hashable] = frozenset(),
        passed: Mapping[ValueParser, int] | None = None,
    ) -> None:
        self.continuation = continuation
        self.closer = _CLOSERS[parser.bracket]
        self.spacing = parser.spacing
        self._parser = parser
        self._count = count
        self.seen = seen
        self._passed = dict(passed or {})  # how many samples of a parser are there already

    @cached_property
    def _next(self) -> "OpenList":
        if self._count == self._parser.counted:
            return self
        return OpenList(self._parser, self.continuation, self._count + 1, self.seen, self._passed)

    def having(self, written: str) -> "OpenList | None":
        """The list behind an element; ``None`` if that is there already."""
        if not self.is_new(written):
            return None
        seen = self.seen | {self._parser.identity(written)}
        return OpenList(self._parser, self.continuation, self._count, seen, self._passed)

    def is_new(self, written: str) -> bool:
        """Whether it is an element that is not there yet."""
        read = self._parser.identity(written)
        return read is not None and read not in self.seen

    def unseen(self, states: Sequence[ParserState], written: str) -> str | None:
        """A short element that begins so and is not there yet; ``None`` if none is found."""
        known = len(self.seen)
        rests = itertools.islice(_rests(states, range(known, known + _MAX_NUMBERED)), known + _MAX_TRIED)
        return next((written + rest for rest in rests if self.is_new(written + rest)), None)

    def _new(self, parser: ValueParser) -> str | None:
        """A short element of a parser that is not there yet; ``None`` if none is found."""
        if isinstance(parser, Literals):
            left = parser.only(self.is_new)
            return None if left is None else left.shortest()
        if parser.is_single:
            return only if self.is_new(only := parser.shortest()) else None
        passed = self._passed.get(parser, 0)
        while (text := self._parser.sample(parser, passed)) is not None and not self.is_new(text):
            passed += 1
        self._passed[parser] = passed
        return text

    @cached_property
    def _element(self) -> ValueParser | None:
        """The parser of the current element."""
        parser = self._parser.at(self._count)
        if parser is None or not self.seen:
            return parser
        parsers = [left for one in parser.alternatives if (left := self._left(one)) is not None]
        return Union(parsers) if len(parsers) > 1 else parsers[0] if parsers else None

    def _left(self, parser: ValueParser) -> ValueParser | None:
        """The parser of the elements that are not there yet; ``None`` if there are none."""
        if isinstance(parser, Literals):
            return parser.only(self.is_new)
        return parser if self._new(parser) is not None else None

    @property
    def _needs_comma(self) -> bool:
        """Whether the current element is the only one of a tuple."""
        return self.closer == ")" and self._count == 0

    def members(self) -> Iterable[ParserState]:
        element = self._element
        if element is None:
            return []
        if self._parser.unique is None:
            return element.start(self)
        return [_Unique(self, [Start(element, _end_at(self.depth))])]

    def may_close(self, position: BracketPosition) -> bool:
        if position in ("member", "line"):
            # a list with too few items is ended, and found to be wrong, where no further item is found
            is_enough = self._count + 1 >= self._parser.least or self._next._element is None
            return is_enough and not self._needs_comma
        if position == "opened":
            return not self._parser.least or self._element is None
        return position == "comma" and self.closer == ")" and self._count == 1 and self._parser.least < 2

    def completed(self, position: BracketPosition) -> str:
        if self._element is None or self.may_close(position):
            return self.closer
        written, behind = self._filled(self._element)
        return written + behind.completion()

    def _filled(self, element: ValueParser) -> "tuple[str, OpenList]":
        """A short element, and the list behind it."""
        if self._parser.unique is None:
            return element.shortest(), self
        found = [text for one in element.alternatives if (text := self._new(one)) is not None]
        if not found:
            raise DocumentationError(f"a list needs more than {len(self.seen)} different items, and none is found")
        written = min(found, key=len)
        return written, self.having(written) or self

    def behind_comma(self) -> "OpenList | None":
        may_go_on = self._next._element is not None or (self._needs_comma and self._parser.least < 2)
        return self._next if may_go_on else None

    def completion(self) -> str:
        written: list[str] = []
        here = self
        while here._count + 1 < self._parser.least and (element := here._next._element) is not None:
            text, here = here._next._filled(element)
            written.append(self.spacing.comma + text)
        return "".join(written) + "," * here._needs_comma + self.closer


def _rests(states: Sequence[ParserState], numbers: Iterable[int]) -> Iterator[str]:
    """What completes an element: with a number, as long as any can be written, then the shorter beginnings first.

    Of ``"x`` and the numbers from 2 to 21: ``"``, ``2"``, ``3"``, and so on up to ``21"``, then ``0"``, ``1"``, ``a"``.
    """
    yield (shortest := completion(states))
    missed = 0
    for number in map(str, numbers):
        missed += 1
        if missed > _MAX_NUMBERED:
            break
        here: Sequence[ParserState] = states
        for end in range(min(len(shortest), _MAX_OPENING) + 1):
            if further := advance(here, number):
                missed = 0
                yield shortest[:end] + number + completion(further)
            here = advance(here, shortest[end : end + 1])
    waiting: deque[tuple[str, Sequence[ParserState]]] = deque([("", states)])
    steps = 0
    while waiting:
        opening, here = waiting.popleft()
        spans = [span for state in here for span in state.all_allowed_ranges()]
        possible = {chr(point) for first, stop in spans for point in range(first, min(stop, 128))}
        others = sorted({chr(first) for first, _ in spans if first >= 128})
        for character in (*filter(possible.__contains__, _CHARACTERS), *others):
            steps += 1
            if further := advance(here, character):
                yield opening + character + completion(further)
                waiting.append((opening + character, further))
        if steps > _MAX_STEPS:
            return


class _Unique(Checked):
    """Inside an element of a list without one twice.

    It goes on only as long as an element that is not there yet is found behind it: ``unseen`` is such a one.
    """

    def __init__(
        self, inside: OpenList, inner: Sequence[ParserState], written: str = "", unseen: str | None = None
    ) -> None:
        self.continuation = inside.continuation
        self._inside, self._inner, self._written = inside, inner, written
        self._unseen = unseen

    def behind(self, written: str) -> Sequence[ParserState]:
        behind = self._inside.having(written)
        return [] if behind is None else [behind]

    def going_on(self, inner: Sequence[ParserState], written: str) -> Sequence[ParserState]:
        unseen = self._unseen
        if self._inside.seen and len(written) <= _MAX_CHECKED and (unseen is None or not unseen.startswith(written)):
            unseen = self._inside.unseen(inner, written)
            if unseen is None:
                return []
        return [_Unique(self._inside, inner, written, unseen)]

    def completion(self) -> str:
        unseen = self._unseen
        if unseen is None or not unseen.startswith(self._written):
            unseen = self._inside.unseen(self._inner, self._written) or self._written + completion(self._inner)
        return unseen[len(self._written) :] + (self._inside.having(unseen) or self._inside).completion()

    def identity(self) -> tuple[object, ...]:
        return _Unique, self._inside, self._written

    def allowed_ranges(self) -> list[CharRange]:
        inner = {span for state in self._inner for span in state.all_allowed_ranges()}
        ascii_points = {point for first, stop in inner for point in range(first, min(stop, 128))}
        found = [span for span in inner if span[1] > 128 and self.advance(chr(max(span[0], 128)))]
        behind = [ord(","), ord("\n"), ord(self._inside.closer)]
        return [*char_ranges(c for c in map(chr, {*ascii_points, *behind}) if self.advance(c)), *found]
