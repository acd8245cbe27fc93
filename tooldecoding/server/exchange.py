"""One request over HTTP, who answers, and how: the bounded body, clients that go away, streams, errors as OpenAI's.

Requests and answers are rows of JSON.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from lookup.errors import ToolDecodingError
from tooldecoding.errors import ContextLengthError, UpstreamError
from tooldecoding.files.json_lines import json_line, read_object
from tooldecoding.server.monitoring import Metrics, exposition, log


@dataclass(eq=False)
class ApiError(Exception):
    """An answer that says what is wrong.

    Attributes
    ----------
    status : int
        HTTP status.
    message : str
        In words, for the user.
    param : str or None
        The field of the request that is wrong.
    code : str or None
        OpenAI's or our short name of the error.
    headers : mapping
        Further headers of the answer.
    """

    status: int
    message: str
    param: str | None = None
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return OpenAI's error object; the status decides its type."""
        types = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
        type_ = types.get(self.status, "server_error" if self.status >= 500 else "invalid_request_error")
        return {"error": {"message": self.message, "type": type_, "param": self.param, "code": self.code}}

    def as_start(self) -> "ResponseStart":
        """Return it as an answer."""
        return ResponseStart(self.status, self.to_json(), self.headers)


def retry_later(status: int, message: str, code: str | None = None) -> ApiError:
    """Return an error that may be gone when the client tries again."""
    return ApiError(status, message, code=code, headers={"Retry-After": "1"})


def wrong_input(error: ToolDecodingError, param: str | None = None) -> ApiError:
    """Return the answer to input that cannot be used; it shows no path of this machine and no text of the prompt."""
    code = "context_length_exceeded" if isinstance(error, ContextLengthError) else "invalid_value"
    return ApiError(400, error.public, param, code)


def to_api_error(error: Exception, request_id: str) -> ApiError:
    """Return the answer to an error; what is not the client's fault stands in the log alone."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, UpstreamError):
        log("upstream failed", logging.ERROR, error, request_id=request_id)
        return ApiError(502, error.public, code="upstream_failed")
    if isinstance(error, ToolDecodingError):
        return wrong_input(error)
    if isinstance(error, HTTPException):
        return ApiError(error.status_code, error.detail.lower(), headers=error.headers or {})
    log("request failed", logging.ERROR, error, request_id=request_id)
    return ApiError(500, "internal error")


_JSON: Final = "application/json"
_SECONDS: Final = 30

Row = dict[str, Any]


@dataclass(frozen=True)
class ResponseStart:
    """The beginning of an answer.

    Attributes
    ----------
    row : dict
        All of it, or the first event of a stream.
    streamed : bool
        Whether it is a stream, whose further events follow.
    """

    status: int
    row: Row
    headers: Mapping[str, str] = field(default_factory=dict)
    streamed: bool = False


ResponsePart = ResponseStart | Row
ResponseStream = AsyncGenerator[ResponsePart, None]
"""The start of an answer, then the further events of a stream. Whoever closes it gives the request up.

A stream that fails ends with the row of an error.
"""


class Answerer:
    """Who answers."""

    def __init__(self) -> None:
        self.metrics = Metrics()

    def answer(self, given: Row, request_id: str) -> ResponseStream:
        """Return the answer to a chat completion."""
        raise NotImplementedError

    async def health(self) -> ResponseStart:
        """Tell whether the server works."""
        return ResponseStart(200, {"status": "ok"})

    async def ready(self) -> ResponseStart:
        """Tell whether requests are taken."""
        return ResponseStart(200, {"status": "ready"})

    async def figures(self) -> bytes:
        """Return the figures for Prometheus; ApiError if there are none."""
        return exposition(self.metrics.families())

    async def stop(self) -> None:
        """Finish what runs."""


async def read_body(request: Request, most: int) -> Row:
    """Return the body, a JSON object; ApiError as ``read_bytes`` and ``read_row``."""
    return await read_row(request, await read_bytes(request, most))


async def read_row(request: Request, body: bytes) -> Row:
    """Return the JSON object of a body.

    Only ``application/json`` is read: a web page of another origin cannot send it without being asked first.

    Raises
    ------
    ApiError
        415 for another content type; 400 for anything but a JSON object, also for a key twice, numbers that JSON does
        not have, and too many levels of nesting.
    """
    given = request.headers.get("content-type", "")
    if given.partition(";")[0].strip().lower() != _JSON:
        raise ApiError(415, f"expected the content type {_JSON}, found {given!r:.80}", code="unsupported_media_type")
    return await run_in_threadpool(_read_json, body)


async def read_bytes(request: Request, most: int) -> bytes:
    """Return the body; ApiError 413 for more than ``most`` bytes, 408 if it does not arrive, 400 if it breaks off."""
    too_large = ApiError(413, f"the body has more than {most:,} bytes", code="request_too_large")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > most:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > most:
                    raise too_large
    except TimeoutError:
        raise ApiError(408, f"the body did not arrive within {_SECONDS} seconds", code="timeout") from None
    except ClientDisconnect:
        raise ApiError(400, "the body is not complete", code="incomplete_body") from None
    return bytes(body)


def _read_json(body: bytes) -> Row:
    try:
        return read_object(body.decode())
    except UnicodeDecodeError as error:
        raise ApiError(400, f"the body is no UTF-8: byte {error.start}", code="invalid_json") from None
    except ValueError as error:
        raise ApiError(400, f"the body is no JSON object: {error}", code="invalid_json") from None


async def unless_disconnected(request: Request, coming: Coroutine[Any, Any, ResponsePart]) -> ResponsePart | None:
    """Return what is coming, or None if the client goes away before; the body must have been read."""
    happened = asyncio.ensure_future(coming)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({happened, gone}, return_when=asyncio.FIRST_COMPLETED)
        return happened.result() if happened.done() else None
    finally:
        happened.cancel()
        gone.cancel()


async def _gone(request: Request) -> None:
    """Return when the client has gone away."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def response(start: ResponseStart, stream: ResponseStream | None = None) -> Response:
    """Return the answer that begins with ``start``; a stream goes on with ``stream``."""
    if stream is None or not start.streamed:
        return Response(json_line(start.row), start.status, start.headers, _JSON)
    return _EventStream(start, stream)


class _EventStream(StreamingResponse):
    """A stream; what writes it is closed when it is over, also where that is early or before its first event.

    ``[DONE]`` ends it, unless it has failed.
    """

    def __init__(self, start: ResponseStart, stream: ResponseStream) -> None:
        self._start = start
        self._stream = stream
        headers = {"Cache-Control": "no-cache", **start.headers}
        super().__init__(self._events(), start.status, headers, "text/event-stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._stream.aclose()

    async def _events(self) -> AsyncIterator[str]:
        row: Any = self._start.row
        yield _event(row)
        async for row in self._stream:
            yield _event(row)
        if "error" not in row:
            yield "data: [DONE]\n\n"


def _event(row: Row) -> str:
    """Return one event as it is sent; those of Open Responses have types."""
    return (f"event: {row['type']}\n" if "type" in row else "") + f"data: {json_line(row)}\n\n"
