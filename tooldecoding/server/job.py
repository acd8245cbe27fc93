"""One request on its way through the scheduler, and the events that its client waits for."""

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from tooldecoding.calls.call_decoder import DecodedPrompt
from tooldecoding.calls.decoded_call import DecodedCall
from tooldecoding.engines.engine import Need
from tooldecoding.request import Request
from tooldecoding.request_run import RequestRun
from tooldecoding.result import DecodeResult
from tooldecoding.scheduler import Run
from tooldecoding.server.api_error import ApiError
from tooldecoding.text_stream import ResultStream, TextPiece

News = TextPiece | DecodedCall | DecodeResult
"""Pieces of a stream, and last the result."""

_MOST_UNREAD: Final = 4096
"""Pieces of a stream that wait for a client that reads slowly."""


class Job:
    """A request, and what is known of it. It is made, and waited for, in an event loop.

    Parameters
    ----------
    need : Need
        What it takes in the KV cache.
    streamed : bool
        Whether its client wants pieces.
    timeout : float
        Seconds after which it is given up, with its time in the queue.

    Attributes
    ----------
    cancelled : bool
        Whether nobody waits for it any more.
    run : RequestRun, optional
    decoding : Run of DecodedPrompt, optional
        What runs, once it does.
    began : float
        When it began to run, by ``time.monotonic``.
    """

    def __init__(self, request: Request, prompt_ids: Sequence[int], need: Need, streamed: bool, timeout: float) -> None:
        self.request = request
        self.prompt_ids = prompt_ids
        self.need = need
        self.stream = ResultStream() if streamed else None
        self.deadline = time.monotonic() + timeout
        self.cancelled = False
        self.run: RequestRun | None = None
        self.decoding: Run[DecodedPrompt] | None = None
        self.began = time.monotonic()
        self._events: asyncio.Queue[News | Exception] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()

    @property
    def is_watched(self) -> bool:
        """Whether the client reads text along; calls come at once, behind their vote."""
        return self.stream is not None and self.request.options.tool_choice in ("auto", "none")

    def notify(self, event: News | Exception) -> None:
        """Tell the client what is new, or the error that ended the job. Called in the scheduler's thread."""
        if self._events.qsize() >= _MOST_UNREAD:
            self.cancelled = True
            event = ApiError(408, "the stream is not read", code="timeout")
        try:
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)
        except RuntimeError:  # the loop is closed: nobody waits any more
            self.cancelled = True

    async def next(self) -> News:
        """Return what is new; raises the error that ended the job."""
        event = await self._events.get()
        if isinstance(event, Exception):
            raise event
        return event
