"""Open brackets, and the gaps between their members."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property
from typing import Literal

from lookup.values.notations import SPACED, Spacing
from lookup.values.shapes import END, Fixed, Place, Shape, Span, byte_length, spans_of

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

    @cached_property
    def size(self) -> int:
        return byte_length(self.shortest())

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
