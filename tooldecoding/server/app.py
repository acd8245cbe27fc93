"""The routes of the server, whoever answers behind them.

Before every route stand request ids, keys, hosts, errors as OpenAI's objects, and one log line an answer.
"""

import hmac
import re
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Final

from fastapi import FastAPI, Request, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tooldecoding.options.serve_command import LOOPBACK, ServeCommand
from tooldecoding.server.chat_body import demand_model
from tooldecoding.server.exchange import (
    Answerer,
    ApiError,
    ResponseStart,
    ResponseStream,
    Row,
    read_bytes,
    read_row,
    response,
    to_api_error,
    unless_disconnected,
)
from tooldecoding.server.monitoring import Metrics, log
from tooldecoding.server.page import page
from tooldecoding.server.pass_through import PassThrough, is_ours
from tooldecoding.server.responses import responses

_ID: Final = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_OPEN: Final = frozenset({"/", "/health", "/ready"})
"""Paths that need no key."""
_PATHS: Final = _OPEN | {"/metrics", "/v1/models", "/v1/chat/completions", "/v1/responses"}
"""Paths without the name of a model; a slash behind them changes nothing."""


class Guard:
    """The middleware."""

    def __init__(self, app: ASGIApp, options: ServeCommand, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        self._key = None if options.api_key is None else _digest(options.api_key.encode("utf-8", "surrogateescape"))
        self._own_hosts = LOOPBACK if options.host in LOOPBACK else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if (path := scope["path"].rstrip("/")) in _PATHS:
            scope = {**scope, "path": path, "raw_path": path.encode()}
        headers, began, status = Headers(scope=scope), time.monotonic(), 0
        given = headers.get("x-request-id", "")
        request_id = scope.setdefault("state", {})["request_id"] = given if _ID.fullmatch(given) else uuid.uuid4().hex

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                added = MutableHeaders(scope=message)
                added["X-Request-Id"], added["X-Content-Type-Options"] = request_id, "nosniff"
            await send(message)

        try:
            self._demand_host(headers)
            self._demand_key(scope["path"], headers)
            await self._app(scope, receive, answer)
        except Exception as error:  # noqa: BLE001 - no traceback in an answer
            failure = to_api_error(error, request_id)
            if not status:
                await response(failure.as_start())(scope, receive, answer)
        finally:
            self._metrics.answers.labels(status=str(status)).inc()
            about = {"method": scope["method"], "path": scope["path"], "status": status}
            log("answered", request_id=request_id, **about, seconds=round(time.monotonic() - began, 4))

    def _demand_host(self, headers: Headers) -> None:
        """Refuse other names on loopback: a web page could make its own name point here."""
        host = re.sub(r":\d+$", "", headers.get("host", "localhost")).strip("[]").lower()
        if self._own_hosts is not None and host not in self._own_hosts:
            raise ApiError(403, f"this server answers to localhost, not to {host!r:.80}", code="unknown_host")

    def _demand_key(self, path: str, headers: Headers) -> None:
        if self._key is None or path in _OPEN:
            return
        kind, _, key = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not hmac.compare_digest(_digest(key.strip().encode("latin-1")), self._key):
            raise ApiError(401, "a valid API key is needed: Authorization: Bearer …", code="invalid_api_key",
                           headers={"WWW-Authenticate": "Bearer"})  # fmt: skip


def _digest(key: bytes) -> bytes:
    return sha256(key).digest()


def load_completions(options: ServeCommand, tell: Callable[[str], None] | None = None) -> tuple[Answerer, ServeCommand]:
    """Load a model in this process, or find that of ``--upstream``; returns the options with its name, too.

    ModelError or UpstreamError if that fails. ``tell``: as ``load_quietly`` takes it.
    """
    from tooldecoding.decoder import ToolDecoder
    from tooldecoding.models.loading import load_quietly
    from tooldecoding.models.upstream import UpstreamModel
    from tooldecoding.server.chat_completions import ChatCompletions

    model, tokenizer = load_quietly(options.model, tell=tell, **options.loading)
    if isinstance(model, UpstreamModel) and not options.served_model_name:
        options = replace(options, served_model_name=(model.name,))
    decoder = ToolDecoder(model, tokenizer, options.strategy, options, options.prompt_cache_mb)
    return ChatCompletions(decoder, options), options


def application(answerer: Answerer, options: ServeCommand) -> FastAPI:
    """Return the application. In front of ``--upstream``, what asks for no tools is passed on."""
    began = int(time.time())
    passing = None
    if options.upstream is not None:
        passing = PassThrough(options.upstream, options.loading["upstream_api_key"], options.timeout)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        log("ready", model=options.model, host=options.host, port=options.port)
        yield
        await answerer.stop()
        if passing is not None:
            await passing.stop()
        log("stopped")

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.add_middleware(Guard, options=options, metrics=answerer.metrics)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: Exception) -> Response:
        return response(to_api_error(error, request.state.request_id).as_start())

    @app.post("/v1/chat/completions")
    async def chat(request: Request) -> Response:
        return await answered(request, answerer.answer)

    @app.post("/v1/responses")
    async def open_responses(request: Request) -> Response:
        return await answered(request, partial(responses, answerer.answer, options))

    async def answered(request: Request, answer: Callable[[Row, str], ResponseStream]) -> Response:
        body = await read_bytes(request, options.max_body_mb << 20)
        if passing is not None and not is_ours(body):
            return await passing(request, body)
        given = await read_row(request, body)
        stream = answer(given, request.state.request_id)
        start = await unless_disconnected(request, anext(stream))
        if not isinstance(start, ResponseStart):
            return Response(status_code=499)
        return response(start, stream)

    def card(name: str) -> Row:
        return {"id": name, "object": "model", "created": began, "owned_by": "tooldecoding"}

    @app.get("/v1/models")
    async def models(request: Request) -> Response:
        if passing is not None:
            return await passing(request, b"")
        return response(ResponseStart(200, {"object": "list", "data": [*map(card, options.model_names)]}))

    @app.get("/v1/models/{name:path}")
    async def model(request: Request, name: str) -> Response:
        if passing is not None:
            return await passing(request, b"")
        name = name if name in (*options.model_names, options.model) else name.rstrip("/")
        demand_model(name, options)
        return response(ResponseStart(200, card(name)))

    @app.get("/health")
    async def health() -> Response:
        return response(await answerer.health())

    @app.get("/ready")
    async def ready() -> Response:
        return response(await answerer.ready())

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(await answerer.figures(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/")
    async def root() -> Response:
        content, headers = page()
        return Response(content, headers=headers)

    if passing is not None:

        @app.api_route("/{path:path}", methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
        async def other(request: Request) -> Response:
            return await passing(request, await read_bytes(request, options.max_body_mb << 20))

    return app
