"""The server of one model in this process."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool

from tooldecoding.decoder import ToolDecoder
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.result import DecodeResult
from tooldecoding.server.api_error import json_response
from tooldecoding.server.body import read_body, read_json
from tooldecoding.server.chat_body import read_chat_body
from tooldecoding.server.completion import Completion
from tooldecoding.server.event_stream import EventStream, event
from tooldecoding.server.guard import told
from tooldecoding.server.job import News
from tooldecoding.server.json_log import log
from tooldecoding.server.metrics import Metrics
from tooldecoding.server.prepared import Preparation
from tooldecoding.server.routes import MB, Routes, exposition
from tooldecoding.server.scheduler import Scheduler
from tooldecoding.server.waiting import Waiting


class Server(Routes):
    """One model behind HTTP.

    Parameters
    ----------
    decoder : ToolDecoder
    options : ServeCommand
    """

    def __init__(self, decoder: ToolDecoder, options: ServeCommand) -> None:
        super().__init__(options, Metrics())
        self._decoder = decoder
        self._preparation = Preparation(decoder)
        self.scheduler = Scheduler(decoder, options.max_batch, options.queue, options.kv_cache_mb * MB, self.metrics)

    @property
    def is_ready(self) -> bool:
        """Whether requests are taken."""
        return self.scheduler.is_ready

    def start(self) -> None:
        """Begin to take requests."""
        self.scheduler.start()

    @asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        self.start()
        log("ready", model=self._options.model, host=self._options.host, port=self._options.port)
        yield
        await run_in_threadpool(self.scheduler.stop)
        log("stopped")

    async def _chat(self, request: Request) -> Response:
        began = time.monotonic()
        body = await read_body(request, self._options.max_body_mb * MB)
        self.scheduler.demand_place()  # before the work of reading the request
        asked = read_chat_body(await run_in_threadpool(read_json, body))
        self._demand_model(asked.model)
        prepared = await run_in_threadpool(self._preparation.prepare, asked)
        if self._options.log_prompts:
            log("prompt", request_id=request.state.request_id, prompt=prepared.request.prompt)
        completion = Completion(asked, prepared, self._decoder, self._options.model_names[0])
        waiting = Waiting(self.scheduler, prepared, bool(asked.stream), self._options.timeout)
        first = await waiting.first(request)
        if first is None:
            return Response(status_code=499)
        if asked.stream:
            lines = self._lines(waiting, first, completion, began, request.state.request_id)
            return EventStream(lines, waiting.give_up)
        assert isinstance(first, DecodeResult)
        self._count(first, len(prepared.prompt_ids), began)
        return json_response(completion.whole(first))

    async def _lines(
        self, waiting: Waiting, next_: News, completion: Completion, began: float, request_id: str
    ) -> AsyncIterator[str]:
        """Yield the events of a stream; an error behind the first piece is an event, too."""
        self.metrics.first.observe(time.monotonic() - began)
        yield event(completion.begin())
        try:
            while not isinstance(next_, DecodeResult):
                for chunk in completion.chunks(next_):
                    yield event(chunk)
                next_ = await waiting.next()
            self._count(next_, waiting.prompt_tokens, began)
            for chunk in completion.end(next_):
                yield event(chunk)
            yield "data: [DONE]\n\n"
        except Exception as error:  # noqa: BLE001 - the status is sent already
            yield event(told(error, request_id).to_json())

    def _count(self, result: DecodeResult, prompt_tokens: int, began: float) -> None:
        metrics = self.metrics
        metrics.whole.observe(time.monotonic() - began)
        metrics.prompt_tokens.inc(prompt_tokens)
        metrics.reused_tokens.inc(result.counters.reused_positions)
        metrics.completion_tokens.inc(len(result.token_ids))
        for call in result.calls:
            metrics.calls.labels(valid=str(call.voted.valid).lower()).inc()

    async def _health(self) -> Response:
        return json_response({"status": "ok"})

    async def _ready(self) -> Response:
        ready = self.is_ready
        return json_response({"status": "ready" if ready else "not ready"}, 200 if ready else 503)

    async def _metrics(self) -> Response:
        return exposition(self.metrics.text())
