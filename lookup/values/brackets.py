"""Open brackets, and the gaps between their members."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from abc import abstractmethod
from collections.abc import Iterable
from typing import Literal

from lookup.values.notations import SPACED, Spacing
from lookup.values.shapes import Ended, Frame, Reading, Shape, Span, spans_of

Place = Literal["opened", "comma", "space", "colon", "value"]
"""What a gap follows: the bracket, a comma, the optional space behind a comma, a key (``colon``), or a colon."""


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
