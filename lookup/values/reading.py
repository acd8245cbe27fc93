"""Read a text character by character: to which places it leads, what completes them, and what may follow."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from lookup.values.shapes import END, Place, Span, byte_length

_SIZES: Final = ((0, 0x80, 0, 0), (0x80, 0x800, 6, 0xC0), (0x800, 0x10000, 12, 0xE0), (0x10000, 0x110000, 18, 0xF0))
"""Code points with so many bytes, the bits behind those of the first byte, and what is added to it."""


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
    first, stop = span
    found: set[int] = set()
    for low, high, shift, lead in _SIZES:
        if first < high and stop > low:
            found.update(range((max(first, low) >> shift) + lead, (min(stop, high) - 1 >> shift) + lead + 1))
    return frozenset(found)


def begun(part: bytes) -> Span:
    """The code points of the characters whose UTF-8 bytes begin so."""
    low, high, shift, lead = next(size for size in reversed(_SIZES) if part[0] >= size[3])
    point = part[0] - lead
    for byte in part[1:]:
        point, shift = point << 6 | byte & 0x3F, shift - 6
    return max(point << shift, low), min((point + 1) << shift, high)
