"""The routes of the server."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from tooldecoding.decoder import ToolDecoder
from tooldecoding.files.json_lines import json_line
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.result import DecodeResult
from tooldecoding.server.api_error import ApiError, json_response
from tooldecoding.server.body import read_body, read_json
from tooldecoding.server.chat_body import read_chat_body
from tooldecoding.server.completion import Completion
from tooldecoding.server.guard import Guard, as_api_error
from tooldecoding.server.job import Event
from tooldecoding.server.json_log import log
from tooldecoding.server.metrics import Metrics
from tooldecoding.server.page.page import page
from tooldecoding.server.prepared import Preparation
from tooldecoding.server.scheduler import Scheduler
from tooldecoding.server.waiting import Waiting

_MB = 1 << 20


class Server:
    """One model behind HTTP.

    Parameters
    ----------
    decoder : ToolDecoder
    options : ServeCommand
    """

    def __init__(self, decoder: ToolDecoder, options: ServeCommand) -> None:
        self._decoder = decoder
        self._options = options
        self._began = int(time.time())
        self._preparation = Preparation(decoder)
        self.metrics = Metrics()
        self.scheduler = Scheduler(decoder, options.max_batch, options.queue, options.kv_cache_mb * _MB, self.metrics)

    def app(self) -> FastAPI:
        """Return the application."""
        app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=self._lifespan)
        app.add_api_route("/v1/chat/completions", self._chat, methods=["POST"])
        app.add_api_route("/v1/models", self._models)
        app.add_api_route("/v1/models/{name:path}", self._model)
        app.add_api_route("/health", self._health)
        app.add_api_route("/ready", self._ready)
        app.add_api_route("/metrics", self._metrics)
        app.add_api_route("/", self._page)
        app.add_exception_handler(HTTPException, _refused)
        app.add_middleware(Guard, options=self._options, metrics=self.metrics)
        return app

    @asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        self.scheduler.start()
        log("ready", model=self._options.model, host=self._options.host, port=self._options.port)
        yield
        await run_in_threadpool(self.scheduler.stop)
        log("stopped")

    async def _chat(self, request: Request) -> Response:
        began = time.monotonic()
        body = await read_body(request, self._options.max_body_mb * _MB)
        self.scheduler.demand_place()  # before the work of reading the request
        asked = read_chat_body(await run_in_threadpool(read_json, body))
        self._demand_model(asked.model)
        prepared = await run_in_threadpool(self._preparation.prepare, asked)
        if self._options.log_prompts:
            log("prompt", request_id=request.state.request_id, prompt=prepared.request.prompt)
        waiting = Waiting(self.scheduler, prepared, bool(asked.stream), self._options.timeout)
        completion = Completion(asked, prepared, self._decoder)
        first = await waiting.first(request)
        if first is None:
            return Response(status_code=499)
        if asked.stream:
            return _Stream(self._lines(waiting, first, completion, began), waiting)
        assert isinstance(first, DecodeResult)
        self._count(first, len(prepared.prompt_ids), began)
        return json_response(completion.whole(first))

    async def _lines(self, waiting: Waiting, event: Event, completion: Completion, began: float) -> AsyncIterator[str]:
        """Yield the events of a stream; an error behind the first piece is an event, too."""
        self.metrics.first.observe(time.monotonic() - began)
        yield _event(completion.begin())
        while not isinstance(event, DecodeResult):
            if isinstance(event, Exception):
                yield _event(as_api_error(event).to_json())
                return
            for chunk in completion.chunks(event):
                yield _event(chunk)
            event = await waiting.next()
        self._count(event, waiting.prompt_tokens, began)
        for chunk in completion.end(event):
            yield _event(chunk)
        yield "data: [DONE]\n\n"

    def _count(self, result: DecodeResult, prompt_tokens: int, began: float) -> None:
        metrics = self.metrics
        metrics.whole.observe(time.monotonic() - began)
        metrics.prompt_tokens.inc(prompt_tokens)
        metrics.reused_tokens.inc(result.counters.reused_positions)
        metrics.completion_tokens.inc(len(result.token_ids))
        for call in result.calls:
            metrics.calls.labels(valid=str(call.voted.valid).lower()).inc()

    def _demand_model(self, name: str) -> None:
        if name != self._options.model:
            raise ApiError(
                404, f"the model {name!r:.80} does not exist; this server has {self._options.model!r}", "model",
                "model_not_found",
            )  # fmt: skip

    def _card(self) -> dict[str, Any]:
        return {"id": self._options.model, "object": "model", "created": self._began, "owned_by": "tooldecoding"}

    async def _models(self) -> Response:
        return json_response({"object": "list", "data": [self._card()]})

    async def _model(self, name: str) -> Response:
        self._demand_model(name)
        return json_response(self._card())

    async def _health(self) -> Response:
        return json_response({"status": "ok"})

    async def _ready(self) -> Response:
        ready = self.scheduler.is_ready
        return json_response({"status": "ready" if ready else "not ready"}, 200 if ready else 503)

    async def _metrics(self) -> Response:
        return Response(self.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _page(self) -> Response:
        content, headers = page()
        return Response(content, headers=headers, media_type="text/html; charset=utf-8")


class _Stream(StreamingResponse):
    """A stream of events; gives its job up where it ends early, also before its first line."""

    def __init__(self, lines: AsyncIterator[str], waiting: Waiting) -> None:
        super().__init__(lines, media_type="text/event-stream", headers={"Cache-Control": "no-cache"})
        self._waiting = waiting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._waiting.give_up()


async def _refused(_: Request, error: Exception) -> Response:
    return as_api_error(error).answer()


def _event(row: dict[str, Any]) -> str:
    return f"data: {json_line(row)}\n\n"
