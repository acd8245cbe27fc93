"""A value found in a text: JSON, Python or YAML."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lookup.errors import MisreadError


@dataclass(frozen=True)
class Piece:
    """One value that stands in a text as JSON, Python or YAML, at ``start`` to ``end``.

    Attributes
    ----------
    spans : mapping
        For the ``id`` of each object inside the value, where it stands; right as long as the value lives.
    document, whole : bool
        Whether it stands among the documents that a text starts with, and whether the text holds nothing else.
    error : MisreadError, optional
        Why it cannot be read, where it looks like documentation; ``value`` is ``None`` then.
    notes : tuple of str
        What of it was not taken over.
    """

    value: Any
    start: int
    end: int
    spans: Mapping[int, tuple[int, int]]
    document: bool = False
    whole: bool = False
    error: MisreadError | None = None
    notes: tuple[str, ...] = ()
