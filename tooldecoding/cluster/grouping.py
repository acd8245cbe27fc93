"""A stream of items, cut into groups."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

I = TypeVar("I")  # noqa: E741  # an item


def by_beginning(items: Iterable[I], beginning: Callable[[I], str], window: int) -> Iterator[I]:
    """Yield items so that those whose prompts begin alike follow one another, within each ``window`` items."""
    stream = iter(items)
    while held := list(islice(stream, window)):
        alike: dict[str, list[I]] = {}
        for item in held:
            alike.setdefault(beginning(item), []).append(item)
        for each in alike.values():
            yield from each


def in_groups(items: Iterable[I], size: int) -> Iterator[list[I]]:
    """Yield lists of ``size`` items; the last may be shorter."""
    stream = iter(items)
    while group := list(islice(stream, size)):
        yield group
