"""Read a text character by character: to which places it leads, what completes them, what may follow, open brackets."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Final, Literal

from lookup.values.notations import SPACED, Spacing
from lookup.values.shapes import END, Fixed, Place, Shape, Span, byte_length, spans_of

_NEVER_FIRST: Final = range(0x80, 0xC2)
"""Bytes that begin no character in UTF-8."""


def advance(places: Sequence[Place], text: str, most: int | None = None) -> list[Place]:
    """The places after ``text`` was added to a prefix; empty if no literal begins so. At most ``most`` are kept.

    Linear in ``text``: each place reads each character once.
    """
    current = list(places)
    position = 0
    while current and position < len(text):
        if len(current) == 1:
            current[0], position = current[0].skip(text, position)
        if position == len(text):
            break
        current = _step(current, text[position])[:most]
        position += 1
    return current


def _step(places: Sequence[Place], character: str) -> list[Place]:
    """The distinct places after one character."""
    found: list[Place] = []
    for place in places:
        found += place.read(character)
        if place.whole:
            found += place.below.read(character)
    if len(found) < 2:
        return found
    distinct: dict[tuple[object, ...], Place] = {}
    for place in found:
        distinct.setdefault(place.identity(), place)
    return list(distinct.values())


def closing(places: Iterable[Place]) -> str:
    """The shortest text, in bytes, that completes one of the places."""
    given = list(places)
    if len(given) == 1:
        return _closing(given[0])
    able = [place for place in given if not place.is_stuck]
    return min((_closing(place) for place in able or given), key=byte_length)


def _closing(place: Place) -> str:
    return "".join([one.closing() for one in place.stack()])


def closings(place: Place) -> Iterator[str]:
    """Texts that complete a place and those below, roughly the shorter ones first."""
    if place is END:
        yield ""
        return
    for text in place.closings():
        for rest in closings(place.below):
            yield text + rest


class Checked(Place):
    """Inside a member that is checked when it is finished: a free key, or an element that no other may equal.

    Attributes
    ----------
    below : Place
        The place behind the bracket around it.
    _inner : sequence of Place
        What may stand next in the member alone.
    _written : str
        What of the member stands before.
    """

    _inner: Sequence[Place]
    _written: str

    @abstractmethod
    def behind(self, written: str) -> "Sequence[Place]":
        """The place behind the finished member; none if it may not stand here."""

    @abstractmethod
    def going_on(self, inner: Sequence[Place], written: str) -> "Sequence[Place]":
        """The place behind more of the member, which goes on; none if nothing that begins so may stand here."""

    def read(self, character: str) -> Iterable[Place]:
        further = _step(self._inner, character)
        found: list[Place] = []
        if inner := [place for place in further if place is not END]:
            found += self.going_on(inner, self._written + character)
        if len(inner) < len(further):
            found += self.behind(self._written + character)
        for place in self._inner:
            if place.whole and place.below is END:
                found += [new for behind in self.behind(self._written) for new in behind.read(character)]
                break
        return found


def first_bytes(places: Iterable[Place]) -> frozenset[int]:
    """The first UTF-8 bytes of all characters that may follow."""
    return frozenset[int]().union(*[_first_bytes(span) for place in places for span in place.all_spans()])


@lru_cache(maxsize=4096)
def _first_bytes(span: Span) -> frozenset[int]:
    first, last = _ends(span, 1)
    return frozenset(range(first[0], last[0] + 1)).difference(_NEVER_FIRST)


def may_begin(part: bytes, span: Span) -> bool:
    """Whether the UTF-8 bytes of one of some code points begin with ``part``, with which a character begins."""
    first, last = _ends(span, len(part))
    return first <= part <= last


def beginning_with(part: bytes, span: Span) -> Iterator[str]:
    """The first and the last of some code points whose UTF-8 bytes begin with ``part``."""
    missing = sum(part[0] >= lead for lead in (0xC0, 0xE0, 0xF0)) + 1 - len(part)
    begun = part[0] & (0x7F >> (missing + len(part)))
    for byte in part[1:]:
        begun = begun << 6 | byte & 0x3F
    first, stop = max(span[0], begun << 6 * missing), min(span[1], begun + 1 << 6 * missing)
    for point in {first, stop - 1} if first < stop else ():
        with suppress(UnicodeEncodeError):
            if chr(point).encode().startswith(part):  # no other spelling of fewer bytes
                yield chr(point)


def _ends(span: Span, size: int) -> tuple[bytes, bytes]:
    """The first bytes of the first and of the last code point; those of all others lie between, as UTF-8 is ordered."""
    return chr(span[0]).encode(errors="surrogatepass")[:size], chr(span[1] - 1).encode(errors="surrogatepass")[:size]


After = Literal["opened", "comma", "space", "colon", "value"]
"""What a gap stands behind: the bracket, a comma, the optional space behind a comma, a key (``colon``), or a colon."""


class Bracket(Place):
    """Behind a member of an open bracket, whose members are separated by commas."""

    closer: str
    spacing: Spacing = SPACED

    @abstractmethod
    def members(self) -> Iterable[Place]:
        """The places before the next member or its key."""

    @abstractmethod
    def may_close(self, after: After) -> bool:
        """Whether the bracket may be closed in this gap."""

    @abstractmethod
    def completed(self, after: After) -> str:
        """The text that completes the bracket in this gap."""

    def value_shape(self) -> Shape | None:
        """The shape of the last key's value."""
        return None

    def spans(self) -> list[Span]:
        return spans_of(character for character in ("," + self.closer) if self.read(character))


class BracketShape(Shape):
    """Literals between brackets."""

    @abstractmethod
    def opened(self, below: Place) -> Bracket:
        """The bracket behind its opening, which ``below`` follows."""

    def shortest(self) -> str:
        return self.bracket + self.opened(END).completed("opened")

    def start(self, below: Place) -> Iterable[Place]:
        return [Fixed(self.bracket, Gap(self.opened(below), "opened"))]


class Gap(Place):
    """Inside a bracket, before a member, a key or a value."""

    def __init__(self, inside: Bracket, after: After, spaced: bool = False) -> None:
        self.below = inside.below
        self._inside = inside
        self._after: After = after
        self._spaced = spaced

    def read(self, character: str) -> Iterable[Place]:
        inside, after = self._inside, self._after
        if after == "colon":
            return [Gap(inside, "value")] if character == ":" else []
        if character == " " and not self._spaced and self._space:
            return [Gap(inside, "space" if after == "comma" else "value", spaced=True)]
        if character == inside.closer and after != "value":
            return [inside.below] if inside.may_close(after) else []
        return [place for way in self._ways for place in way.read(character)]

    @property
    def _ways(self) -> list[Place]:
        """The places before the member or value."""
        if self._after == "value":
            shape = self._inside.value_shape()
            return [] if shape is None else list(shape.start(self._inside))
        return list(self._inside.members())

    def spans(self) -> list[Span]:
        if self._after == "colon":
            return spans_of(":")
        found = [span for way in self._ways for span in way.spans()]
        space = " " if self._space and not self._spaced else ""
        closer = self._inside.closer if self._after != "value" and self._inside.may_close(self._after) else ""
        return [*spans_of(space + closer), *found]

    @property
    def _space(self) -> str:
        """The optional space behind a comma or colon."""
        if self._after == "comma":
            return self._inside.spacing.comma[1:]
        return self._inside.spacing.colon[1:] if self._after == "value" else ""

    def closing(self) -> str:
        missing = "" if self._spaced else self._space
        if self._after == "comma" and self._inside.may_close("comma"):
            missing = ""
        return missing + self._inside.completed(self._after)

    def identity(self) -> tuple[object, ...]:
        return Gap, self._inside, self._after, self._spaced
