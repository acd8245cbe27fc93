"""Runs all requests in one thread: they join the running batch at the next forward pass, and leave when they are done.

Law: a greedy answer does not depend on who shares the batch.
"""

import logging
import threading
import time
from collections import deque

import torch

from lookup.errors import ToolDecodingError
from tooldecoding.decoder import ToolDecoder
from tooldecoding.scheduler import Scheduler as Passes
from tooldecoding.server.api_error import ApiError, later
from tooldecoding.server.job import Job
from tooldecoding.server.json_log import log
from tooldecoding.server.metrics import Metrics


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
            raise later(429, message, "queue_full")

    def submit(self, job: Job) -> None:
        """Put a job in the queue; ApiError as ``demand_place``."""
        with self._changed:
            self.demand_place()
            self._waiting.append(job)
            self._metrics.waiting.set(len(self._waiting))
            self._changed.notify()

    def cancel(self, job: Job) -> None:
        """Give a job up, if it has not ended."""
        with self._changed:
            job.cancelled = True
            self._changed.notify()

    def _live(self) -> None:
        """Run jobs until the end, or until there is no engine; nobody waits for ever then."""
        try:
            self._run()
        finally:
            with self._changed:
                self._stopping = True
                for job in self._waiting:
                    job.notify(_stopped())

    def _run(self) -> None:
        while self._wait():
            try:
                self._give_up()
                self._admit()
                self._forward()
                self._measure()
            except Exception as error:  # noqa: BLE001 - the server outlives what goes wrong in a pass
                self._begin_again(error)

    def _wait(self) -> bool:
        """Wait for something to do; False when all is done and the server stops."""
        with self._changed:
            while not self._waiting and not self._jobs:
                if self._stopping:
                    return False
                self._changed.wait()
        return True

    def _give_up(self) -> None:
        """Drop jobs whose client is gone, or whose time is over."""
        now = time.monotonic()
        with self._changed:
            over = [job for job in self._waiting if job.cancelled or now > job.deadline]
            for job in over:
                self._waiting.remove(job)
        for job in [job for job in self._jobs if job.cancelled or now > job.deadline]:
            self._leave(job)
            over.append(job)
        for job in over:
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
            if job.cancelled:
                self._metrics.cancelled.inc()
                continue
            job.began = time.monotonic()
            try:
                job.run, job.decoding = self._decoder.begin(
                    job.request, job.prompt_ids, self._batch, job.stream, job.is_watched
                )
            except Exception as error:  # noqa: BLE001 - the others go on whatever happens to one of them
                _fail(job, error)
                continue
            self._jobs.append(job)

    def _measure(self) -> None:
        self._metrics.waiting.set(len(self._waiting))
        self._metrics.running.set(len(self._jobs))
        self._metrics.cache_bytes.set(self._batch.engine.allocated_bytes)

    def _has_room(self, job: Job) -> bool:
        if not self._jobs:
            return True
        if len(self._jobs) >= self._max_batch:
            return False
        engine = self._batch.engine
        needed = engine.bytes_for([each.need for each in (*self._jobs, job)])
        return max(needed, engine.allocated_bytes) <= self._cache_bytes

    def _forward(self) -> None:
        if not self._jobs:
            return
        self._batch.forward()
        self._metrics.passes.inc()
        for job in list(self._jobs):
            try:
                ended = self._tell(job)
            except Exception as error:  # noqa: BLE001 - the others go on whatever happens to one of them
                _fail(job, error)
                ended = True
            if ended:
                self._leave(job)

    def _tell(self, job: Job) -> bool:
        """Tell a job what is new, and its result if it has ended; raises the error that ended it."""
        assert job.run is not None and job.decoding is not None
        result = None
        if job.decoding.ended:
            options, seconds = job.request.options, time.monotonic() - job.began
            result = job.run.result(job.decoding.result, self._decoder.table, options, seconds)
            if job.stream is not None:
                job.stream.show(result.answer)
        if job.stream is not None and not job.cancelled:
            for piece in job.stream.take():
                job.notify(piece)
        if result is not None:
            job.notify(result)
        return result is not None

    def _leave(self, job: Job) -> None:
        """Run a job no more."""
        assert job.decoding is not None
        self._jobs.remove(job)
        try:
            self._batch.leave(job.decoding)
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

    def _begun(self) -> Passes:
        return Passes(self._decoder.new_engine(), time.perf_counter)


def _fail(job: Job, error: Exception) -> None:
    """End a job by an error of its own."""
    if not isinstance(error, ToolDecodingError):
        log("decode failed", logging.ERROR, error)
    job.notify(_failure(error))


def _failure(error: Exception) -> ApiError | ToolDecodingError:
    """Return what the client is told; of the program's inside nothing."""
    if isinstance(error, ToolDecodingError):
        return error
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return later(503, "out of memory; try again, or with a shorter prompt", "out_of_memory")
    return ApiError(500, "internal error")


def _stopped() -> ApiError:
    return later(503, "the server is stopping", "stopping")
