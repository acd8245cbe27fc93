"""Runs all requests in one thread: they join the running batch at the next forward pass, and leave when they are done.

Law: a greedy answer does not depend on who shares the batch.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from typing import Final

import torch

from tooldecoding.decoder import ToolDecoder
from tooldecoding.decoding.decode_loop import DecodeLoop, TaskGroup
from tooldecoding.decoding.decoded_call import DecodedCall, ResultStream, TextPiece
from tooldecoding.decoding.prompt_decoder import DecodedPrompt
from tooldecoding.result import DecodeResult, RequestRun
from tooldecoding.server.exchange import ApiError, retry_later
from tooldecoding.server.monitoring import Metrics, log
from tooldecoding.server.request_parser import ParsedRequest

News = TextPiece | DecodedCall | DecodeResult
"""Pieces of a stream, and last the result."""

_MOST_UNREAD: Final = 4096
"""Pieces of a stream that wait for a client that reads slowly."""


class Job:
    """A request on its way, and the events that its client waits for. It is made, and waited for, in an event loop.

    Parameters
    ----------
    streamed : bool
        Whether its client wants pieces.
    timeout : float
        Seconds after which it is given up, with its time in the queue.

    Attributes
    ----------
    cancelled : bool
        Whether nobody waits for it any more.
    run : tuple of RequestRun and TaskGroup of DecodedPrompt, optional
        What runs, once it does, since ``began`` by ``time.monotonic``.
    """

    def __init__(self, parsed: ParsedRequest, streamed: bool, timeout: float) -> None:
        self.parsed = parsed
        self.stream = ResultStream() if streamed else None
        self.began = time.monotonic()
        self.deadline = self.began + timeout
        self.cancelled = False
        self.run: tuple[RequestRun, TaskGroup[DecodedPrompt]] | None = None
        self._events: asyncio.Queue[News | Exception] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()

    @property
    def is_over(self) -> bool:
        """Whether nobody waits any more, or its time is over."""
        return self.cancelled or time.monotonic() > self.deadline

    def begin(self, decoder: ToolDecoder, batch: DecodeLoop) -> None:
        """Begin to decode; somebody reads text along, but calls come at once, behind their vote."""
        request, self.began = self.parsed.request, time.monotonic()
        watched = self.stream is not None and request.options.tool_choice in ("auto", "none")
        self.run = decoder.begin(request, self.parsed.prompt_ids, batch, self.stream, watched)

    def tell(self, decoder: ToolDecoder) -> bool:
        """Tell the client what is new, and whether that was the result; raises the error that ended the job."""
        assert self.run is not None
        run, decoding = self.run
        result = None
        if decoding.ended:
            seconds = time.monotonic() - self.began
            result = run.result(decoding.result, decoder.table, self.parsed.request.options, seconds)
        if self.stream is not None and not self.cancelled:
            if result is not None:
                self.stream.show(result.answer)
            for piece in self.stream.take():
                self.notify(piece)
        if result is not None:
            self.notify(result)
        return result is not None

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


class Scheduler:
    """Takes jobs from any thread and runs them in its own.

    Parameters
    ----------
    decoder : ToolDecoder
    max_batch : int
        Most jobs that run together.
    queue : int
        Most jobs that wait.
    cache_bytes : int
        Memory for the KV cache of the jobs that run; one job may always run.
    metrics : Metrics
    """

    def __init__(self, decoder: ToolDecoder, max_batch: int, queue: int, cache_bytes: int, metrics: Metrics) -> None:
        self._decoder = decoder
        self._max_batch = max_batch
        self._queue = queue
        self._cache_bytes = cache_bytes
        self._metrics = metrics
        self._changed = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._jobs: list[Job] = []
        self._batch = self._begun()
        self._stopping = False
        metrics.waiting.set_function(lambda: len(self._waiting))
        metrics.running.set_function(lambda: len(self._jobs))
        metrics.cache_bytes.set_function(lambda: self._batch.engine.allocated_bytes)
        self._thread = threading.Thread(target=self._live, name="scheduler", daemon=True)

    def start(self) -> None:
        """Begin to run jobs."""
        self._thread.start()

    def stop(self) -> None:
        """Take no more jobs, finish those that there are, and end the thread."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join()

    @property
    def is_ready(self) -> bool:
        """Whether jobs are taken."""
        return self._thread.is_alive() and not self._stopping

    def demand_place(self) -> None:
        """ApiError 429 if the queue is full, 503 if the server stops."""
        if not self.is_ready:
            raise _stopped()
        if len(self._waiting) >= self._queue + max(0, self._max_batch - len(self._jobs)):
            self._metrics.refused.inc()
            message = f"{self._queue} requests are waiting already; try again later"
            raise retry_later(429, message, "queue_full")

    def submit(self, job: Job) -> None:
        """Put a job in the queue; ApiError as ``demand_place``."""
        with self._changed:
            self.demand_place()
            self._waiting.append(job)
            self._changed.notify()

    def cancel(self, job: Job) -> None:
        """Give a job up, if it has not ended."""
        with self._changed:
            job.cancelled = True
            self._changed.notify()

    def _live(self) -> None:
        """Run jobs until the end, or until there is no engine; nobody waits for ever then."""
        try:
            while self._wait():
                try:
                    self._give_up()
                    self._admit()
                    self._forward()
                except Exception as error:  # noqa: BLE001 - the server outlives what goes wrong in a pass
                    self._begin_again(error)
        finally:
            with self._changed:
                self._stopping = True
                for job in self._waiting:
                    job.notify(_stopped())

    def _wait(self) -> bool:
        """Wait for something to do; False when all is done and the server stops."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._jobs or self._stopping)
            return bool(self._waiting or self._jobs)

    def _give_up(self) -> None:
        """Drop jobs whose client is gone, or whose time is over."""
        with self._changed:
            over = [job for job in self._waiting if job.is_over]
            for job in over:
                self._waiting.remove(job)
        running = [job for job in self._jobs if job.is_over]
        for job in running:
            self._leave(job)
        for job in over + running:
            if job.cancelled:
                self._metrics.cancelled.inc()
            else:
                job.notify(ApiError(504, "the time limit of a request is over", code="timeout"))

    def _admit(self) -> None:
        """Let waiting jobs join, in the sequence in which they came, as far as there is room.

        While a long prompt is fed nobody joins: the next one may find its beginning in the prefix cache.
        """
        while self._waiting and self._has_room(self._waiting[0]) and self._batch.has_room:
            with self._changed:
                job = self._waiting.popleft()
            try:
                job.begin(self._decoder, self._batch)
                self._jobs.append(job)
            except Exception as error:  # noqa: BLE001 - the others go on whatever happens to one of them
                job.notify(_failure(error))

    def _has_room(self, job: Job) -> bool:
        if not self._jobs:
            return True
        if len(self._jobs) >= self._max_batch:
            return False
        engine = self._batch.engine
        needed = engine.bytes_for([each.parsed.need for each in (*self._jobs, job)])
        return max(needed, engine.allocated_bytes) <= self._cache_bytes

    def _forward(self) -> None:
        if not self._jobs:
            return
        self._metrics.passes.inc(self._batch.forward())
        for job in list(self._jobs):
            try:
                ended = job.tell(self._decoder)
            except Exception as error:  # noqa: BLE001 - the others go on whatever happens to one of them
                job.notify(_failure(error))
                ended = True
            if ended:
                self._leave(job)

    def _leave(self, job: Job) -> None:
        """Run a job no more."""
        assert job.run is not None
        self._jobs.remove(job)
        try:
            self._batch.leave(job.run[1])
        except Exception as error:  # noqa: BLE001 - the others go on, and who leaves has been told
            log("leaving failed", logging.ERROR, error)

    def _begin_again(self, error: Exception) -> None:
        """Behind a pass that failed nothing is known of the engine: end what ran, and take a new one."""
        log("forward pass failed", logging.ERROR, error, requests=len(self._jobs))
        for job in self._jobs:
            job.notify(_failure(error))
        self._jobs.clear()
        self._decoder.prompt_cache.clear()
        self._batch = self._begun()

    def _begun(self) -> DecodeLoop:
        return DecodeLoop(self._decoder.new_engine(), time.perf_counter)


def _failure(error: Exception) -> Exception:
    """Return what the client is told of the device's memory; other errors as they are."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return retry_later(503, "out of memory; try again, or with a shorter prompt", "out_of_memory")
    return error


def _stopped() -> ApiError:
    return retry_later(503, "the server is stopping", "stopping")
