"""Read a text character by character: what its readings become, what completes them, and what may follow them."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from lookup.values.shapes import Frame, Reading, Span, byte_length

_SIZES: Final = ((0, 0x80, 0, 0), (0x80, 0x800, 6, 0xC0), (0x800, 0x10000, 12, 0xE0), (0x10000, 0x110000, 18, 0xF0))
"""Code points with so many bytes, the bits behind those of the first byte, and what is added to it."""


def advance(readings: Sequence[Reading], text: str, most: int | None = None) -> list[Reading]:
    """The readings after ``text`` was added to a prefix; empty if no literal begins so. At most ``most`` are kept.

    Linear in ``text``: each reading reads each character once.
    """
    current = list(readings)
    position = 0
    while current and position < len(text):
        if len(current) == 1:
            current[0], position = current[0].skip(text, position)
        if position == len(text):
            break
        current = _step(current, text[position])[:most]
        position += 1
    return current


def _step(readings: Sequence[Reading], character: str) -> list[Reading]:
    """The distinct readings after one character."""
    if len(readings) == 1 and not readings[0].whole:
        only = list(readings[0].read(character))
        if len(only) < 2:
            return only
    following: dict[tuple[object, ...], Reading] = {}
    for reading in readings:
        found: list[Reading] = [*reading.read(character)]
        if reading.whole and reading.frame is not None:
            found += reading.frame.behind(character)
        for new in found:
            following.setdefault(new.identity(), new)
    return list(following.values())


def closing(readings: Iterable[Reading]) -> str:
    """The shortest text, in bytes, that completes one of the readings."""
    given = list(readings)
    able = [reading for reading in given if not reading.is_stuck] if len(given) > 1 else given
    return min((_closing(reading) for reading in able or given), key=byte_length)


def _closing(reading: Reading) -> str:
    return "".join([reading.closing(), *(frame.closing() for frame in _frames(reading.frame))])


def _frames(frame: Frame | None) -> Iterator[Frame]:
    while frame is not None:
        yield frame
        frame = frame.parent


def first_bytes(readings: Iterable[Reading]) -> frozenset[int]:
    """The first UTF-8 bytes of all characters that may follow."""
    return frozenset[int]().union(*[_first_bytes(span) for reading in readings for span in reading.all_spans()])


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
