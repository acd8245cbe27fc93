"""A cache of what was used last, bounded in entries and in size."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from itertools import starmap
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass
class LruCache(Generic[K, V]):
    """What was made from the keys that were used last; the one that was used last always stays.

    Attributes
    ----------
    most : int
        Most entries.
    most_in_all : int
        Largest sum of their sizes.
    size : callable
        Takes a key and what was made from it. By default it counts the characters of keys that are texts.
    """

    most: int
    most_in_all: int = 16 << 20
    size: Callable[[Any, V], int] = lambda key, _: len(key)
    _made: OrderedDict[K, V] = field(default_factory=OrderedDict, init=False)

    def of(self, key: K, make: Callable[[], V]) -> V:
        """Return what was made from a key before, or what ``make`` returns."""
        self._made[key] = found = self._made.pop(key) if key in self._made else make()
        made = self._made
        while len(made) > 1 and (len(made) > self.most or sum(starmap(self.size, made.items())) > self.most_in_all):
            made.popitem(last=False)
        return found
