"""Which replica answers a request: the one that has served its beginning, unless it is full."""

from collections import Counter, OrderedDict
from collections.abc import Collection
from typing import Final

_KEPT: Final = 10_000
"""Beginnings that are remembered; prefix caches keep fewer."""


class Places:
    """Requests in flight, and the beginnings that each replica has served. Not for several threads."""

    def __init__(self) -> None:
        self._running: Counter[str] = Counter()
        self._served: OrderedDict[str, set[str]] = OrderedDict()
        self._kept: Counter[str] = Counter()

    def choose(self, beginning: str | None, replicas: Collection[str], most: int) -> str | None:
        """Return the replica for a request.

        A replica that has served the beginning comes first while it runs fewer than ``most`` requests, then any other
        such replica, then the one with the fewest requests. Among equals, the one that serves the fewest beginnings
        wins, so that new ones spread.

        Parameters
        ----------
        beginning : str or None
        replicas : collection of str
            Those that run.
        most : int
            Requests that a replica decodes together.

        Returns
        -------
        str or None
            None if there is no replica.
        """
        holders = self._served.get(beginning or "", set())

        def rank(replica: str) -> tuple[bool, bool, int, bool, int, str]:
            running, new = self._running[replica], replica not in holders
            full = running >= most
            return full, not full and new, running, new, self._kept[replica], replica

        return min(replicas, key=rank, default=None)

    def enter(self, replica: str, beginning: str | None) -> None:
        """Note that a request is sent to a replica."""
        self._running[replica] += 1
        if beginning is None:
            return
        holders = self._served.setdefault(beginning, set())
        self._served.move_to_end(beginning)
        if replica not in holders:
            holders.add(replica)
            self._kept[replica] += 1
        if len(self._served) > _KEPT:
            for holder in self._served.popitem(last=False)[1]:
                self._kept[holder] -= 1

    def leave(self, replica: str) -> None:
        """Note that a request has ended there."""
        self._running[replica] -= 1
        if not self._running[replica]:
            del self._running[replica]
