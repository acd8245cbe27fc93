"""Shapes of texts that are not quoted: up to a mark, or bare keys (``lookup.values.shapes``)."""
# ruff: noqa: D102 - overriding methods are documented in the base class

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final

from lookup.reserved import RESERVED, RESERVED_CHARACTER
from lookup.values.shapes import ANY_CHARACTER, Ended, Frame, Reading, Shape, byte_length

_ANY_BYTE: Final = frozenset(range(256))
_FILLER: Final = "."
"""Stands behind white space where a text is closed by force."""
_CERTAIN: Final = 6
"""After this many characters of a mark, or a special token of it, the text is taken to be the mark."""
_MAX_TRIED: Final = 10_000
_BARE = re.compile(r'[^\s:,{}\[\]<>"|\x00-\x1f]')


class MarkedText(Shape):
    """Any text between an opening text and a mark, without escapes.

    Parameters
    ----------
    opening : str
        May be empty.
    mark : str
        Newlines at its beginning are framing; the rest of it never stands inside the text.
    stripped : bool
        Whether white space at the ends of the text is refused.
    not_first : str
        Characters that the text may not begin with.
    """

    def __init__(self, opening: str, mark: str, stripped: bool, not_first: str = "") -> None:
        self.opening = opening
        self.mark = mark
        self.core = mark.lstrip("\n")
        self.framing = mark[: len(mark) - len(self.core)]
        self.stripped = stripped
        self.not_first = not_first
        reserved_range = f"{chr(RESERVED.start)}-{chr(RESERVED.stop - 1)}"
        self._plain = re.compile(f"[^{re.escape(self.core[0])}{reserved_range}]+")
        reserved = RESERVED_CHARACTER.search(self.core)
        self._certain = min(_CERTAIN, len(self.core), reserved.end() if reserved else _CERTAIN)

    @cached_property
    def size(self) -> int:
        return byte_length(self.opening + self.mark)

    @cached_property
    def longest_closing(self) -> int:
        return self.size + len(_FILLER)

    @cached_property
    def letters(self) -> frozenset[str]:
        first = (self.opening or self.mark)[0]
        return frozenset(() if first.isascii() else first) | frozenset(() if self.opening else ANY_CHARACTER)

    def shortest(self) -> str:
        return self.opening + self.mark

    def begin(self, character: str, frame: Frame | None) -> Iterable[Reading]:
        return _Opening(self, frame, 0).read(character) if self.opening else MarkedReading(self, frame).read(character)

    def plain_until(self, text: str, position: int) -> int:
        """The end of the characters from ``position`` on that can be neither the mark nor reserved."""
        found = self._plain.match(text, position)
        return found.end() if found else position

    def is_inside(self, written: str) -> bool:
        """Whether every character of ``plain_until`` may follow: not at the beginning, and not inside the mark."""
        return bool(written.strip()) and not self._begun(written)

    def ends(self, written: str) -> bool:
        """Whether a text that ends with the mark's core is a whole text with its mark."""
        content = written[: len(written) - len(self.core)]
        if not content.endswith(self.framing):
            return False
        content = content[: len(content) - len(self.framing)]
        return not self.stripped or content == content.strip()

    def may_go_on(self, written: str) -> bool:
        """Whether a text without its mark may go on."""
        if written and self.not_first and written[0] in self.not_first:
            return False
        begun = self._begun(written)
        if RESERVED_CHARACTER.search(written[-len(self.core) : len(written) - begun]):
            return False
        if not self.stripped or not written:
            return True
        if written[0].isspace() and not self.mark.startswith(written):
            return False
        return begun < self._certain or self.ends(written[: len(written) - begun] + self.core)

    def rest(self, written: str) -> str:
        """A short text that completes ``written``, a text that may go on."""
        content = written[: len(written) - self._begun(written)]
        if self.ends(content + self.core):
            return self.core[len(written) - len(content) :]
        for begun in range(min(len(self.framing), len(written)), -1, -1):
            if written.endswith(self.framing[:begun]) and self.ends(written + self.mark[begun:]):
                return self.mark[begun:]
        return _FILLER + self.mark

    def next_of_mark(self, written: str) -> Iterable[str]:
        """The characters of the mark that may follow: its first one, or the next one of what has begun."""
        return self.core[0], self.core[self._begun(written)]

    def _begun(self, written: str) -> int:
        """How many characters of the mark's core the text ends with."""
        most = min(len(self.core) - 1, len(written))
        return next((n for n in range(most, 0, -1) if written.endswith(self.core[:n])), 0)


class _Opening(Reading):
    """Inside the opening text."""

    def __init__(self, shape: MarkedText, frame: Frame | None, written: int) -> None:
        self.frame = frame
        self._shape = shape
        self._written = written

    def read(self, character: str) -> Iterable[Reading]:
        shape, written = self._shape, self._written
        if character != shape.opening[written]:
            return []
        if written + 1 < len(shape.opening):
            return [_Opening(shape, self.frame, written + 1)]
        return [MarkedReading(shape, self.frame)]

    def closing(self) -> str:
        return self._shape.opening[self._written :] + self._shape.mark

    def identity(self) -> tuple[object, ...]:
        return _Opening, id(self._shape), id(self.frame), self._written


class MarkedReading(Reading):
    """Inside the text, behind the opening."""

    def __init__(self, shape: MarkedText, frame: Frame | None, written: str = "") -> None:
        self.frame = frame
        self._shape = shape
        self._written = written

    def read(self, character: str) -> Iterable[Reading]:
        shape, written = self._shape, self._written + character
        if written.endswith(shape.core):
            if not shape.ends(written):
                return []
            return [Ended(None)] if self.frame is None else self.frame.ended(written)
        if not shape.may_go_on(written):
            return []
        return [MarkedReading(shape, self.frame, written)]

    def skip(self, text: str, position: int) -> tuple[Reading, int]:
        if not self._shape.is_inside(self._written):
            return self, position
        end = self._shape.plain_until(text, position)
        if end == position:
            return self, position
        return MarkedReading(self._shape, self.frame, self._written + text[position:end]), end

    def closing(self) -> str:
        return self._shape.rest(self._written)

    def identity(self) -> tuple[object, ...]:
        return MarkedReading, id(self._shape), id(self.frame), self._written

    def letters(self) -> Iterable[str]:
        return (c for c in {*self._shape.next_of_mark(self._written), ANY_CHARACTER} if not c.isascii())

    def first_bytes(self) -> frozenset[int]:
        return _ANY_BYTE


class BareKey(Shape):
    """The arbitrary key of an object, without quotes, with its colon."""

    size = 2
    longest_closing = 2

    @property
    def letters(self) -> frozenset[str]:
        return frozenset(ANY_CHARACTER)

    def shortest(self) -> str:
        return "k:"

    def begin(self, character: str, frame: Frame | None) -> Iterable[Reading]:
        return [] if frame is None else _BareReading(frame, "").read(character)

    def shortest_of(self, frame: Frame) -> str:
        """A short key that the frame admits."""
        return _BareReading(frame, "").closing()


class _BareReading(Reading):
    """Inside a bare key."""

    def __init__(self, frame: Frame, written: str) -> None:
        self.frame: Frame = frame
        self._written = written

    def read(self, character: str) -> Iterable[Reading]:
        if character == ":":
            return self.frame.ended(self._written + ":") if self._written else []
        possible = _BARE.match(character) and ord(character) not in RESERVED
        return [_BareReading(self.frame, self._written + character)] if possible else []

    def closing(self) -> str:
        for rest in ("" if self._written else "k", *map(str, range(_MAX_TRIED))):
            if self.frame.admits(self._written + rest + ":"):
                break
        return rest + ":" + self.frame.rest_behind(self._written + rest + ":")

    def identity(self) -> tuple[object, ...]:
        return _BareReading, id(self.frame), self._written
