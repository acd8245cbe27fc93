"""Pieces of decoding that wait for forward passes, and how several of them share each pass."""

from collections.abc import Generator, Sequence
from typing import TypeVar

from tooldecoding.engines.engine import Feed
from tooldecoding.engines.logits import NextTokenLogits

T = TypeVar("T")
Requests = list[Feed]
Answers = list[list[NextTokenLogits]]
Steps = Generator[Requests, Answers, T]
"""A piece of decoding: yields the feeds of its next forward pass and is sent their scores."""


def gather(parts: Sequence[Steps[T]]) -> Steps[list[T]]:
    """Run several pieces of decoding side by side: their feeds share each forward pass."""
    results: dict[int, T] = {}
    waiting: dict[int, Requests] = {}

    def resume(number: int, answers: Answers | None) -> None:
        try:
            waiting[number] = parts[number].send(answers)  # type: ignore[arg-type]
        except StopIteration as stop:
            results[number] = stop.value

    for number in range(len(parts)):
        resume(number, None)
    while waiting:
        requests, waiting = waiting, {}
        answers = yield [feed for feeds in requests.values() for feed in feeds]
        taken = 0
        for number, feeds in requests.items():
            resume(number, answers[taken : taken + len(feeds)])
            taken += len(feeds)
    return [results[number] for number in range(len(parts))]
