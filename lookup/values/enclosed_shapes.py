"""Shapes of literals between two fixed texts: quoted literals, and JSON before a mark (``lookup.values.shapes``)."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from collections.abc import Iterable
from functools import cached_property

from lookup.values.shapes import Ended, Frame, Reading, Shape, Start, byte_length


class Enclosed(Shape):
    """The literals of another shape between an opening and a closing text, which is not empty."""

    def __init__(self, opening: str, inner: Shape, closing: str) -> None:
        self.opening = opening
        self.inner = inner
        self.closing = closing

    @cached_property
    def width(self) -> int:
        return self.inner.width

    @cached_property
    def size(self) -> int:
        return byte_length(self.opening) + self.inner.size + byte_length(self.closing)

    @cached_property
    def longest_closing(self) -> int:
        inner = max(self.inner.longest_closing, self.inner.size)
        return byte_length(self.opening) + inner + byte_length(self.closing)

    @cached_property
    def letters(self) -> frozenset[str]:
        return frozenset(c for c in self.opening[:1] if not c.isascii()) if self.opening else self.inner.letters

    @cached_property
    def _outermost(self) -> "_Enclosing":
        return _Enclosing(self, None)  # one object, so that readings with the same continuations are equal

    def shortest(self) -> str:
        return self.opening + self.inner.shortest() + self.closing

    def begin(self, character: str, frame: Frame | None) -> Iterable[Reading]:
        enclosing = self._outermost if frame is None else _Enclosing(self, frame)
        if not self.opening:
            return self.inner.begin(character, enclosing)
        return Fixed(enclosing, self.opening, Start(self.inner, enclosing)).read(character)


class _Enclosing(Frame):
    """The fixed texts around a literal."""

    def __init__(self, shape: Enclosed, parent: Frame | None) -> None:
        self.parent = parent
        self._shape = shape

    def behind(self, character: str) -> Iterable[Reading]:
        return Fixed(self.parent, self._shape.closing, Ended(self.parent)).read(character)

    def closing(self) -> str:
        return self._shape.closing

    def letters_behind(self) -> Iterable[str]:
        return () if self._shape.closing[0].isascii() else (self._shape.closing[0],)


class Fixed(Reading):
    """Before the rest of a fixed text, behind which another reading goes on.

    Parameters
    ----------
    frame : Frame or None
        The bracket around what is written.
    rest : str
        Not empty.
    """

    def __init__(self, frame: Frame | None, rest: str, behind: Reading) -> None:
        self.frame = frame
        self._rest = rest
        self._behind = behind

    def read(self, character: str) -> Iterable[Reading]:
        if character != self._rest[0]:
            return []
        return [Fixed(self.frame, self._rest[1:], self._behind) if len(self._rest) > 1 else self._behind]

    def closing(self) -> str:
        return self._rest + self._behind.closing()

    def identity(self) -> tuple[object, ...]:
        return Fixed, self._rest, self._behind.identity()

    def letters(self) -> Iterable[str]:
        return () if self._rest[0].isascii() else (self._rest[0],)
