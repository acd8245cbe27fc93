"""Where documentation stands: in a text, a file or parsed data."""

from dataclasses import asdict, dataclass
from typing import Any


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
