"""What a value looks like as text, read character by character.

A ``Shape`` describes the literals of one type. Reading the beginning of a literal gives ``Reading``s: mostly one, and
several where a union leaves open which of its types is being written. A reading that stands inside brackets knows them
as a ``Frame``, which knows the frame around it. All three are immutable, so a beginning is read once and shared by
everything that goes on from it; what is still missing is told by the reading and its frames, from the inside out.
"""
# ruff: noqa: D102 - an overriding method does what is said of the overridden one

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

ANY_CHARACTER: Final = "\u4e00"
"""A text that takes this one takes every character beyond ASCII."""

NO_LETTERS: Final = frozenset[str]()
"""No characters."""

NO_BYTES: Final = frozenset[int]()
"""No bytes."""

ASCII: Final = tuple(map(chr, range(128)))
"""All characters of one byte."""

_LEADING: Final = frozenset(range(0xC2, 0xF5))  # of all characters beyond ASCII


def byte_length(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text.encode())


class Reading(ABC):
    """One way to read a beginning: a member that is under way, or the gap before it.

    Attributes
    ----------
    frame : Frame or None
        The bracket whose member this is; None where it is the whole value.
    whole : bool
        Whether the member may end here.
    """

    frame: "Frame | None"
    whole = False

    @abstractmethod
    def read(self, character: str) -> Iterable["Reading"]:
        """The readings behind one character more, which does not end the member from outside."""

    @abstractmethod
    def closing(self) -> str:
        """A short text that completes the member."""

    @abstractmethod
    def identity(self) -> tuple[object, ...]:
        """Equal for readings that go on in the same way."""

    def skip(self, text: str, position: int) -> "tuple[Reading, int]":
        """The reading behind what can be read at once of ``text`` from ``position`` on, and where that ends."""
        return self, position

    def letters(self) -> Iterable[str]:
        """Characters beyond ASCII that may follow although not all of them may."""
        return ()

    def first_bytes(self) -> frozenset[int]:
        """What the UTF-8 of a character that may follow can begin with."""
        return leading_bytes(c for c in {*ASCII, *self.letters(), ANY_CHARACTER} if self.takes(c))

    def takes(self, character: str) -> bool:
        """Whether a character may follow, in the member or behind it."""
        return bool(self.read(character) or (self.whole and self.frame is not None and self.frame.behind(character)))


class Frame(ABC):
    """An open bracket.

    Attributes
    ----------
    parent : Frame or None
        The bracket around it.
    """

    parent: "Frame | None"

    @abstractmethod
    def behind(self, character: str) -> Iterable[Reading]:
        """The readings when ``character`` follows a whole member."""

    @abstractmethod
    def closing(self) -> str:
        """What completes the bracket behind a whole member."""

    def ended(self, written: str) -> list[Reading]:
        """The readings behind the closing quote of a text ``written``, which is a member."""
        return [Ended(self)]

    def admits(self, written: str) -> bool:
        """Whether the text ``written``, between its quotes, may be a member."""
        return True


class Shape(ABC):
    """The literals of one type in one notation.

    Attributes
    ----------
    size : int
        Bytes of the shortest literal.
    longest_closing : int
        Bytes that no ``closing`` exceeds, up to the end of the literal, once it is begun.
    bracket : str
        What all literals begin with that hold other values; empty for all others.
    width : int
        Most readings that a beginning can have.
    letters : frozenset of str
        Characters beyond ASCII that a literal may begin with.
    """

    bracket: str = ""

    @property
    def letters(self) -> frozenset[str]:
        return NO_LETTERS

    @property
    def width(self) -> int:
        return 1

    @property
    @abstractmethod
    def size(self) -> int: ...

    @property
    @abstractmethod
    def longest_closing(self) -> int: ...

    @abstractmethod
    def begin(self, character: str, frame: Frame | None) -> Iterable[Reading]:
        """The readings of a member of ``frame`` that begins with a character."""

    @abstractmethod
    def shortest(self) -> str:
        """A literal of ``size`` bytes."""


class Start(Reading):
    """Before the first character of a value."""

    def __init__(self, shape: Shape) -> None:
        self.frame = None
        self._shape = shape

    def read(self, character: str) -> Iterable[Reading]:
        return self._shape.begin(character, None)

    def closing(self) -> str:
        return self._shape.shortest()

    def identity(self) -> tuple[object, ...]:
        return Start, id(self._shape)

    def letters(self) -> Iterable[str]:
        return self._shape.letters


class Ended(Reading):
    """Behind the character that ends a member."""

    whole = True

    def __init__(self, frame: Frame | None) -> None:
        self.frame = frame

    def read(self, character: str) -> Iterable[Reading]:
        return ()

    def closing(self) -> str:
        return ""

    def identity(self) -> tuple[object, ...]:
        return Ended, id(self.frame)


def advance(readings: Sequence[Reading], text: str) -> list[Reading]:
    """The readings of a beginning with ``text`` behind it; empty if no literal begins so.

    Linear in ``text``: a character is looked at once for each of the readings.
    """
    current = list(readings)
    position = 0
    while current and position < len(text):
        if len(current) == 1:
            current[0], position = current[0].skip(text, position)
            if position == len(text):
                break
        current = _step(current, text[position])
        position += 1
    return current


def _step(readings: Iterable[Reading], character: str) -> list[Reading]:
    """The distinct readings behind one character."""
    following: dict[tuple[object, ...], Reading] = {}
    for reading in readings:
        found: list[Reading] = [*reading.read(character)]
        if reading.whole and reading.frame is not None:
            found += reading.frame.behind(character)
        for new in found:
            following.setdefault(new.identity(), new)
    return list(following.values())


def closing(readings: Iterable[Reading]) -> str:
    """The shortest text, in bytes, with which one of the readings becomes a whole literal."""
    return min((_closing(reading) for reading in readings), key=byte_length)


def _closing(reading: Reading) -> str:
    return "".join([reading.closing(), *(frame.closing() for frame in _frames(reading.frame))])


def _frames(frame: Frame | None) -> Iterator[Frame]:
    while frame is not None:
        yield frame
        frame = frame.parent


def leading_bytes(characters: Iterable[str]) -> frozenset[int]:
    """First bytes of the UTF-8 of characters, of which ``ANY_CHARACTER`` stands for all beyond ASCII."""
    taken = set(characters)
    return frozenset(c.encode()[0] for c in taken) | (_LEADING if ANY_CHARACTER in taken else NO_BYTES)


def is_letter(character: str) -> bool:
    """Whether a character is beyond ASCII."""
    return not character.isascii()
