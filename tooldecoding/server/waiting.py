"""Waiting for a job of the scheduler, from the event loop."""

import asyncio
import time
from typing import Final

from fastapi import Request

from tooldecoding.result import DecodeResult
from tooldecoding.server.api_error import ApiError
from tooldecoding.server.gone import unless_gone
from tooldecoding.server.job import Event, Job, News
from tooldecoding.server.prepared import Prepared
from tooldecoding.server.scheduler import Scheduler
from tooldecoding.text_stream import ResultStream

_MOST_UNREAD: Final = 4096
"""Pieces of a stream that wait for a client that reads slowly."""


class Waiting:
    """Submits a request, and takes its events.

    Parameters
    ----------
    scheduler : Scheduler
    prepared : Prepared
    stream : bool
        Whether pieces are wanted.
    timeout : float
        Seconds after which the request is given up.

    Raises
    ------
    ApiError
        429 if the queue is full, 503 if the server stops.
    """

    def __init__(self, scheduler: Scheduler, prepared: Prepared, stream: bool, timeout: float) -> None:
        self._scheduler = scheduler
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._ended = False
        self.prompt_tokens = len(prepared.prompt_ids)
        self._job = Job(
            prepared.request,
            prepared.prompt_ids,
            prepared.need,
            self._notify,
            ResultStream() if stream else None,
            time.monotonic() + timeout,
        )
        scheduler.submit(self._job)

    async def next(self) -> News:
        """Return the next event; raises the error that ended the job."""
        event = await self._events.get()
        self._ended = isinstance(event, DecodeResult | Exception)
        if isinstance(event, Exception):
            raise event
        return event

    async def first(self, request: Request) -> News | None:
        """Return the first event, or None if the client goes away before; raises the error that ended the job."""
        event = None
        try:
            event = await unless_gone(request, self.next())
        finally:
            if event is None:
                self.give_up()
        return event

    def give_up(self) -> None:
        """Cancel the job if it has not ended."""
        if not self._ended:
            self._scheduler.cancel(self._job)

    def _notify(self, event: Event) -> None:
        """Called from the scheduler's thread."""
        if self._events.qsize() >= _MOST_UNREAD:
            self._job.cancelled = True
            event = ApiError(408, "the stream is not read", code="timeout")
        try:
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)
        except RuntimeError:  # the loop is closed: nobody waits any more
            self._job.cancelled = True
