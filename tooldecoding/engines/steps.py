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
from collections.abc import Generator, Iterator, Sequence
from typing import TypeVar, cast

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
    results: dict[int, T] = {}
    waiting: dict[int, Feeds] = {}

    def resume(number: int, answers: Answers | None) -> None:
        part = parts[number]
        try:
            waiting[number] = next(part) if answers is None else part.send(answers)
        except StopIteration as stop:
            results[number] = stop.value

    for number in range(len(parts)):
        resume(number, None)
    while waiting:
        feeds_of, waiting = waiting, {}
        answers = yield [feed for feeds in feeds_of.values() for feed in feeds]
        taken = 0
        for number, feeds in feeds_of.items():
            resume(number, answers[taken : taken + len(feeds)])
            taken += len(feeds)
    return [results[number] for number in range(len(parts))]
