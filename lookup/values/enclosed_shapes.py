"""Shapes of literals between two fixed texts: quoted literals, and JSON before a mark (``lookup.values.shapes``)."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from collections.abc import Callable, Iterable
from functools import cached_property

from lookup.values.shapes import Ended, Frame, Reading, Shape, Span, Start, byte_length, spans_of


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
