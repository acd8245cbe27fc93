"""The time between the pieces of streams while a long prompt is computed beside them, and before."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from threading import Thread
from time import sleep
from typing import Final

from eval.errors import EvalError
from eval.load.client import Answer, ask
from eval.load.requests import LoadRequest, free_text, long_text

ROUNDS: Final = 5
STREAMS: Final = 4
_LEAD: Final = 40
"""Pieces of each stream before the long prompt comes."""
_TOKENS: Final = 240
_CHARACTERS: Final = 6_000


@dataclass
class Gaps:
    """Seconds between neighbouring pieces of a stream.

    Attributes
    ----------
    alone, beside : list of float
        Before the long prompt came, and while it was computed.
    prompt_tokens : int
        Of the longest prompt.
    """

    alone: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    prompt_tokens: int = 0

    def add(self, streams: Sequence[Answer], long: Answer) -> None:
        """Add what was seen while streams ran and a long prompt came."""
        together = max(stream.pieces[0] for stream in streams)
        for stream in streams:
            for before, after in pairwise(stream.pieces):
                if together <= before and after <= long.began:
                    self.alone.append(after - before)
                elif after > long.began and before < long.ended:
                    self.beside.append(after - before)
        self.prompt_tokens = max(self.prompt_tokens, long.prompt_tokens)


def measure_gaps(port: int, model: str, seed: int, advance: Callable[[int], None]) -> Gaps:
    """Measure some rounds; EvalError if an answer is lost or the streams are too short."""
    rng, gaps = Random(seed), Gaps()
    for _ in range(ROUNDS):
        gaps.add(*_round(port, model, rng))
        advance(1)
    if not gaps.beside:
        raise EvalError("the model ended its texts before a long prompt could come beside them")
    return gaps


def _round(port: int, model: str, rng: Random) -> tuple[list[Answer], Answer]:
    streams = [Answer() for _ in range(STREAMS)]
    threads = []
    for stream in streams:
        request = LoadRequest(0, free_text(model, long_text(rng, 60), _TOKENS))
        threads.append(Thread(target=ask, args=(port, request, stream), daemon=True))
    for thread in threads:
        thread.start()
    while any(len(stream.pieces) < _LEAD and not stream.ended for stream in streams):
        sleep(0.001)
    long = ask(port, LoadRequest(0, free_text(model, long_text(rng, _CHARACTERS), 1)))
    for thread in threads:
        thread.join()
    for answer in (*streams, long):
        if answer.ending != "answered" or not answer.pieces:
            raise EvalError(f"the server did not answer a stream: {answer.reason or answer.ending}")
    return streams, long
