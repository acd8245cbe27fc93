"""The decode loop: many pieces of decoding share each forward pass, and join and leave between passes.

Decoding a name, a value or a whole call needs logits again and again, and many of them are decoded at once: all orders
of a call, all prompts of a request. Each is a coroutine, written as if it ran alone, that awaits ``Logits``, the
``Spawn`` of another piece, or the ``Task`` that this gives. There is no event loop; ``DecodeLoop.forward`` is all that
lets time pass: one forward pass with the feeds of all.

Three pieces, two passes: a call writes the days "14", of two tokens, beside the city "Rome", of one::

    piece   until it waits                    pass 1        until it waits                    pass 2     until it ends
    call    Spawn(days), Spawn(city), Tasks                                                              ["14", "Rome"]
    days    Logits([Feed(2, [61, 28])])       2: [61, 28]   "1", Logits([Feed(2, [16])])      2: [16]    "14"
    city    Logits([Feed(3, [72])])           3: [72]       "Rome": ends, and holds nobody

Who waits goes on in the sequence of spawning. An error ends the prompt that it comes from, with all its pieces, and no
other.

A *branch* is one growing token sequence. ``Branch`` decides which text and tokens come next, ``FedTokens`` knows which
of them the engine has read, and the engine knows the branch as an int and keeps its KV cache.
"""

import time
import types
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from typing import Any, Generic, TypeVar

from tooldecoding.decoding.prefill_chunk import PrefillChunkSize
from tooldecoding.engines.engine import BranchId, Engine, Feed
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.engines.passes import cut, tokens_in_front

T = TypeVar("T")
Piece = Coroutine[Any, Any, T]
"""A piece of decoding."""
Feeds = list[Feed]
Answers = list[list[NextTokenLogits]]
"""For each feed the logits that it asks for."""


class Wait(Generic[T]):
    """What a piece waits for, and gets from the loop when it goes on."""

    def __await__(self) -> Generator["Wait[T]", T, T]:
        return (yield self)


@dataclass(eq=False)
class Task(Wait[T]):
    """A piece of decoding that was spawned; who awaits it gets its result.

    Attributes
    ----------
    place : tuple of int
        Orders the tasks of a prompt: what a task has spawned comes before what was spawned beside it later.
    feeds : list of Feed
        What it waits for the logits of.
    answers : list
        Those that are there; None for the others.
    ended : bool
    result
        What it has returned.
    """

    piece: Piece[T]
    place: tuple[int, ...] = ()
    spawned: int = 0
    feeds: Feeds = field(default_factory=list)
    answers: list[list[NextTokenLogits] | None] = field(default_factory=list)
    ended: bool = False
    result: T = field(init=False)
    awaited_by: "Task[Any] | None" = None

    @property
    def unanswered(self) -> Feeds:
        """The feeds whose logits are not there."""
        return [feed for feed, answer in zip(self.feeds, self.answers, strict=True) if answer is None]

    def take(self, answers: Sequence[list[NextTokenLogits] | Exception | None]) -> bool:
        """Take the answers to ``unanswered``; whether none is missing now. Raises the error that is one of them."""
        left = iter(answers)
        found = [next(left) if answer is None else answer for answer in self.answers]
        for answer in found:
            if isinstance(answer, Exception):
                raise answer
        self.answers = [answer for answer in found if not isinstance(answer, Exception)]
        return all(answer is not None for answer in self.answers)

    def cancel(self) -> None:
        """Give it up, in whatever state."""
        self.ended = True
        self.feeds, self.answers = [], []
        self.piece.close()


@dataclass(frozen=True)
class Logits(Wait[Answers]):
    """The logits of some feeds, all in one pass: for each of them those that it asks for."""

    feeds: Feeds


@dataclass(frozen=True)
class Spawn(Wait[Task[T]]):
    """A further piece of the same prompt; it runs until it waits. Gives its task."""

    piece: Piece[T]


@types.coroutine
def run_unless_cancelled(cancelled: Callable[[], bool], piece: Piece[object]) -> Generator[Wait[Any], Any, None]:
    """Run a piece that spawns none, until it ends or ``cancelled`` says behind a pass that it is not needed."""
    try:
        wait = piece.send(None)
        while not cancelled():
            wait = piece.send((yield wait))
    except StopIteration:
        pass
    finally:
        piece.close()


async def together(pieces: Sequence[Piece[T]]) -> list[T]:
    """Run pieces side by side; their results."""
    tasks = [await Spawn(piece) for piece in pieces]
    return [await task for task in tasks]


class TaskGroup(Generic[T]):
    """A prompt under way: its first task, and those that it has spawned; an error of one ends all.

    Attributes
    ----------
    root : BranchId
    watched : bool
        Whether somebody reads along token by token.
    ended : bool
    error : Exception or None
        What ended it before its time.
    """

    def __init__(self, root: BranchId, piece: Piece[T], watched: bool) -> None:
        self.root = root
        self.watched = watched
        self.error: Exception | None = None
        self._first = Task(piece)
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

    def longest_prefill(self) -> int:
        """Most tokens that a feed has in front of those whose logits are wanted."""
        return max((tokens_in_front(feed) for task in self.waiting() for feed in task.feeds), default=0)

    def take_chunk(self, size: int) -> Feeds:
        """Take the first ``size`` tokens of the longest feed, which has at least so many in front."""
        feeds = max((task.feeds for task in self.waiting()), key=lambda feeds: max(map(tokens_in_front, feeds)))
        place = max(range(len(feeds)), key=lambda place: tokens_in_front(feeds[place]))
        chunk, feeds[place] = cut(feeds[place], size)
        return [chunk]

    def begin(self) -> None:
        """Run until it waits."""
        with self._ended_by_errors():
            self._resume(self._first)

    def go_on(self, tasks: Sequence[Task[Any]], answers: Sequence[list[NextTokenLogits] | Exception | None]) -> None:
        """Go on behind a pass; ``tasks`` get the answers to their feeds, and those that have all of them go on."""
        left = iter(answers)
        found = [list(islice(left, len(task.unanswered))) for task in tasks]
        with self._ended_by_errors():
            for task, new in zip(tasks, found, strict=True):
                if not task.ended and task.take(new):
                    whole, task.feeds, task.answers = task.answers, [], []
                    self._resume(task, whole)

    def cancel(self) -> None:
        """Give all tasks up."""
        for task in self._tasks:
            task.cancel()

    @contextmanager
    def _ended_by_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the others go on whatever happens to one of them
            self.error = error
            self.cancel()

    def _resume(self, task: Task[Any], value: Any = None) -> None:
        """Run a task until it waits or ends; ``value`` is what it has waited for."""
        while True:
            try:
                wait = task.piece.send(value)
            except StopIteration as stop:
                task.ended, task.result = True, stop.value
                if task.awaited_by is not None:
                    self._resume(task.awaited_by, task.result)
                return
            match wait:
                case Logits(feeds):
                    task.feeds, task.answers = list(feeds), [None] * len(feeds)
                    return
                case Spawn(piece):
                    task.spawned += 1
                    self._tasks.append(value := Task(piece, (*task.place, task.spawned)))
                    self._resume(value)
                case Task(ended=True):
                    value = wait.result
                case Task():
                    wait.awaited_by = task
                    return


class DecodeLoop:
    """Runs prompts through an engine.

    Parameters
    ----------
    engine : Engine
    clock : callable, optional
        Returns seconds. With a clock the prompts take turns: a long one is fed in chunks beside others that somebody
        watches token by token, so that it does not hold them, and whole beside others, for chunks cost more. It is one
        long prompt at a time: the next one finds it in the prefix cache. Chunks are as long as passes have time.
        Without a clock each pass takes all feeds.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] | None = None) -> None:
        self.engine = engine
        self._clock = clock or time.perf_counter
        self._chunk = engine.chunk if clock is not None else None
        self._size = PrefillChunkSize()
        self._groups: list[TaskGroup[Any]] = []

    def __len__(self) -> int:
        return len(self._groups)

    @property
    def has_room(self) -> bool:
        """Whether the next pass can take a further prompt without holding the others."""
        if self._chunk is None:
            return True
        owed = sum(longest for group in self._groups if (longest := group.longest_prefill()) >= self._chunk)
        return owed < max(self._chunk, self._size.of(self._chunk))

    def spawn(self, root: BranchId, piece: Piece[T], watched: bool = False) -> TaskGroup[T]:
        """Begin to decode behind a root branch of the engine; ``watched`` says that somebody reads along."""
        group = TaskGroup(root, piece, watched)
        self._groups.append(group)
        group.begin()
        self._close_ended()
        return group

    def leave(self, group: TaskGroup[Any]) -> None:
        """Give a prompt up, in whatever state."""
        self._groups = [other for other in self._groups if other is not group]
        try:
            group.cancel()
        finally:
            self.engine.close(group.root)

    def forward(self) -> bool:
        """Run one forward pass, or take what a server has answered by now; whether there was something.

        What the engine raises is raised here; an error of a prompt ends this one alone.
        """
        groups, chunk = self._chosen()
        waiting = [(group, group.waiting()) for group in groups]
        feeds = [feed for _, tasks in waiting for task in tasks for feed in task.unanswered]
        if not feeds:
            return False
        answers, taken = self._extend(feeds, chunk), 0
        for group, tasks in waiting:
            count = sum(len(task.unanswered) for task in tasks)
            group.go_on(tasks, answers[taken : taken + count])
            taken += count
        self._close_ended()
        return any(answer is not None for answer in answers)

    def finish(self, groups: Iterable[TaskGroup[T]]) -> list[T]:
        """Run prompts to their ends; their results, or the first error."""
        return [result for _, result in sorted(self.each(groups), key=itemgetter(0))]

    def each(self, groups: Iterable[TaskGroup[T]], at_once: int | None = None) -> Iterator[tuple[int, T]]:
        """Run prompts to their ends; yields the number and the result of each as it ends, or raises the first error.

        Parameters
        ----------
        groups : iterable of TaskGroup
            They may be spawned while they are iterated over, which is done as far as there is room.
        at_once : int, optional
            Most prompts that run at a time: as one ends, the next one begins.
        """
        coming, running = enumerate(groups), list[tuple[int, TaskGroup[T]]]()
        while True:
            fresh = list(islice(coming, None if at_once is None else at_once - len(self)))
            running += fresh
            for _, group in running:
                if group.error is not None:
                    raise group.error
            for number, group in running:
                if group.ended:
                    yield number, group.result
            running = [(number, group) for number, group in running if not group.ended]
            if not running and not fresh:
                return
            self.forward()

    def _close_ended(self) -> None:
        for group in self._groups:
            if group.ended:
                self.engine.close(group.root)
        self._groups = [group for group in self._groups if not group.ended]

    def _extend(self, feeds: Feeds, chunk: Feeds) -> list[list[NextTokenLogits] | Exception | None]:
        """Return the answers to ``feeds``; notes what the pass took."""
        began, size = self._clock(), self._chunk
        answers = self.engine.answered([*chunk, *feeds])[len(chunk) :]
        seconds = self._clock() - began
        whole = size is not None and any(tokens_in_front(feed) >= size for feed in feeds)
        if chunk or (whole and len(feeds) > 1):
            self._size.note_mixed(seconds, is_full=bool(chunk))
        elif not whole:
            self._size.note_plain(seconds)
        return answers

    def _chosen(self) -> tuple[list[TaskGroup[Any]], Feeds]:
        """Return who is fed in the next pass, and a chunk of a prompt."""
        if self._chunk is None:
            return self._groups, []
        size = self._size.of(self._chunk)
        long = [group for group in self._groups if group.longest_prefill() >= max(self._chunk, size)]
        others = [group for group in self._groups if group not in long]
        if long and any(group.watched for group in others):
            return others, long[0].take_chunk(size)
        return [*others, *long[:1]], []
