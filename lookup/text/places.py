"""Offsets of a text: their lines and columns, the ranges that cover them, and the values that are written there."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lookup.errors import MisreadError
from lookup.source import Span


class Places:
    """Lines and columns of a text's offsets: one pass over the text, then a binary search for each offset."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: list[int] | None = None

    def line_column(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, both counted from 1."""
        if self._starts is None:
            self._starts = [0]
            position = self._text.find("\n")
            while position >= 0:
                self._starts.append(position + 1)
                position = self._text.find("\n", position + 1)
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """The range ``start`` to ``end`` without trailing white space."""
        while end > start + 1 and self._text[end - 1].isspace():
            end -= 1
        return Span(start, end, *self.line_column(start), *self.line_column(max(start, end - 1)))


class Stretches:
    """Ranges ``(start, end)`` of a text. Overlapping ones are merged."""

    def __init__(self, stretches: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(stretches):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def end_at(self, offset: int) -> int | None:
        """The end of the range that covers an offset; ``None`` if there is none."""
        index = bisect_right(self._starts, offset) - 1
        return self._ends[index] if index >= 0 and offset < self._ends[index] else None

    def gaps(self, length: int) -> Iterator[tuple[int, int]]:
        """The ranges in between, in a text of ``length`` characters."""
        yield from zip([0, *self._ends], [*self._starts, length], strict=True)

    def __bool__(self) -> bool:
        return bool(self._starts)


@dataclass(frozen=True)
class Piece:
    """A value written in a text as JSON, Python or YAML, from ``start`` to ``end``.

    Attributes
    ----------
    spans : mapping
        ``id`` of each object inside the value -> its start and end. Valid while the value is alive.
    document : bool
        Whether it is one of the documents that the text starts with.
    whole : bool
        Whether it is the only content of the text.
    error : MisreadError, optional
        Why documentation cannot be read; ``value`` is then ``None``.
    notes : tuple of str
        What was ignored.
    """

    value: Any
    start: int
    end: int
    spans: Mapping[int, tuple[int, int]]
    document: bool = False
    whole: bool = False
    error: MisreadError | None = None
    notes: tuple[str, ...] = ()
