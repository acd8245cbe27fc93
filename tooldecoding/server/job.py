"""One request on its way through the scheduler."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tooldecoding.calls.call_decoder import DecodedPrompt
from tooldecoding.calls.decoded_call import DecodedCall
from tooldecoding.engines.engine import Need
from tooldecoding.request import Request
from tooldecoding.request_run import RequestRun
from tooldecoding.result import DecodeResult
from tooldecoding.scheduler import Run
from tooldecoding.text_stream import ResultStream, TextPiece

News = TextPiece | DecodedCall | DecodeResult
"""Pieces of a stream, and last the result."""
Event = News | Exception
"""What happens to a job: its news, or the error that ended it."""


@dataclass(eq=False)
class Job:
    """A request, and what is known of it.

    Attributes
    ----------
    request : Request
    prompt_ids : sequence of int
    need : Need
        What it takes in the KV cache.
    notify : callable
        Called from the scheduler's thread with each event.
    stream : ResultStream, optional
        For a request that wants its answer piece by piece.
    deadline : float
        When it is given up, by ``time.monotonic``.
    cancelled : bool
        Whether nobody waits for it any more.
    run : RequestRun, optional
    decoding : Run of DecodedPrompt, optional
        What runs, once it does.
    began : float
        When it began to run, by ``time.monotonic``.
    """

    request: Request
    prompt_ids: Sequence[int]
    need: Need
    notify: Callable[[Event], None]
    stream: ResultStream | None
    deadline: float
    cancelled: bool = False
    run: RequestRun | None = None
    decoding: Run[DecodedPrompt] | None = None
    began: float = field(default_factory=time.monotonic)

    @property
    def is_watched(self) -> bool:
        """Whether the client reads text along; calls come at once, behind their vote."""
        return self.stream is not None and self.request.options.tool_choice in ("auto", "none")
