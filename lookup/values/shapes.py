"""An incremental parser of values, character by character.

A ``Shape`` describes the literals of one type. Reading a prefix of a literal gives one ``Reading``, or several if a
union does not yet determine the type. A reading inside brackets has a ``Frame``, which refers to the frame around it.
All three are immutable, so that the states of a prefix are shared by all its continuations. A reading and its frames
tell what is still missing, from the inside out.
"""
# ruff: noqa: D102 - overriding methods are documented in the base class

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

Span = tuple[int, int]
"""Some code points, from the first one to the one behind the last one."""


def spans_of(characters: Iterable[str]) -> list[Span]:
    """The code points of characters."""
    return [(ord(character), ord(character) + 1) for character in characters]


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


class Fixed(Reading):
    """Before the rest of a fixed text, which is not empty; ``behind`` makes the reading that goes on behind it."""

    def __init__(self, frame: Frame | None, rest: str, behind: Callable[[], Reading]) -> None:
        self.frame = frame
        self._rest = rest
        self._behind = behind

    def read(self, character: str) -> Iterable[Reading]:
        if character != self._rest[0]:
            return []
        return [fixed(self.frame, self._rest[1:], self._behind)]

    def closing(self) -> str:
        return self._rest + self._behind().closing()

    def identity(self) -> tuple[object, ...]:
        return Fixed, self._rest, self._behind().identity()

    def spans(self) -> list[Span]:
        return spans_of(self._rest[0])


def fixed(frame: Frame | None, rest: str, behind: Callable[[], Reading]) -> Reading:
    """The reading before the rest of a fixed text, which may be empty."""
    return Fixed(frame, rest, behind) if rest else behind()


class Enclosed(Shape):
    """The literals of another shape between an opening and a closing text, which is not empty."""

    def __init__(self, opening: str, inner: Shape, closing: str) -> None:
        self._opening, self._inner, self._closing = opening, inner, closing

    @cached_property
    def size(self) -> int:
        return byte_length(self.shortest())

    @cached_property
    def longest_closing(self) -> int:
        inner = max(self._inner.longest_closing, self._inner.size)
        return byte_length(self._opening) + inner + byte_length(self._closing)

    def shortest(self) -> str:
        return self._opening + self._inner.shortest() + self._closing

    @cached_property
    def _outermost(self) -> "_Enclosing":
        return _Enclosing(None, self._closing)  # one object, so that readings with the same continuations are equal

    def start(self, frame: Frame | None) -> Iterable[Reading]:
        enclosing = self._outermost if frame is None else _Enclosing(frame, self._closing)
        return [fixed(enclosing, self._opening, lambda: Start(self._inner, enclosing))]


class _Enclosing(Frame):
    """The closing text around a literal."""

    def __init__(self, parent: Frame | None, closing: str) -> None:
        self.parent = parent
        self._closing = closing

    def behind(self, character: str) -> Iterable[Reading]:
        return Fixed(self.parent, self._closing, lambda: Ended(self.parent)).read(character)

    def closing(self) -> str:
        return self._closing

    def spans_behind(self) -> list[Span]:
        return spans_of(self._closing[0])


class Union(Shape):
    """The literals of several shapes."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self._shapes = shapes

    @cached_property
    def alternatives(self) -> tuple[Shape, ...]:
        return tuple(alternative for shape in self._shapes for alternative in shape.alternatives)

    @cached_property
    def size(self) -> int:
        return min(shape.size for shape in self.alternatives)

    @cached_property
    def longest_closing(self) -> int:
        return max(shape.longest_closing for shape in self.alternatives)

    def start(self, frame: Frame | None) -> Iterable[Reading]:
        return [reading for shape in self.alternatives for reading in shape.start(frame)]

    def shortest(self) -> str:
        return min(self.alternatives, key=lambda shape: shape.size).shortest()
