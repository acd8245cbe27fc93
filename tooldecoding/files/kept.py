"""What was made from the latest texts, so that it is not made again."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Generic, TypeVar

T = TypeVar("T")

MOST_CHARACTERS: Final = 16 << 20


class Kept(Generic[T]):
    """What was made from at most ``most`` texts of 16 Mi characters in all; what was used last stays."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[str, T] = OrderedDict()

    def of(self, text: str, make: Callable[[], T]) -> T:
        """Return what was made from a text before, or what ``make`` returns."""
        self._made[text] = found = self._made.pop(text) if text in self._made else make()
        while len(self._made) > 1 and (len(self._made) > self._most or sum(map(len, self._made)) > MOST_CHARACTERS):
            self._made.popitem(last=False)
        return found
