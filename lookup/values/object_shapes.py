"""Shapes of objects (``lookup.values.shapes``): unique keys, all required keys, named ones and free ones."""
# ruff: noqa: D102 - overriding methods are documented in the base class

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from lookup.values.bracket_shapes import Gap
from lookup.values.enclosed_shapes import Fixed
from lookup.values.keys import Key, KeyRules
from lookup.values.open_records import OpenRecord
from lookup.values.shapes import Frame, Reading, Shape, byte_length

_TO_TELL_APART: Final = 6
"""The most digits that are appended to make a key unique."""


class Record(Shape):
    """Objects whose keys obey rules."""

    bracket = "{"

    def __init__(self, rules: KeyRules) -> None:
        self.rules = rules

    @cached_property
    def size(self) -> int:
        return byte_length(self.shortest())

    @cached_property
    def longest_closing(self) -> int:
        # All required keys are missing, and the current key has the longest completion.
        under_way = [_longest(key) - key.required * (key.size + len(", ")) for key in self.rules.keys]
        if self.rules.free is not None:
            key = max(text.longest_closing for text in self.rules.free.texts) + _TO_TELL_APART + len(" : ")
            under_way.append(max(key + self.rules.free.bound.size, self.rules.free.bound.longest_closing))
        needed = {number for key in self.rules.keys for number in key.needs}
        required = sum(key.size + len(", ") for n, key in enumerate(self.rules.keys) if key.required or n in needed)
        return max(under_way, default=0) + required + len(" }") + (self.size if self.rules.least else 0)

    def shortest(self) -> str:
        return "{" + OpenRecord(self.rules, None, 0).completed("opened")

    def start(self, frame: Frame | None) -> Iterable[Reading]:
        return [Fixed(frame, "{", lambda: Gap(OpenRecord(self.rules, frame, 0), "opened"))]


def _longest(key: Key) -> int:
    """The most bytes that complete a key and its value once the key has begun."""
    written = max(map(byte_length, key.texts)) + len(": ") + key.shape.size
    return max(written, key.shape.longest_closing)
