"""Shapes of lists and tuples (``lookup.values.shapes``), and the gaps between members of brackets."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Final, Literal

from lookup.values.enclosed_shapes import Fixed
from lookup.values.notations import SPACED, Spacing
from lookup.values.shapes import Ended, Frame, Reading, Shape, Span, byte_length, spans_of

Place = Literal["opened", "comma", "space", "colon", "value"]
"""What a gap follows: the bracket, a comma, the optional space behind a comma, a key (``colon``), or a colon."""

_CLOSERS: Final = {"[": "]", "(": ")", "{": "}"}


class Bracket(Frame):
    """An open bracket whose members are separated by commas."""

    closer: str
    spacing: Spacing = SPACED

    @abstractmethod
    def members(self) -> Iterable[Reading]:
        """The readings before the next member or its key."""

    @abstractmethod
    def may_close(self, place: Place) -> bool:
        """Whether the bracket may be closed in this gap."""

    @abstractmethod
    def completed(self, place: Place) -> str:
        """The text that completes the bracket in this gap."""

    def value_shape(self) -> Shape | None:
        """The shape of the last key's value."""
        return None

    def joined(self, others: "Sequence[Bracket]") -> "Bracket":
        """One bracket for this one and others, before values of one shape."""
        return self

    def spans_behind(self) -> list[Span]:
        return spans_of(character for character in ("," + self.closer) if self.behind(character))


class Gap(Reading):
    """Inside a bracket, before a member, a key or a value."""

    def __init__(self, inside: Bracket, place: Place, spaced: bool = False) -> None:
        self.frame = inside.parent
        self._inside = inside
        self._place: Place = place
        self._spaced = spaced

    def read(self, character: str) -> Iterable[Reading]:
        inside, place = self._inside, self._place
        if place == "colon":
            return [Gap(inside, "value")] if character == ":" else []
        if character == " " and not self._spaced and self._space:
            return [Gap(inside, "space" if place == "comma" else "value", spaced=True)]
        if character == inside.closer and place != "value":
            return [Ended(inside.parent)] if inside.may_close(place) else []
        return [reading for way in self._ways for reading in way.read(character)]

    @property
    def _ways(self) -> list[Reading]:
        """The readings before the member or value."""
        if self._place == "value":
            shape = self._inside.value_shape()
            return [] if shape is None else list(shape.start(self._inside))
        return list(self._inside.members())

    def spans(self) -> list[Span]:
        if self._place == "colon":
            return spans_of(":")
        found = [span for way in self._ways for span in way.spans()]
        space = " " if self._space and not self._spaced else ""
        closer = self._inside.closer if self._place != "value" and self._inside.may_close(self._place) else ""
        return [*spans_of(space + closer), *found]

    @property
    def _space(self) -> str:
        """The optional space behind a comma or colon."""
        if self._place == "comma":
            return self._inside.spacing.comma[1:]
        return self._inside.spacing.colon[1:] if self._place == "value" else ""

    def closing(self) -> str:
        missing = "" if self._spaced else self._space
        if self._place == "comma" and self._inside.may_close("comma"):
            missing = ""
        return missing + self._inside.completed(self._place)

    def identity(self) -> tuple[object, ...]:
        return Gap, self._inside, self._place, self._spaced

    def common_value(self) -> Hashable | None:
        shape = self._inside.value_shape() if self._place in ("colon", "value") else None
        return None if shape is None else (self._place, self._spaced, shape, self._inside.parent)

    def joined(self, others: Sequence[Reading]) -> Reading:
        brackets = [other._inside for other in others if isinstance(other, Gap)]
        return Gap(self._inside.joined(brackets), self._place, self._spaced)


class Elements(Shape):
    """A list or a tuple.

    Parameters
    ----------
    bracket : {"[", "("}
        A tuple of one element ends with a comma.
    element : Shape, optional
        The shape of the elements behind ``prefix``; without it there are none.
    spacing : Spacing
    prefix : sequence of Shape
        The shapes of the first elements.
    least, most : int
        The number of elements; ``most`` may be ``None``.
    distinct : Distinct, optional
        Makes sure that no element stands there twice.
    """

    def __init__(
        self,
        bracket: Literal["[", "("],
        element: Shape | None,
        spacing: Spacing = SPACED,
        prefix: Sequence[Shape] = (),
        least: int = 0,
        most: int | None = None,
        distinct: "Distinct | None" = None,
    ) -> None:
        self.bracket = bracket
        self.spacing = spacing
        self.least = least
        self.distinct = distinct
        self._prefix = tuple(prefix)
        self._element = element
        self.most = most if element is not None else min(len(self._prefix), len(self._prefix) if most is None else most)
        self.counted = max(2, len(self._prefix), least, self.most or 0)

    def at(self, index: int) -> Shape | None:
        """The shape of an element; ``None`` if there cannot be so many."""
        if self.most is not None and index >= self.most:
            return None
        return self._prefix[index] if index < len(self._prefix) else self._element

    @property
    def _shapes(self) -> list[Shape]:
        return [*self._prefix, *([self._element] if self._element is not None else [])]

    @cached_property
    def size(self) -> int:
        return byte_length(self.shortest())

    @cached_property
    def longest_closing(self) -> int:
        # The bracket, and either a space before the element or the comma of a tuple of one element.
        under_way = max((max(shape.longest_closing, shape.size) for shape in self._shapes), default=0) + 2
        return under_way + (self.size if self.least else 0)

    def shortest(self) -> str:
        return self.bracket + OpenList(self, None, 0).completed("opened")

    def start(self, frame: Frame | None) -> Iterable[Reading]:
        return [Fixed(frame, self.bracket, lambda: Gap(OpenList(self, frame, 0), "opened"))]


class Distinct(ABC):
    """Keeps the elements of a list apart."""

    @abstractmethod
    def identity(self, written: str) -> Hashable:
        """A key that is equal for equal elements."""

    @abstractmethod
    def without(self, shape: Shape, seen: frozenset[Hashable]) -> Shape | None:
        """The shape of the elements that are not there yet; ``None`` if there are none."""

    @abstractmethod
    def start(self, shape: Shape, inside: "OpenList") -> Reading:
        """The reading before an element, which ends behind it by itself."""

    @abstractmethod
    def shortest(self, shape: Shape, seen: frozenset[Hashable]) -> str:
        """A short element that is not there yet."""


class OpenList(Bracket):
    """An open list or tuple, with the number of its elements as far as it matters, and what they are if it matters."""

    def __init__(
        self, shape: Elements, parent: Frame | None, count: int, seen: frozenset[Hashable] = frozenset()
    ) -> None:
        self.parent = parent
        self.closer = _CLOSERS[shape.bracket]
        self.spacing = shape.spacing
        self._shape = shape
        self._count = count
        self.seen = seen

    @cached_property
    def _next(self) -> "OpenList":
        return (
            self
            if self._count == self._shape.counted
            else OpenList(self._shape, self.parent, self._count + 1, self.seen)
        )

    def having(self, written: str) -> "OpenList | None":
        """The list behind an element; ``None`` if it is there already."""
        distinct = self._shape.distinct
        assert distinct is not None
        identity = distinct.identity(written)
        if identity in self.seen:
            return None
        return OpenList(self._shape, self.parent, self._count, self.seen | {identity})

    @cached_property
    def _element(self) -> Shape | None:
        """The shape of the current element."""
        shape, distinct = self._shape.at(self._count), self._shape.distinct
        return shape if shape is None or distinct is None else distinct.without(shape, self.seen)

    @property
    def _needs_comma(self) -> bool:
        """Whether the current element is the only one of a tuple."""
        return self.closer == ")" and self._count == 0

    def members(self) -> Iterable[Reading]:
        element, distinct = self._element, self._shape.distinct
        if element is None:
            return []
        return element.start(self) if distinct is None else [distinct.start(element, self)]

    def may_close(self, place: Place) -> bool:
        if place == "opened":
            return not self._shape.least
        return place == "comma" and self.closer == ")" and self._count == 1 and self._shape.least < 2

    def completed(self, place: Place) -> str:
        if self.may_close(place):
            return self.closer
        if self._element is None:
            return self.closer
        written, behind = self._filled(self._element)
        return written + behind.closing()

    def _filled(self, element: Shape) -> "tuple[str, OpenList]":
        """A short element, and the list behind it."""
        distinct = self._shape.distinct
        if distinct is None:
            return element.shortest(), self
        written = distinct.shortest(element, self.seen)
        return written, self.having(written) or self

    def behind(self, character: str) -> Iterable[Reading]:
        if character == ",":
            may_go_on = self._next._element is not None or (self._needs_comma and self._shape.least < 2)
            return [Gap(self._next, "comma")] if may_go_on else []
        may_end = character == self.closer and not self._needs_comma and self._count + 1 >= self._shape.least
        return [Ended(self.parent)] if may_end else []

    def closing(self) -> str:
        written: list[str] = []
        here = self
        while here._count + 1 < self._shape.least and (element := here._next._element) is not None:
            text, here = here._next._filled(element)
            written.append(self.spacing.comma + text)
        return "".join(written) + "," * here._needs_comma + self.closer
