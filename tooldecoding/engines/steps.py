"""Decoding as generators: how several pieces of decoding share each forward pass.

Decoding a name, a value or a whole call needs logits again and again, and many of them are decoded at once: all orders
of a call, all prompts of a request. Each is written as if it ran alone, as a generator of type ``Steps``: where it
needs logits it yields the tokens to feed, and it goes on when it is sent the logits behind them. ::

    drive(steps, engine)          the loop: engine.extend(feeds) is one forward pass
      │ ▲ logits    ▲
      ▼ │           │ feeds of all parts, as one list
    gather([steps, steps, …])     side by side: prompts, and the orders of a call
      │ ▲           ▲
      ▼ │           │ feeds of one part
    CallDecoder → RequiredKeys → ValueDecoder → Branch.next_token → FedTokens.compute, which yields

A generator calls another one by ``result = yield from other(…)``; what the inner one yields goes up to ``gather`` or
``drive``. A part that has finished waits for no other: the next pass has the feeds of those that are left.

A *branch* is one growing token sequence. ``Branch`` decides which text and tokens come next, ``FedTokens`` knows which
of them the engine has read, and the engine knows the branch as an int and keeps its KV cache.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Generic, TypeVar, cast

from tooldecoding.engines.engine import Engine, Feed
from tooldecoding.engines.logits import NextTokenLogits

T = TypeVar("T")
Feeds = list[Feed]
Answers = list[list[NextTokenLogits]]
Steps = Generator[Feeds, Answers, T]
"""A piece of decoding: yields the feeds of its next forward pass, is sent the logits for each, and returns a result."""
Passes = Iterator[T | None]
"""Yields None behind each forward pass, and last the result."""


def each_pass(steps: Steps[T], engine: Engine) -> Passes[T]:
    """Run a piece of decoding; yields None behind each forward pass, and last its result."""
    try:
        feeds = next(steps)
        while True:
            answers = engine.extend(feeds)
            feeds = steps.send(answers)
            yield None
    except StopIteration as stop:
        yield stop.value


def drive(steps: Steps[T], engine: Engine) -> T:
    """Run a piece of decoding to its end, one forward pass for each of its steps."""
    [result] = deque(each_pass(steps, engine), maxlen=1)
    return cast(T, result)


def gather(parts: Sequence[Steps[T]]) -> Steps[list[T]]:
    """Run several pieces of decoding side by side; their feeds share each forward pass."""
    side = _SideBySide(parts)
    while side.waiting:
        yield from side.forward()
    return [side.results[number] for number in range(len(parts))]


def gather_growing(more: Callable[[], Sequence[Steps[None]]]) -> Steps[None]:
    """Run pieces of decoding side by side; before each pass ``more`` is asked for further ones."""
    side: _SideBySide[None] = _SideBySide([])
    while True:
        while parts := more():
            side.add(parts)
        if not side.waiting:
            return
        yield from side.forward()


def escorted(main: Steps[T], escorts: Sequence[Steps[None]]) -> Steps[T]:
    """Run a piece of decoding, and escorts beside it that are given up when it ends.

    Behind each pass the escorts go on first, so that ``main`` can use what they have found.
    """
    side: _SideBySide[T | None] = _SideBySide([*escorts, main])
    while len(escorts) not in side.results:
        yield from side.forward()
    return cast(T, side.results[len(escorts)])


class _SideBySide(Generic[T]):
    """Pieces of decoding side by side: the feeds that each waits for, and the results of those that have ended."""

    def __init__(self, parts: Sequence[Steps[T]]) -> None:
        self.results: dict[int, T] = {}
        self.waiting: dict[int, Feeds] = {}
        self._parts: list[Steps[T]] = []
        self.add(parts)

    def add(self, parts: Sequence[Steps[T]]) -> None:
        """Begin further pieces; their feeds join the next pass."""
        for part in parts:
            self._parts.append(part)
            self._resume(len(self._parts) - 1, None)

    def forward(self) -> Steps[None]:
        """Let all feeds share a pass."""
        feeds_of, self.waiting = self.waiting, {}
        answers = yield [feed for feeds in feeds_of.values() for feed in feeds]
        taken = 0
        for number, feeds in feeds_of.items():
            self._resume(number, answers[taken : taken + len(feeds)])
            taken += len(feeds)

    def _resume(self, number: int, answers: Answers | None) -> None:
        part = self._parts[number]
        try:
            self.waiting[number] = next(part) if answers is None else part.send(answers)
        except StopIteration as stop:
            self.results[number] = stop.value
