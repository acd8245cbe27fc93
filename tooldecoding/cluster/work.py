"""The groups that wait for a worker: which goes to whom, and what happens to those whose worker died."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Final, Generic

from tooldecoding.cluster.task import I

MOST_DEATHS: Final = 3
"""An item that was begun so often without being finished is given up."""


@dataclass(frozen=True)
class Group(Generic[I]):
    """Items that are decoded together.

    Attributes
    ----------
    items : sequence
        At least one.
    first, last : str
        How the prompts of the first and the last item begin.
    deaths : int
        Number of workers that died while they decoded it.
    """

    items: Sequence[I]
    first: str
    last: str
    deaths: int = 0


class Work(Generic[I]):
    """Groups from a stream, of which few are held at a time.

    Parameters
    ----------
    groups : iterable of sequences
        Read as far as needed.
    beginning : callable
        As ``Task.beginning``.
    ahead : int
        Number of groups to choose from.
    """

    def __init__(self, groups: Iterable[Sequence[I]], beginning: Callable[[I], str], ahead: int) -> None:
        self._stream = iter(groups)
        self._beginning = beginning
        self._ahead = ahead
        self._waiting: deque[Group[I]] = deque()
        self._again: deque[Group[I]] = deque()

    def take(self, last: str | None, held: Set[str]) -> Group[I] | None:
        """Return the next group for a worker; None if there is none now.

        Parameters
        ----------
        last : str or None
            How the prompt begins that the worker decoded last: it has that in its prefix cache.
        held : set of str
            The same of all other workers. They are left what they can serve best.
        """
        if self.is_done:
            return None
        if self._again:
            return self._again.popleft()
        numbers = range(len(self._waiting))
        same = (n for n in numbers if self._waiting[n].first == last)
        free = (n for n in numbers if self._waiting[n].first not in held)
        chosen = next(same, next(free, 0))
        group = self._waiting[chosen]
        del self._waiting[chosen]
        return group

    @property
    def is_done(self) -> bool:
        """Whether no group waits and none will come."""
        while len(self._waiting) < self._ahead and (items := next(self._stream, None)) is not None:
            self._waiting.append(Group(items, self._beginning(items[0]), self._beginning(items[-1])))
        return not self._again and not self._waiting

    def died(self, group: Group[I]) -> I | None:
        """Take back a group whose worker died, as single items; return the item to give up, if there is one."""
        deaths = group.deaths + 1
        if len(group.items) == 1 and deaths >= MOST_DEATHS:
            return group.items[0]
        for item in group.items:
            name = self._beginning(item)
            self._again.append(Group([item], name, name, deaths))
        return None
