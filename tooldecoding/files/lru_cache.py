"""A cache of what was used last, bounded in entries and in size."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from itertools import starmap
from typing import Any, Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_MOST_CHARACTERS: Final = 16 << 20


class LruCache(Generic[K, V]):
    """What was made from the keys that were used last; the one that was used last always stays.

    Parameters
    ----------
    most : int
        Most entries.
    most_in_all : int
        Largest sum of their sizes.
    size : callable
        Takes a key and what was made from it. Default: the characters of a text that is a key.
    """

    def __init__(
        self, most: int, most_in_all: int = _MOST_CHARACTERS, size: Callable[[Any, V], int] = lambda key, _: len(key)
    ) -> None:
        self._most = most
        self._most_in_all = most_in_all
        self._size = size
        self._made: OrderedDict[K, V] = OrderedDict()

    def of(self, key: K, make: Callable[[], V]) -> V:
        """Return what was made from a key before, or what ``make`` returns."""
        self._made[key] = found = self._made.pop(key) if key in self._made else make()
        made = self._made
        while len(made) > 1 and (len(made) > self._most or sum(starmap(self._size, made.items())) > self._most_in_all):
            made.popitem(last=False)
        return found
