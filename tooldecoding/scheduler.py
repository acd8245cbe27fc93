"""The scheduler: many pieces of decoding share each forward pass, and join and leave between passes.

Decoding a name, a value or a whole call needs logits again and again, and many of them are decoded at once: all orders
of a call, all prompts of a request. Each is a coroutine, written as if it ran alone, that waits where it needs logits.
There is no event loop; ``forward`` is all that lets time pass::

    scheduler.spawn(root, coroutine)    a prompt begins, and runs until it waits
    scheduler.forward()                 engine.extend(all feeds) is one forward pass; who waits goes on, in the sequence
                                        of spawning, and runs until it waits again

What a coroutine may wait for:

    await logits(feeds)                 the logits behind tokens
    await spawn(coroutine)              a piece of its own beside it, which runs until it waits; returns a task
    await join(tasks)                   their ends

A piece that has ended waits for no other: the next pass has the feeds of those that are left. An error ends the prompt
that it comes from, with all its pieces, and no other.

A *branch* is one growing token sequence. ``Branch`` decides which text and tokens come next, ``FedTokens`` knows which
of them the engine has read, and the engine knows the branch as an int and keeps its KV cache.
"""

import time
import types
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar

from tooldecoding.engines.engine import BranchId, Engine, Feed
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.engines.passes import cut, tokens_in_front

T = TypeVar("T")
Decoding = Coroutine[Any, Any, T]
"""A piece of decoding."""
Feeds = list[Feed]
Answers = list[list[NextTokenLogits]]
"""For each feed the logits that it asks for."""


class Task(Generic[T]):
    """A piece of decoding that was spawned.

    Attributes
    ----------
    place : tuple of int
        Orders the tasks of a prompt: what a task has spawned comes before what was spawned beside it later.
    feeds : list of Feed
        What it waits for the logits of.
    ended : bool
    result
        What it has returned.
    """

    def __init__(self, decoding: Decoding[T], place: tuple[int, ...] = ()) -> None:
        self.place = place
        self.spawned = 0
        self.feeds: Feeds = []
        self.ended = False
        self.result: T
        self.decoding = decoding
        self.joins: Sequence[Task[Any]] = ()
        self.joined_by: Task[Any] | None = None

    def cancel(self) -> None:
        """Give it up, in whatever state."""
        self.ended = True
        self.feeds = []
        self.decoding.close()


@types.coroutine
def logits(feeds: Feeds) -> Generator[Feeds, Answers, Answers]:
    """Wait for the logits of some feeds, all in one pass."""
    return (yield feeds)


@types.coroutine
def spawn(decoding: Decoding[T]) -> Generator[Decoding[T], Task[T], Task[T]]:
    """Begin a further piece of the same prompt; it runs until it waits."""
    return (yield decoding)


@types.coroutine
def join(tasks: Sequence[Task[T]]) -> Generator[tuple[Task[T], ...], None, list[T]]:
    """Wait until all tasks have ended; their results."""
    if left := tuple(task for task in tasks if not task.ended):
        yield left
    return [task.result for task in tasks]


@types.coroutine
def until(given_up: Callable[[], bool], decoding: Decoding[object]) -> Generator[Any, Any, None]:
    """Run a piece that spawns none, until it ends or is given up behind a pass."""
    try:
        wish = decoding.send(None)
        while not given_up():
            wish = decoding.send((yield wish))
    except StopIteration:
        pass
    finally:
        decoding.close()


async def together(pieces: Sequence[Decoding[T]]) -> list[T]:
    """Run pieces side by side; their results."""
    return await join([await spawn(piece) for piece in pieces])


class Run(Generic[T]):
    """A prompt under way: its first task, and those that it has spawned.

    Attributes
    ----------
    root : BranchId
    watched : bool
        Whether somebody reads along token by token.
    ended : bool
    error : Exception or None
        What ended it before its time.
    """

    def __init__(self, root: BranchId, decoding: Decoding[T], watched: bool) -> None:
        self.root = root
        self.watched = watched
        self.error: Exception | None = None
        self._first = Task(decoding)
        self._tasks: list[Task[Any]] = [self._first]

    @property
    def ended(self) -> bool:
        """Whether there is a result or an error."""
        return self._first.ended

    @property
    def result(self) -> T:
        """What was decoded; raises the error that ended it."""
        if self.error is not None:
            raise self.error
        return self._first.result

    def waiting(self) -> list[Task[Any]]:
        """Return the tasks that wait for logits."""
        self._tasks = [task for task in self._tasks if not task.ended]
        return sorted((task for task in self._tasks if task.feeds), key=lambda task: task.place)

    def longest(self) -> int:
        """Most tokens that a feed has in front of those whose logits are wanted."""
        return max((tokens_in_front(feed) for task in self.waiting() for feed in task.feeds), default=0)

    def piece(self, size: int) -> Feeds:
        """Take the first ``size`` tokens of the longest feed, which has at least so many in front."""
        feeds = max((task.feeds for task in self.waiting()), key=lambda feeds: max(map(tokens_in_front, feeds)))
        place = max(range(len(feeds)), key=lambda place: tokens_in_front(feeds[place]))
        piece, feeds[place] = cut(feeds[place], size)
        return [piece]

    def begin(self) -> None:
        """Run until it waits."""
        self._guard(lambda: self._go_on(self._first))

    def go_on(self, tasks: Sequence[Task[Any]], answers: Answers) -> None:
        """Go on behind a pass; ``tasks`` get the answers to their feeds."""
        self._guard(lambda: self._pass(tasks, answers))

    def cancel(self) -> None:
        """Give all tasks up."""
        for task in self._tasks:
            task.cancel()

    def _guard(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:  # noqa: BLE001 - the others go on whatever happens to one of them
            self.error = error
            self.cancel()

    def _pass(self, tasks: Sequence[Task[Any]], answers: Answers) -> None:
        taken = 0
        for task in tasks:
            count = len(task.feeds)
            if not task.ended:
                task.feeds = []
                self._go_on(task, answers[taken : taken + count])
            taken += count

    def _go_on(self, task: Task[Any], value: Any = None) -> None:
        """Run a task until it waits or ends."""
        try:
            while True:
                wish = task.decoding.send(value)
                if not isinstance(wish, Coroutine):
                    break
                task.spawned += 1
                self._tasks.append(value := Task(wish, (*task.place, task.spawned)))
                self._go_on(value)
        except StopIteration as stop:
            self._end(task, stop.value)
            return
        if isinstance(wish, list):
            task.feeds = wish
        else:
            task.joins = wish
            for joined in wish:
                joined.joined_by = task

    def _end(self, task: Task[Any], result: Any) -> None:
        task.ended, task.result = True, result
        waits = task.joined_by
        if waits is not None and all(joined.ended for joined in waits.joins):
            self._go_on(waits)


class Scheduler:
    """Runs prompts through an engine.

    Parameters
    ----------
    engine : Engine
    clock : callable, optional
        Returns seconds. With a clock the prompts take turns: a long one is fed in pieces beside others that somebody
        watches token by token, so that it does not hold them, and whole beside others, for pieces cost more. It is one
        long prompt at a time: the next one finds it in the prefix cache. Pieces are as long as passes have time.
        Without a clock each pass takes all feeds.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] | None = None) -> None:
        self.engine = engine
        self._clock = clock or time.perf_counter
        self._chunk = engine.chunk if clock is not None else None
        self._size = PieceSize()
        self._runs: list[Run[Any]] = []

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def has_room(self) -> bool:
        """Whether the next pass can take a further prompt without holding the others."""
        if self._chunk is None:
            return True
        owed = sum(longest for run in self._runs if (longest := run.longest()) >= self._chunk)
        return owed < max(self._chunk, self._size.of(self._chunk))

    def spawn(self, root: BranchId, decoding: Decoding[T], watched: bool = False) -> Run[T]:
        """Begin to decode behind a root branch of the engine; ``watched`` says that somebody reads along."""
        run = Run(root, decoding, watched)
        self._runs.append(run)
        run.begin()
        self._close_ended()
        return run

    def leave(self, run: Run[Any]) -> None:
        """Give a prompt up, in whatever state."""
        self._runs = [other for other in self._runs if other is not run]
        try:
            run.cancel()
        finally:
            self.engine.close(run.root)

    def forward(self) -> None:
        """Run one forward pass. What the engine raises is raised here; an error of a prompt ends this one alone."""
        runs, piece = self._chosen()
        waiting = [(run, run.waiting()) for run in runs]
        feeds = [feed for _, tasks in waiting for task in tasks for feed in task.feeds]
        if not feeds:
            return
        answers, taken = self._extend(feeds, piece), 0
        for run, tasks in waiting:
            count = sum(len(task.feeds) for task in tasks)
            run.go_on(tasks, answers[taken : taken + count])
            taken += count
        self._close_ended()

    def finish(self, runs: Iterable[Run[T]]) -> list[T]:
        """Run prompts to their ends; their results, or the first error."""
        return [result for _, result in sorted(self.each(runs), key=itemgetter(0))]

    def each(self, runs: Iterable[Run[T]], at_once: int | None = None) -> Iterator[tuple[int, T]]:
        """Run prompts to their ends; yields the number and the result of each as it ends, or raises the first error.

        Parameters
        ----------
        runs : iterable of Run
            They may be spawned while they are iterated over, which is done as far as there is room.
        at_once : int, optional
            Most prompts that run at a time: as one ends, the next one begins.
        """
        coming, running = enumerate(runs), list[tuple[int, Run[T]]]()
        while True:
            fresh = list(islice(coming, None if at_once is None else at_once - len(self)))
            running += fresh
            for _, run in running:
                if run.error is not None:
                    raise run.error
            for number, run in running:
                if run.ended:
                    yield number, run.result
            running = [(number, run) for number, run in running if not run.ended]
            if not running and not fresh:
                return
            self.forward()

    def _close_ended(self) -> None:
        for run in self._runs:
            if run.ended:
                self.engine.close(run.root)
        self._runs = [run for run in self._runs if not run.ended]

    def _extend(self, feeds: Feeds, piece: Feeds) -> Answers:
        """Return the answers to ``feeds``; notes what the pass took."""
        began, chunk = self._clock(), self._chunk
        answers = self.engine.extend([*piece, *feeds])[len(piece) :]
        seconds = self._clock() - began
        whole = chunk is not None and any(tokens_in_front(feed) >= chunk for feed in feeds)
        if piece or (whole and len(feeds) > 1):
            self._size.note_mixed(seconds, is_full=bool(piece))
        elif not whole:
            self._size.note_plain(seconds)
        return answers

    def _chosen(self) -> tuple[list[Run[Any]], Feeds]:
        """Return who is fed in the next pass, and a piece of a prompt."""
        if self._chunk is None:
            return self._runs, []
        size = self._size.of(self._chunk)
        long = [run for run in self._runs if run.longest() >= max(self._chunk, size)]
        others = [run for run in self._runs if run not in long]
        if long and any(run.watched for run in others):
            return others, long[0].piece(size)
        return [*others, *long[:1]], []


_MOST: Final = 1.75
_ROOM: Final = 1.4
"""A pass with a piece of a prompt takes between so many times as long as one without."""
_SMALLEST: Final = 0.25
_LARGEST: Final = 64.0
_NEW: Final = 0.2
"""Weight of the latest pass in the mean."""


class PieceSize:
    """How much of a prompt one pass may take beside what others feed, from the time of passes.

    A size is a factor of the engine's chunk, which costs about as much as a pass by itself. No answer depends on it.
    """

    def __init__(self) -> None:
        self._factor = 1.0
        self._plain: float | None = None  # seconds of a pass without a prompt

    def of(self, chunk: int) -> int:
        """Return the size, at least one token."""
        return max(1, int(chunk * self._factor))

    def note_plain(self, seconds: float) -> None:
        """Note a pass without a prompt."""
        self._plain = seconds if self._plain is None else self._plain + _NEW * (seconds - self._plain)

    def note_mixed(self, seconds: float, is_full: bool) -> None:
        """Note a pass with other feeds and a prompt; ``is_full`` says that it took all that it may."""
        if self._plain is None:
            return
        if seconds > _MOST * self._plain:
            self._factor = max(_SMALLEST, self._factor * 0.8)
        elif is_full and seconds < _ROOM * self._plain:
            self._factor = min(_LARGEST, self._factor * 1.25)
