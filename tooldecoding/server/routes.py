"""The routes that every server has, whoever answers behind them."""

import time
from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.api_error import ApiError, json_response
from tooldecoding.server.guard import Guard, as_api_error
from tooldecoding.server.metrics import Metrics
from tooldecoding.server.page.page import page

MB: Final = 1 << 20


class Routes(ABC):
    """An application of one model.

    Parameters
    ----------
    options : ServeCommand
    metrics : Metrics
    """

    def __init__(self, options: ServeCommand, metrics: Metrics) -> None:
        self._options = options
        self._began = int(time.time())
        self.metrics = metrics

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

    @abstractmethod
    def _lifespan(self, app: FastAPI) -> AbstractAsyncContextManager[None]:
        """Return what surrounds the life of the application."""

    @abstractmethod
    async def _chat(self, request: Request) -> Response:
        """Answer a chat completion."""

    @abstractmethod
    async def _health(self) -> Response:
        """Tell whether the server works."""

    @abstractmethod
    async def _ready(self) -> Response:
        """Tell whether requests are taken."""

    @abstractmethod
    async def _metrics(self) -> Response:
        """Return the figures for Prometheus."""

    def _demand_model(self, name: str) -> None:
        if not self._options.has_model(name):
            known = ", ".join(map(repr, self._options.model_names))
            message = f"the model {name!r:.80} does not exist; this server has {known}"
            raise ApiError(404, message, "model", "model_not_found")

    def _card(self, name: str) -> dict[str, Any]:
        return {"id": name, "object": "model", "created": self._began, "owned_by": "tooldecoding"}

    async def _models(self) -> Response:
        return json_response({"object": "list", "data": [*map(self._card, self._options.model_names)]})

    async def _model(self, name: str) -> Response:
        self._demand_model(name)
        return json_response(self._card(name))

    async def _page(self) -> Response:
        content, headers = page()
        return Response(content, headers=headers, media_type="text/html; charset=utf-8")


def exposition(figures: bytes) -> Response:
    """Return figures in the format of Prometheus as an answer."""
    return Response(figures, media_type="text/plain; version=0.0.4; charset=utf-8")


async def _refused(_: Request, error: Exception) -> Response:
    return as_api_error(error).answer()
