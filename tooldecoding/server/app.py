"""The routes of the server, whoever answers behind them."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.api_error import told
from tooldecoding.server.chat_body import demand_model
from tooldecoding.server.exchange import MB, Head, Parts, Row, failed, read_body, response, unless_gone
from tooldecoding.server.guard import Guard
from tooldecoding.server.json_log import log
from tooldecoding.server.metrics import Metrics, exposition
from tooldecoding.server.page import page
from tooldecoding.server.responses import responses


class Answerer:
    """Who answers: a model in this process, or replicas."""

    def __init__(self) -> None:
        self.metrics = Metrics()

    def answer(self, given: Row, request_id: str) -> Parts:
        """Return the answer to a chat completion."""
        raise NotImplementedError

    async def health(self) -> Head:
        """Tell whether the server works."""
        return Head(200, {"status": "ok"})

    async def ready(self) -> Head:
        """Tell whether requests are taken."""
        return Head(200, {"status": "ready"})

    async def figures(self) -> bytes:
        """Return the figures for Prometheus; ApiError if there are none."""
        return exposition(self.metrics.families())

    async def stop(self) -> None:
        """Finish what runs."""


def load_completions(options: ServeCommand) -> Answerer:
    """Load a model in this process; ModelError if that fails."""
    from tooldecoding.decoder import ToolDecoder
    from tooldecoding.models.loading import load_quietly
    from tooldecoding.server.completions import Completions

    model, tokenizer = load_quietly(options.model, **options.loading)
    return Completions(ToolDecoder(model, tokenizer, options.strategy, options, options.prompt_cache_mb), options)


def application(answerer: Answerer, options: ServeCommand) -> FastAPI:
    """Return the application."""
    began = int(time.time())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        log("ready", model=options.model, host=options.host, port=options.port)
        yield
        await answerer.stop()
        log("stopped")

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.add_middleware(Guard, options=options, metrics=answerer.metrics)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: Exception) -> Response:
        return response(failed(told(error, request.state.request_id)))

    @app.post("/v1/chat/completions")
    async def chat(request: Request) -> Response:
        return await answered(request, answerer.answer)

    @app.post("/v1/responses")
    async def open_responses(request: Request) -> Response:
        return await answered(request, partial(responses, answerer.answer, options))

    async def answered(request: Request, answer: Callable[[Row, str], Parts]) -> Response:
        given = await read_body(request, options.max_body_mb * MB)
        parts = answer(given, request.state.request_id)
        head = await unless_gone(request, anext(parts))
        if not isinstance(head, Head):
            return Response(status_code=499)
        return response(head, parts)

    def card(name: str) -> Row:
        return {"id": name, "object": "model", "created": began, "owned_by": "tooldecoding"}

    @app.get("/v1/models")
    async def models() -> Response:
        return response(Head(200, {"object": "list", "data": [*map(card, options.model_names)]}))

    @app.get("/v1/models/{name:path}")
    async def model(name: str) -> Response:
        demand_model(name, options)
        return response(Head(200, card(name)))

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

    return app
