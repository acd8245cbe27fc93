"""Shapes of lists and tuples (``lookup.values.shapes``), and the gaps between members of brackets."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property
from typing import Final, Literal

from lookup.values.notations import SPACED, Spacing
from lookup.values.shapes import Ended, Frame, Reading, Shape

Place = Literal["opened", "comma", "space", "colon", "value"]
"""What a gap follows: the bracket, a comma, the optional space behind a comma, a key (``colon``), or a colon."""

_CLOSERS: Final = {"[": "]", "(": ")", "{": "}"}


class Bracket(Frame):
    """An open bracket whose members are separated by commas."""

    closer: str
    spacing: Spacing = SPACED

    @abstractmethod
    def member(self, character: str) -> Iterable[Reading]:
        """The readings after the first character of the next member or its key."""

    @abstractmethod
    def may_close(self, place: Place) -> bool:
        """Whether the bracket may be closed in this gap."""

    @abstractmethod
    def completed(self, place: Place) -> str:
        """The text that completes the bracket in this gap."""

    def value(self, character: str) -> Iterable[Reading]:
        """The readings after the first character of the last key's value."""
        return ()

    def letters(self, place: Place) -> Iterable[str]:
        """The non-ASCII characters that may follow in this gap, if not all of them may."""
        return ()


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
        if place == "value":
            return inside.value(character)
        if character == inside.closer:
            return [Ended(inside.parent)] if inside.may_close(place) else []
        return inside.member(character)

    @property
    def _space(self) -> str:
        """The optional space behind a comma or colon."""
        spacing = self._inside.spacing
        return {"comma": spacing.comma[1:], "value": spacing.colon[1:]}.get(self._place, "")

    def closing(self) -> str:
        missing = "" if self._spaced else self._space
        if self._place == "comma" and self._inside.may_close("comma"):
            missing = ""
        return missing + self._inside.completed(self._place)

    def identity(self) -> tuple[object, ...]:
        return Gap, id(self._inside), self._place, self._spaced

    def letters(self) -> Iterable[str]:
        return self._inside.letters(self._place)


class Elements(Shape):
    """A list or a tuple.

    Parameters
    ----------
    bracket : {"[", "("}
        A tuple of one element ends with a comma.
    """

    def __init__(self, bracket: Literal["[", "("], element: Shape, spacing: Spacing = SPACED) -> None:
        self.bracket = bracket
        self.element = element
        self.spacing = spacing

    size = 2

    @cached_property
    def width(self) -> int:
        return self.element.width

    @cached_property
    def longest_closing(self) -> int:
        # The bracket, and either a space before the element or the comma of a tuple of one element.
        return max(self.element.longest_closing, self.element.size) + 2

    def shortest(self) -> str:
        return self.bracket + _CLOSERS[self.bracket]

    def begin(self, character: str, frame: Frame | None) -> Iterable[Reading]:
        return [Gap(_Open(self, frame, 0), "opened")] if character == self.bracket else []


class _Open(Bracket):
    """An open list or tuple, with the number of its elements (at most 2)."""

    def __init__(self, shape: Elements, parent: Frame | None, count: int) -> None:
        self.parent = parent
        self.closer = _CLOSERS[shape.bracket]
        self.spacing = shape.spacing
        self._shape = shape
        self._count = count

    @cached_property
    def _next(self) -> "_Open":
        return self if self._count == 2 else _Open(self._shape, self.parent, self._count + 1)

    @property
    def _needs_comma(self) -> bool:
        """Whether the current element is the only one of a tuple."""
        return self.closer == ")" and self._count == 0

    def member(self, character: str) -> Iterable[Reading]:
        return self._shape.element.begin(character, self)

    def may_close(self, place: Place) -> bool:
        return place == "opened" or (place == "comma" and self.closer == ")" and self._count == 1)

    def completed(self, place: Place) -> str:
        return self.closer if self.may_close(place) else self._shape.element.shortest() + self.closing()

    def behind(self, character: str) -> Iterable[Reading]:
        if character == ",":
            return [Gap(self._next, "comma")]
        return [Ended(self.parent)] if character == self.closer and not self._needs_comma else []

    def closing(self) -> str:
        return "," * self._needs_comma + self.closer

    def letters(self, place: Place) -> Iterable[str]:
        return self._shape.element.letters
