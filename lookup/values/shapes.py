"""An incremental parser of values, character by character.

A ``Shape`` describes the literals of one type. Reading a prefix of a literal gives one ``Reading``, or several if a
union does not yet determine the type. A reading inside brackets has a ``Frame``, which refers to the frame around it.
All three are immutable, so that the states of a prefix are shared by all its continuations. A reading and its frames
tell what is still missing, from the inside out.
"""
# ruff: noqa: D102 - overriding methods are documented in the base class

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Final

Span = tuple[int, int]
"""Some code points, from the first one to the one behind the last one."""


def spans_of(characters: Iterable[str]) -> list[Span]:
    """The code points of characters."""
    return [(ord(character), ord(character) + 1) for character in characters]


_SIZES: Final = ((0, 0x80, 0, 0), (0x80, 0x800, 6, 0xC0), (0x800, 0x10000, 12, 0xE0), (0x10000, 0x110000, 18, 0xF0))
"""Code points with so many bytes, the bits behind those of the first byte, and what is added to it."""


def byte_length(text: str) -> int:
    """The length of a text in UTF-8 bytes."""
    return len(text.encode())


class Reading(ABC):
    """One way to read a prefix: an unfinished member, or the gap before a member.

    Attributes
    ----------
    frame : Frame or None
        The bracket around the member; ``None`` if the member is the whole value.
    whole : bool
        Whether the member may end here.
    """

    frame: "Frame | None"
    whole = False

    @property
    def is_stuck(self) -> bool:
        """Whether nothing is found that completes the member: a free key that must be none of the named ones."""
        return False

    @abstractmethod
    def read(self, character: str) -> Iterable["Reading"]:
        """The readings after one more character of the member."""

    @abstractmethod
    def closing(self) -> str:
        """A short text that completes the member."""

    @abstractmethod
    def identity(self) -> tuple[object, ...]:
        """Equal for readings with the same continuations."""

    def common_value(self) -> Hashable | None:
        """Equal for readings before the same value, which can be read once for all of them; ``None`` for all others."""
        return None

    def joined(self, others: "Sequence[Reading]") -> "Reading":
        """One reading for this one and others with the same ``common_value``."""
        return self

    def skip(self, text: str, position: int) -> "tuple[Reading, int]":
        """Read as much of ``text`` as possible at once. Return the reading and the position behind it."""
        return self, position

    @abstractmethod
    def spans(self) -> Iterable[Span]:
        """The characters that may follow inside the member."""

    def all_spans(self) -> list[Span]:
        """The characters that may follow, inside the member or behind it."""
        behind = self.frame.spans_behind() if self.whole and self.frame is not None else ()
        return [*self.spans(), *behind]


class Frame(ABC):
    """An open bracket.

    Attributes
    ----------
    parent : Frame or None
        The frame around it.
    """

    parent: "Frame | None"

    @abstractmethod
    def behind(self, character: str) -> Iterable[Reading]:
        """The readings after ``character`` behind a complete member."""

    @abstractmethod
    def closing(self) -> str:
        """The text that completes the bracket behind a complete member."""

    @abstractmethod
    def spans_behind(self) -> Iterable[Span]:
        """The characters that may follow a complete member."""

    def ended(self, written: str) -> list[Reading]:
        """The readings behind the closing quote of a member ``written`` that is a text."""
        return [Ended(self)]

    def admits(self, written: str) -> bool:
        """Whether the text ``written``, with its quotes, may be a member."""
        return True

    def rest_behind(self, written: str) -> str:
        """What completes the bracket behind a member ``written`` that is a text, apart from ``closing``."""
        return ""


class Shape(ABC):
    """The literals of one type in one notation.

    Attributes
    ----------
    size : int
        Bytes of the shortest literal.
    longest_closing : int
        Upper bound on the bytes that complete a literal that has begun.
    bracket : str
        The opening bracket of lists, tuples and dicts; empty for all others.
    """

    bracket: str = ""

    @property
    def rank(self) -> int:
        """About ``size``, found without a look at shapes inside that may contain this one."""
        return self.size

    @property
    def alternatives(self) -> "tuple[Shape, ...]":
        """The shapes of a union; otherwise the shape itself."""
        return (self,)

    @property
    @abstractmethod
    def size(self) -> int: ...

    @property
    @abstractmethod
    def longest_closing(self) -> int: ...

    @abstractmethod
    def start(self, frame: Frame | None) -> Iterable[Reading]:
        """The readings before the first character of a member of ``frame``."""

    @abstractmethod
    def shortest(self) -> str:
        """A literal of ``size`` bytes."""


class Start(Reading):
    """Before the first character of a value."""

    def __init__(self, shape: Shape, frame: Frame | None = None) -> None:
        self.frame = frame
        self.shape = shape

    @cached_property
    def _ways(self) -> Sequence[Reading]:
        return list(self.shape.start(self.frame))

    def read(self, character: str) -> Iterable[Reading]:
        return [reading for way in self._ways for reading in way.read(character)]

    def closing(self) -> str:
        return self.shape.shortest()

    def identity(self) -> tuple[object, ...]:
        return Start, self.shape, self.frame

    def spans(self) -> list[Span]:
        return [span for way in self._ways for span in way.spans()]


class Ended(Reading):
    """Behind the last character of a member."""

    whole = True

    def __init__(self, frame: Frame | None) -> None:
        self.frame = frame

    def read(self, character: str) -> Iterable[Reading]:
        return ()

    def closing(self) -> str:
        return ""

    def identity(self) -> tuple[object, ...]:
        return Ended, self.frame

    def spans(self) -> list[Span]:
        return []


def advance(readings: Sequence[Reading], text: str, most: int | None = None) -> list[Reading]:
    """The readings after ``text`` was added to a prefix; empty if no literal begins so. At most ``most`` are kept.

    Linear in ``text``: each reading reads each character once.
    """
    current = list(readings)
    position = 0
    while current and position < len(text):
        position = _skip(current, text, position)
        if position == len(text):
            break
        current = _step(current, text[position])[:most]
        position += 1
    return current


def _skip(readings: list[Reading], text: str, position: int) -> int:
    """Let all readings read as much of ``text`` as all of them can at once. Return the position behind it."""
    if len(readings) == 1:
        readings[0], position = readings[0].skip(text, position)
        return position
    skipped = [reading.skip(text, position) for reading in readings]
    end = min(behind for _, behind in skipped)
    if end > position and any(behind > end for _, behind in skipped):
        skipped = [reading.skip(text[:end], position) for reading in readings]
    if end == position or any(behind != end for _, behind in skipped):
        return position
    readings[:] = [reading for reading, _ in skipped]
    return end


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
    return _joined(list(following.values())) if len(following) > 1 else list(following.values())


def _joined(readings: list[Reading]) -> list[Reading]:
    """The readings, with those before the same value as one."""
    groups: dict[Hashable, list[Reading]] = {}
    for reading in readings:
        common = reading.common_value()
        groups.setdefault(reading if common is None else common, []).append(reading)
    return [group[0].joined(group[1:]) if len(group) > 1 else group[0] for group in groups.values()]


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
