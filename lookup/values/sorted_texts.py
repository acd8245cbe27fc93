"""Sorted texts that can be narrowed down character by character: members of an enum, keys of an object."""

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Stretch(NamedTuple):
    """The texts ``start`` to ``end`` of a sorted list. They share their first ``length`` characters."""

    start: int
    end: int
    length: int


class SortedTexts:
    """Distinct texts, sorted so that those with a common prefix are adjacent.

    Attributes
    ----------
    texts : list of str
    whole : Stretch
        The stretch of all texts.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = sorted(set(texts))
        self.whole = Stretch(0, len(self.texts), 0)

    def narrow(self, stretch: Stretch, character: str) -> Stretch | None:
        """The texts of a stretch that continue with a character; ``None`` if there are none. Logarithmic time."""
        start, end, length = stretch
        start = bisect_left(self.texts, character, start, end, key=lambda text: text[length : length + 1])
        end = bisect_right(self.texts, character, start, end, key=lambda text: text[length : length + 1])
        return Stretch(start, end, length + 1) if start < end else None

    def ends(self, stretch: Stretch) -> bool:
        """Whether one text of a stretch consists of the shared characters only."""
        return len(self.texts[stretch.start]) == stretch.length

    def characters(self, stretch: Stretch) -> Iterator[str]:
        """The characters that may continue a stretch."""
        start, end, length = stretch
        start += self.ends(stretch)
        while start < end:
            character = self.texts[start][length]
            yield character
            start = bisect_right(self.texts, character, start, end, key=lambda text: text[length])


def is_prefix_free(texts: Iterable[str]) -> bool:
    """Whether no text is a prefix of another one."""
    ordered = sorted(texts)
    return not any(longer.startswith(shorter) for shorter, longer in itertools.pairwise(ordered))
