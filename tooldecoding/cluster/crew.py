"""The driver's part: gives groups to workers, and replaces workers that die. Knows no Ray."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, Generic, Protocol

from tooldecoding.cluster.grouping import by_beginning, in_groups
from tooldecoding.cluster.task import I, I_contra, R, R_co, Task
from tooldecoding.cluster.work import MOST_DEATHS, Group, Work
from tooldecoding.errors import ModelError

_AHEAD: Final = 4
"""Groups to choose from, for each worker."""

_WINDOW: Final = 64
"""Groups among which prompts that begin alike are brought together."""

_MORE_LOADS: Final = 2
"""Workers that may die in a row while they load the model, beside those of a lost node, which may have all of them."""


@dataclass(frozen=True)
class Ready:
    """A worker has loaded the model."""

    worker: int
    about: Mapping[str, Any]


@dataclass(frozen=True)
class Finished(Generic[R_co]):
    """A worker has finished its group."""

    worker: int
    results: Sequence[R_co]


@dataclass(frozen=True)
class Died:
    """A worker has died; ``reason`` is one line."""

    worker: int
    reason: str


class Pool(Protocol[I_contra, R_co]):
    """Workers by number. A worker loads the model, and then decodes one group at a time."""

    def start(self) -> int:
        """Begin to start another worker; it will be ready or die."""

    def run(self, worker: int, items: Sequence[I_contra]) -> None:
        """Begin a group; the worker will have finished it or die."""

    def wait(self) -> Sequence[Ready | Finished[R_co] | Died]:
        """Wait until something has happened; ToolDecodingError for what no other worker can mend."""

    def stop(self) -> None:
        """End all workers."""


class Crew(Generic[I, R]):
    """Workers that decode one stream of groups after another.

    Parameters
    ----------
    task : Task
    pool : Pool
        Without workers.
    size : int
        Number of workers.
    """

    def __init__(self, task: Task[I, R], pool: Pool[I, R], size: int) -> None:
        self._task = task
        self._pool = pool
        self._size = size
        self._about: dict[int, Mapping[str, Any]] = {}
        self._first: Mapping[str, Any] | None = None
        self._loading = {pool.start() for _ in range(size)}
        self._loads_died = 0
        self._busy: dict[int, Group[I]] = {}
        self._last: dict[int, str] = {}

    @property
    def about(self) -> Mapping[str, Any]:
        """What the first worker says of itself; waits for it."""
        while not self._about:
            for event in self._pool.wait():
                self._note(event)
        return self._about[min(self._about)]

    def arranged(self, groups: Iterable[Sequence[I]], size: int) -> Iterable[Sequence[I]]:
        """Return the items in groups; those whose prompts begin alike follow one another within a window."""
        items = chain.from_iterable(groups)
        return in_groups(by_beginning(items, self._task.beginning, _WINDOW * size), size)

    def spread(
        self, groups: Iterable[Sequence[I]], most: int | None = None
    ) -> Iterator[tuple[Sequence[I], Sequence[R]]]:
        """Yield each group, or a part of it, with its results, as they come; every item exactly once.

        Parameters
        ----------
        groups : iterable
            Read as the workers need it.
        most : int, optional
            Use so many workers at most, the same ones as long as they live.

        Raises
        ------
        ModelError
            If workers cannot load the model, or load different ones.
        """
        work = Work(groups, self._task.beginning, _AHEAD * self._size)
        while True:
            for worker in sorted(self._about)[:most]:
                if worker not in self._busy:
                    self._give(worker, work)
            if not self._busy and work.is_done:
                return
            for event in self._pool.wait():
                yield from self._take(event, work)

    def _give(self, worker: int, work: Work[I]) -> None:
        held = {last for other, last in self._last.items() if other != worker}
        group = work.take(self._last.get(worker), held)
        if group is not None:
            self._busy[worker] = group
            self._last[worker] = group.last
            self._pool.run(worker, group.items)

    def _take(self, event: Ready | Finished[R] | Died, work: Work[I]) -> Iterator[tuple[Sequence[I], Sequence[R]]]:
        group = self._busy.pop(event.worker, None)
        if isinstance(event, Finished) and group is not None:
            yield group.items, event.results
            return
        self._note(event)
        if group is not None:
            item = work.died(group)
            if item is not None:
                reason = f"the worker died {MOST_DEATHS} times while it decoded this row"
                yield [item], [self._task.given_up(item, reason)]

    def _note(self, event: Ready | Finished[R] | Died) -> None:
        """Keep the list of workers."""
        worker = event.worker
        if isinstance(event, Ready):
            self._loading.discard(worker)
            self._loads_died = 0
            self._about[worker] = event.about
            self._demand_equal(event.about)
        elif isinstance(event, Died):
            if worker in self._loading:
                self._loads_died += 1
                if self._loads_died == self._size + _MORE_LOADS:
                    died = f"{self._loads_died} workers in a row died while they loaded the model"
                    raise ModelError(f"{died}; the last: {event.reason}")
            for known in (self._about, self._last):
                known.pop(worker, None)
            self._loading.discard(worker)
            self._loading.add(self._pool.start())

    def _demand_equal(self, about: Mapping[str, Any]) -> None:
        self._first = first = self._first or about
        nodes = f"the workers on {first['node']} and {about['node']}"
        if about["version"] != first["version"]:
            raise ModelError(
                f"{nodes} have tooldecoding {first['version']} and {about['version']}; install one version"
            )
        own, other = first["identity"], about["identity"]
        if own != other:
            parts = ", ".join(part for part in own if own[part] != other.get(part))
            raise ModelError(
                f"{nodes} have loaded different models (other {parts}): the same files must lie on every node"
            )
