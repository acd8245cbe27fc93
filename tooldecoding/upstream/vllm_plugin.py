"""An endpoint plug-in of vLLM: ``VLLM_PLUGINS=tooldecoding vllm serve MODEL`` answers requests with tools.

All others go on to the route that was there: without tools, without a field of ours, or with another model's name (a
LoRA adapter's). Keys, metrics and everything else stay vLLM's. ``TOOLDECODING_CONFIG`` may name a file of options as
``tooldecoding serve --config`` takes it.
"""

import os
from argparse import Namespace
from collections.abc import Awaitable, Callable
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.routing import APIRoute
from starlette.types import Message, Receive, Scope, Send

from tooldecoding.decoder import ToolDecoder
from tooldecoding.models.loading import quiet, read_config_and_tokenizer
from tooldecoding.models.upstream import UpstreamModel, small_config, with_context
from tooldecoding.options.parsed_arguments import read_config
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.chat_completions import ChatCompletions
from tooldecoding.server.exchange import (
    ResponseStart,
    read_bytes,
    read_row,
    response,
    to_api_error,
    unless_disconnected,
)
from tooldecoding.server.pass_through import is_ours
from tooldecoding.server.responses import responses
from tooldecoding.upstream.vllm_client import VllmClient

CONFIG_VARIABLE: Final = "TOOLDECODING_CONFIG"
_CHAT, _RESPONSES = "/v1/chat/completions", "/v1/responses"


class ToolDecodingPlugin:
    """What vLLM loads; see ``vllm.plugins.endpoint_plugins.interface.EndpointPlugin``."""

    name = "tooldecoding"
    required_tasks = ("generate",)

    def __init__(self) -> None:
        self._answerer: ChatCompletions | None = None
        self._options = ServeCommand()

    def attach_router(self, app: FastAPI) -> None:
        """Take over the routes of chat completions and responses."""
        for path in (_CHAT, _RESPONSES):
            before = [
                r for r in app.routes if isinstance(r, APIRoute) and r.path == path and "POST" in (r.methods or ())
            ]
            if before:
                app.add_api_route(path, self._taking_over(before[-1]), methods=["POST"], response_model=None)

    async def init_state(self, engine_client: Any, state: Any, args: Namespace) -> None:
        """Make the decoder of the model that vLLM serves.

        ToolDecodingError if its tokenizer cannot be used, or the options are wrong; vLLM does not start then.
        """
        config = os.environ.get(CONFIG_VARIABLE)
        given = read_config(config, ServeCommand) if config else {}
        names = args.served_model_name or [args.model]
        self._options = ServeCommand(**given | {"model": args.model, "served_model_name": tuple(names)})
        source = args.tokenizer or args.model
        with quiet(source, False, None):
            found, tokenizer = read_config_and_tokenizer(source)
        server = VllmClient(engine_client, names[0])
        context = with_context(found or small_config(tokenizer), engine_client.model_config.max_model_len)
        decoder = ToolDecoder(UpstreamModel(server, context, names[0]), tokenizer, options=self._options)
        self._answerer = ChatCompletions(decoder, self._options)

    def _taking_over(self, before: APIRoute) -> Callable[[Request], Awaitable[Response]]:
        async def answered(request: Request) -> Response:
            return await self._answer(before, request)

        return answered

    async def _answer(self, before: APIRoute, request: Request) -> Response:
        body = await read_bytes(request, self._options.max_body_mb << 20)
        given: dict[str, Any] = {}
        request_id = request.headers.get("x-request-id") or ""
        try:
            if self._answerer is None or not is_ours(body):
                return _Before(before, body)
            given = await read_row(request, body)
            if given.get("model") not in (None, *self._options.model_names):
                return _Before(before, body)
            answer = self._answerer.answer
            if request.url.path.endswith(_RESPONSES):
                stream = responses(answer, self._options, given, request_id)
            else:
                stream = answer(given, request_id)
            start = await unless_disconnected(request, anext(stream))
        except Exception as error:  # noqa: BLE001 - no traceback in an answer
            return response(to_api_error(error, request_id).as_start())
        return response(start, stream) if isinstance(start, ResponseStart) else Response(status_code=499)


class _Before(Response):
    """The answer of the route that was there, to the same request."""

    def __init__(self, route: APIRoute, body: bytes) -> None:
        super().__init__()
        self._route = route
        self._body: bytes | None = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the route answer."""

        async def again() -> Message:
            if self._body is None:
                return await receive()
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}

        await self._route.app(scope, again, send)
