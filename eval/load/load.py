"""Runs the same requests one after the other, and with several numbers of clients."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eval.errors import EvalError
from eval.load.client import Answer
from eval.load.crowd import run_clients
from eval.load.requests import LoadRequest
from eval.load.server_process import server_command, serving

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Load:
    """What came of one number of clients.

    Attributes
    ----------
    clients : int
        0 for one request after the other, of clients that all stay.
    answers : mapping
        By number of the request.
    mixed_up : frozenset of int
        Requests whose answer differs from the one that they get alone.
    seconds : float
        Of all together.
    processor : float or None
        Seconds of the server's processor time.
    half, peak : int or None
        Bytes of the server's largest resident memory, up to the middle and up to the end.
    left : mapping
        Gauges of the server that are not 0 at the end.
    """

    clients: int
    answers: Mapping[int, Answer]
    mixed_up: frozenset[int]
    seconds: float
    processor: float | None
    half: int | None
    peak: int | None
    left: Mapping[str, float]

    @property
    def endings(self) -> Counter[str]:
        """How many requests ended how."""
        return Counter(answer.ending for answer in self.answers.values())

    @property
    def per_second(self) -> float:
        """Answers a second; those that nobody waited for do not count."""
        return self.endings["answered"] / self.seconds

    @property
    def per_processor_second(self) -> float | None:
        """Answers a second of the server's processor time."""
        return self.endings["answered"] / self.processor if self.processor else None

    @property
    def reasons(self) -> Counter[str]:
        """Why requests were lost or refused."""
        return Counter(answer.reason for answer in self.answers.values() if answer.reason)

    def whole(self, share: float) -> float | None:
        """Return a quantile of the seconds to the end of an answer."""
        return quantile([answer.seconds for answer in self._answered()], share)

    def first(self, share: float) -> float | None:
        """Return a quantile of the seconds to the first piece of a stream."""
        return quantile([answer.first for answer in self._answered() if answer.first is not None], share)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each request."""
        return [
            {
                "clients": self.clients,
                "number": number,
                "ending": answer.ending,
                "reason": answer.reason,
                "mixed_up": number in self.mixed_up,
                "seconds": answer.seconds,
                "first": answer.first,
                "prompt_tokens": answer.prompt_tokens,
                "tokens": answer.tokens,
                "content": answer.content,
                "calls": answer.calls,
                "finish_reason": answer.finish,
            }
            for number, answer in sorted(self.answers.items())
        ]

    def _answered(self) -> list[Answer]:
        return [answer for answer in self.answers.values() if answer.ending == "answered"]


def run_load(
    model: str, requests: Sequence[LoadRequest], clients: int, max_batch: int, alone: Load | None, advance: Advance
) -> Load:
    """Send all requests to a fresh server; EvalError if none is answered.

    Parameters
    ----------
    clients : int
        0 for one after the other.
    alone : Load, optional
        What each request gets alone, to compare with.
    """
    sent = list(requests) if clients else [request.patient() for request in requests]
    memory: list[int | None] = []
    with serving(server_command(model, max_batch, max(64, clients))) as server:
        done, before = 0, server.processor()

        def step(count: int) -> None:
            nonlocal done
            done += count
            if not memory and 2 * done >= len(sent):
                memory.append(server.memory())
            advance(count)

        answers, seconds = run_clients(server.port, sent, clients or 1, step)
        left, peak, after = server.left(), server.memory(), server.processor()
    processor = None if before is None or after is None else after - before
    load = Load(clients, answers, differing(answers, alone), seconds, processor, memory[0], peak, left)
    if not load.endings["answered"] and not load.endings["hung up"]:
        raise EvalError(f"no request was answered: {load.reasons.most_common(1)[0][0]}")
    return load


def differing(answers: Mapping[int, Answer], alone: Load | None) -> frozenset[int]:
    """Return the requests whose answer is not the one that they get alone."""
    if alone is None:
        return frozenset()
    return frozenset(
        number
        for number, answer in answers.items()
        if answer.ending == alone.answers[number].ending == "answered" and answer.said != alone.answers[number].said
    )


def quantile(values: Sequence[float], share: float) -> float | None:
    """Return a quantile; None without values."""
    return float(np.quantile(values, share)) if values else None
