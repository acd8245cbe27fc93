"""Decoding as generators that wait for forward passes, and ``gather``, which lets several share each pass."""

from collections.abc import Generator, Sequence
from typing import TypeVar

from tooldecoding.engines.engine import Feed
from tooldecoding.engines.logits import NextTokenLogits

T = TypeVar("T")
Feeds = list[Feed]
FeedLogits = list[list[NextTokenLogits]]
Steps = Generator[Feeds, FeedLogits, T]
"""A piece of decoding: yields the feeds of its next forward pass and is sent their logits."""


def gather(parts: Sequence[Steps[T]]) -> Steps[list[T]]:
    """Run several pieces of decoding side by side; their feeds share each forward pass."""
    results: dict[int, T] = {}
    waiting: dict[int, Feeds] = {}

    def resume(number: int, logits: FeedLogits | None) -> None:
        try:
            waiting[number] = parts[number].send(logits)  # type: ignore[arg-type]
        except StopIteration as stop:
            results[number] = stop.value

    for number in range(len(parts)):
        resume(number, None)
    while waiting:
        fed, waiting = waiting, {}
        logits = yield [feed for feeds in fed.values() for feed in feeds]
        taken = 0
        for number, feeds in fed.items():
            resume(number, logits[taken : taken + len(feeds)])
            taken += len(feeds)
    return [results[number] for number in range(len(parts))]
