"""Where documentation stands: in a text, a file or parsed data; lines and columns, and ranges of a text."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from lookup.errors import MisreadError


@dataclass(frozen=True)
class Span:
    """A range of text: offsets ``start`` to ``end`` (exclusive), with lines and columns counted from 1.

    ``end_line`` and ``end_column`` are the position of the last character.
    """

    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}-{self.end_line}:{self.end_column}"


@dataclass(frozen=True)
class Source:
    """Where a tool is documented.

    Attributes
    ----------
    form : str
        The title of the documentation form.
    origin : str
        A file name or another name of the text or data.
    span : Span, optional
        The range of a text; ``None`` for parsed data.
    path : str
        The path inside parsed data, such as ``['tools'][3]``; empty for a text.
    """

    form: str
    origin: str
    span: Span | None = None
    path: str = ""

    def __str__(self) -> str:
        return f"{self.origin}:{self.span.line}:{self.span.column}" if self.span else f"{self.origin}{self.path}"

    def to_json(self) -> dict[str, Any]:
        """The form, the origin, and the span or the path."""
        row: dict[str, Any] = {"form": self.form, "origin": self.origin}
        return row | ({"span": asdict(self.span)} if self.span else {"path": self.path})


@dataclass(frozen=True)
class Unread:
    """Something that looks like a tool but was not read as one, and the reason."""

    source: Source
    reason: str

    def __str__(self) -> str:
        return f"{self.source}: {self.reason}"

    def to_json(self) -> dict[str, Any]:
        """The source and the reason."""
        return self.source.to_json() | {"reason": self.reason}


class Places:
    """Lines and columns of a text's offsets: one pass over the text, then a binary search for each offset."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _starts(self) -> list[int]:
        """Where lines begin."""
        return [0, *(end.end() for end in re.finditer("\n", self._text))]

    def line_column(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, both counted from 1."""
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
