"""Read a text character by character: to which places it leads, what completes them, and what may follow."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from lookup.values.shapes import END, Place, Span, byte_length

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
    able = [place for place in given if not place.is_stuck] if len(given) > 1 else given
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


def _ends(span: Span, size: int) -> tuple[bytes, bytes]:
    """The first bytes of the first and of the last code point; those of all others lie between, as UTF-8 is ordered."""
    return chr(span[0]).encode(errors="surrogatepass")[:size], chr(span[1] - 1).encode(errors="surrogatepass")[:size]
