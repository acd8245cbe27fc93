"""An incremental parser of values, character by character.

A ``Shape`` describes the literals of one type. A prefix of a literal is read to one ``Place``, or to several if a union
does not yet determine the type: what may stand next. Below it lies the place behind what stands there, and so on down
to ``END``. Places are immutable, so that those of a prefix are shared by all its continuations.
"""
# ruff: noqa: D102 - overriding methods are documented in the base class

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

Span = tuple[int, int]
"""Some code points, from the first one to the one behind the last one."""


def spans_of(characters: Iterable[str]) -> list[Span]:
    """The code points of characters."""
    return [(ord(character), ord(character) + 1) for character in characters]


def byte_length(text: str) -> int:
    """The length of a text in UTF-8 bytes."""
    return len(text.encode())


class Place(ABC):
    """What may stand next: the rest of a member, the gap before one, or what follows one in a bracket.

    Attributes
    ----------
    below : Place
        The place behind what stands here.
    whole : bool
        Whether nothing may stand here.
    is_stuck : bool
        Whether nothing is found that completes it: a free key that must be none of the named ones.
    """

    below: "Place"
    whole = False
    is_stuck = False

    @abstractmethod
    def read(self, character: str) -> "Iterable[Place]":
        """The places behind one more character that stands here."""

    @abstractmethod
    def closing(self) -> str:
        """A short text that completes what stands here."""

    def closings(self) -> Iterator[str]:
        """Texts that complete what stands here, roughly the shorter ones first."""
        yield self.closing()

    def identity(self) -> tuple[object, ...]:
        """Equal for places with the same continuations."""
        return (self,)

    def skip(self, text: str, position: int) -> "tuple[Place, int]":
        """Read as much of ``text`` as possible at once. Return the place and the position behind it."""
        return self, position

    @abstractmethod
    def spans(self) -> Iterable[Span]:
        """The characters that may stand here."""

    def all_spans(self) -> list[Span]:
        """The characters that may follow, here or below."""
        return [*self.spans(), *(self.below.spans() if self.whole else ())]

    @property
    def is_end(self) -> bool:
        """Whether a whole value may end here."""
        return self.whole and self.below is END

    def stack(self) -> "Iterator[Place]":
        """This place and those below, without ``END``."""
        place = self
        while place is not END:
            yield place
            place = place.below


class _End(Place):
    """Behind a value."""

    whole = True

    @property
    def below(self) -> Place:  # type: ignore[override]
        return self

    def read(self, character: str) -> Iterable[Place]:
        return ()

    def closing(self) -> str:
        return ""

    def spans(self) -> Iterable[Span]:
        return ()


END: Place = _End()
"""Behind a whole value: the lowest place."""


class Shape(ABC):
    """The literals of one type in one notation.

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
        """About ``size``, found without a look at shapes inside that may contain this one."""
        return self.size

    @property
    def alternatives(self) -> "tuple[Shape, ...]":
        """The shapes of a union; otherwise the shape itself."""
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
    def inside(self) -> "Sequence[Shape]":
        """The shapes of what its literals are made of."""
        return ()

    @cached_property
    def size(self) -> int:
        """See the class."""
        return byte_length(self.shortest())

    @abstractmethod
    def start(self, below: Place) -> Iterable[Place]:
        """The places before the first character of a literal that ``below`` follows."""

    @abstractmethod
    def shortest(self) -> str:
        """A literal that is as short as possible, roughly."""


class Start(Place):
    """Before the first character of a value."""

    def __init__(self, shape: Shape, below: Place = END) -> None:
        self.below = below
        self.shape = shape

    @cached_property
    def _ways(self) -> Sequence[Place]:
        ways = list(self.shape.start(self.below))
        return ways + [way.below for way in ways if way.whole]

    def read(self, character: str) -> Iterable[Place]:
        return [place for way in self._ways for place in way.read(character)]

    def closing(self) -> str:
        return self.shape.shortest()

    def identity(self) -> tuple[object, ...]:
        return Start, self.shape, self.below

    def spans(self) -> list[Span]:
        return [span for way in self._ways for span in way.spans()]


class Fixed(Place):
    """Before the rest of a fixed text, which is not empty."""

    def __init__(self, rest: str, below: Place) -> None:
        self.below = below
        self._rest = rest

    def read(self, character: str) -> Iterable[Place]:
        return [fixed(self._rest[1:], self.below)] if character == self._rest[0] else ()

    def closing(self) -> str:
        return self._rest

    def identity(self) -> tuple[object, ...]:
        return Fixed, self._rest, *self.below.identity()

    def spans(self) -> list[Span]:
        point = ord(self._rest[0])
        return [(point, point + 1)]


def fixed(rest: str, below: Place) -> Place:
    """The place before the rest of a fixed text, which may be empty."""
    return Fixed(rest, below) if rest else below


class LeafShape(Shape):
    """Literals without brackets, read in states that the shape makes.

    Attributes
    ----------
    first : object
        The state before the first character.
    """

    first: Any

    @abstractmethod
    def step(self, state: Any, character: str) -> Any:
        """The state behind a character; ``None`` if it may not follow."""

    @abstractmethod
    def ends(self, state: Any) -> bool:
        """Whether a literal may end here."""

    @abstractmethod
    def rest(self, state: Any) -> str:
        """A short text that completes a literal."""

    def rests(self, state: Any) -> Iterator[str]:
        """Texts that complete a literal, roughly the shorter ones first."""
        yield self.rest(state)

    def skip(self, state: Any, text: str, position: int) -> tuple[Any, int]:
        """Read as much of ``text`` as possible at once. Return the state and the position behind it."""
        return state, position

    @abstractmethod
    def spans(self, state: Any) -> Iterable[Span]:
        """The characters that may follow."""

    def shortest(self) -> str:
        return self.rest(self.first)

    def start(self, below: Place) -> Iterable[Place]:
        return [Leaf(self, self.first, below)]


class Leaf(Place):
    """Inside a literal without brackets."""

    def __init__(self, shape: LeafShape, state: Any, below: Place) -> None:
        self.below = below
        self._shape = shape
        self._state = state
        self.whole = shape.ends(state)

    def read(self, character: str) -> Iterable[Place]:
        state = self._shape.step(self._state, character)
        return () if state is None else [Leaf(self._shape, state, self.below)]

    def skip(self, text: str, position: int) -> tuple[Place, int]:
        state, end = self._shape.skip(self._state, text, position)
        return (Leaf(self._shape, state, self.below) if end > position else self), end

    def closing(self) -> str:
        return self._shape.rest(self._state)

    def closings(self) -> Iterator[str]:
        return self._shape.rests(self._state)

    def identity(self) -> tuple[object, ...]:
        return Leaf, self._shape, self._state, self.below

    def spans(self) -> Iterable[Span]:
        return self._shape.spans(self._state)


class Enclosed(Shape):
    """The literals of another shape between an opening and a closing text, which is not empty."""

    def __init__(self, opening: str, inner: Shape, closing: str) -> None:
        self._opening, self._inner, self._closing = opening, inner, closing

    @property
    def opener(self) -> str:
        return self._opening + self._inner.bracket

    @property
    def inside(self) -> Sequence[Shape]:
        return (self._inner,)

    def shortest(self) -> str:
        return self._opening + self._inner.shortest() + self._closing

    def start(self, below: Place) -> Iterable[Place]:
        return [fixed(self._opening, Start(self._inner, Fixed(self._closing, below)))]


class Union(Shape):
    """The literals of several shapes."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self._shapes = shapes

    @cached_property
    def alternatives(self) -> tuple[Shape, ...]:
        return tuple(alternative for shape in self._shapes for alternative in shape.alternatives)

    @property
    def inside(self) -> Sequence[Shape]:
        return self._shapes

    @property
    def opener(self) -> str:
        openers = {shape.opener for shape in self.alternatives}
        return openers.pop() if len(openers) == 1 else ""

    @property
    def listed(self) -> tuple[str, ...] | None:
        found = [shape.listed for shape in self.alternatives]
        return None if None in found else tuple(dict.fromkeys(text for texts in found for text in texts or ()))

    def start(self, below: Place) -> Iterable[Place]:
        return [place for shape in self.alternatives for place in shape.start(below)]

    def shortest(self) -> str:
        return min(self.alternatives, key=lambda shape: shape.size).shortest()
