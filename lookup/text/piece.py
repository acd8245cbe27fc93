"""A value found in a text: JSON, Python or YAML."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lookup.errors import MisreadError


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
