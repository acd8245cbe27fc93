"""Where the rows of a batch come from, one after the other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from tooldecoding.files.manifest import digest

CONTENTS: Final = ("prompt", "messages", "dialogue")
"""Columns of which a row has one."""

COLUMNS: Final = ("id", *CONTENTS, "tools", "tool_choice")
"""Columns that mean something."""


@dataclass(frozen=True)
class SourceRow:
    """A row as its source has it.

    Attributes
    ----------
    number : int
        Its line or row, from 1.
    place : str
        For messages.
    columns : mapping or None
        JSON values; None if there is nothing to read.
    raw : str or mapping
        What stands there.
    error : str
        Why it cannot be read.
    """

    number: int
    place: str
    columns: Mapping[str, Any] | None
    raw: str | Mapping[str, Any]
    error: str = ""

    @property
    def raw_digest(self) -> str:
        """SHA-256 of what stands there; for a row whose columns have none."""
        return digest(self.raw.strip() if isinstance(self.raw, str) else repr(self.raw))


class Source(Protocol):
    """Rows that are read one by one."""

    @property
    def origin(self) -> str:
        """Its name, for messages."""

    @property
    def again(self) -> bool:
        """Whether it can be read twice."""

    @property
    def total(self) -> int | None:
        """Number of rows, if it is known before they are read."""

    def place(self, number: int) -> str:
        """Return a row's place, for messages."""

    def rows(self) -> Iterator[SourceRow]:
        """Yield all rows; PromptError if the source cannot be read, or is damaged."""
