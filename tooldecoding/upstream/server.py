"""The seam to an engine that goes on by itself: tokens in, tokens with log-probabilities out.

Engines of this package give the logits behind a token. These give *steps*: the token that comes next, and the natural
log-probabilities of the likeliest tokens at its place, again and again until they are told to stop.
"""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Ask:
    """What a server is asked for.

    Attributes
    ----------
    tokens : sequence of int
        All tokens so far, from the first one of the prompt.
    most : int
        Go on greedily for so many tokens, or up to the end of the turn.
    exact : sequence of int
        The log-probabilities of these tokens are wanted, in place of those of the likeliest.
    allowed : sequence of int
        Only these tokens are taken; all if there are none. Their log-probabilities are those among all tokens.
    """

    tokens: Sequence[int]
    most: int
    exact: Sequence[int] = ()
    allowed: Sequence[int] = ()


class Step(NamedTuple):
    """The next token, and what is known of the place where it stands: natural log-probabilities by token, its own, too.

    They are those of the whole vocabulary.
    """

    token: int
    logprobs: Mapping[int, float]


class Upstream(ABC):
    """A server that goes on with tokens.

    Attributes
    ----------
    kind : str
        What it is, as people call it.
    address : str
        Where it is, for messages.
    model : str
        Name of the model, as the server shows it.
    likeliest : int
        So many of the likeliest tokens come with each step.
    most_exact : int
        Most tokens of ``Ask.exact``.
    restricts : bool
        Whether ``Ask.allowed`` is obeyed; ``most_exact`` has no limit if not.
    loop : asyncio.AbstractEventLoop
        What is asked runs here.
    """

    kind: str
    address: str
    model: str
    likeliest: int
    most_exact: int
    restricts: bool = True
    loop: asyncio.AbstractEventLoop

    @abstractmethod
    def go_on(self, ask: Ask) -> AsyncIterator[Step]:
        """Yield the next tokens one by one. Closing the iterator gives the request up, also at the server.

        It is tried again where that may help. UpstreamError if the server cannot be reached, refuses the request, or
        is another one than it was; a stream that breaks behind its first step just ends.
        """

    def spawn(self, piece: Coroutine[Any, Any, None]) -> Callable[[], None]:
        """Run a coroutine in ``loop``, from any thread; returns what cancels it."""
        future = asyncio.run_coroutine_threadsafe(piece, self.loop)

        def cancel() -> None:
            future.cancel()

        return cancel


@cache
def shared_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of all servers, which runs in a thread of its own as long as the process does.

    It is not that of agents: a tool that blocks would hold the tokens of all prompts.
    """
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="tooldecoding-upstream", daemon=True).start()
    return loop
