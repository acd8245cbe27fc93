"""What stands before every route: request ids, keys, hosts, errors as OpenAI's objects, and one log line an answer."""

import hmac
import logging
import re
import time
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from hashlib import sha256
from typing import Any, Final

from starlette.exceptions import HTTPException

from lookup.errors import ToolDecodingError
from tooldecoding.options.serve_command import LOOPBACK, ServeCommand
from tooldecoding.server.api_error import ApiError, wrong_input
from tooldecoding.server.json_log import log
from tooldecoding.server.metrics import Metrics

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]

_ID: Final = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_OPEN: Final = frozenset({"/", "/health", "/ready"})
"""Paths that need no key."""


def as_api_error(error: Exception) -> ApiError:
    """Return the answer to an error; what is not the client's fault is named no further."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, ToolDecodingError):
        return wrong_input(error)
    if isinstance(error, HTTPException):
        return ApiError(error.status_code, error.detail.lower(), headers=error.headers)
    return ApiError(500, "internal error")


def told(error: Exception, request_id: str) -> ApiError:
    """Return the answer to an error; the log has what the client is not told."""
    answer = as_api_error(error)
    if answer.status >= 500 and not isinstance(error, ApiError):
        log("request failed", logging.ERROR, error, request_id=request_id)
    return answer


class Guard:
    """ASGI middleware.

    Parameters
    ----------
    app : callable
    options : ServeCommand
    metrics : Metrics
    """

    def __init__(self, app: Asgi, options: ServeCommand, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        self._key = None if options.api_key is None else _digest(options.api_key.encode("utf-8", "surrogateescape"))
        self._own_hosts = LOOPBACK if options.host in LOOPBACK else None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        given = headers.get("x-request-id", "")
        answer = _Answer(given if _ID.fullmatch(given) else uuid.uuid4().hex, send)
        scope.setdefault("state", {})["request_id"] = answer.request_id
        try:
            self._demand_host(headers)
            self._demand_key(scope["path"], headers)
            await self._app(scope, receive, answer.send)
        except Exception as error:  # noqa: BLE001 - no traceback in an answer
            failure = told(error, answer.request_id)
            if not answer.status:
                await failure.answer()(scope, receive, answer.send)
        finally:
            self._metrics.answers.labels(status=str(answer.status)).inc()
            log(
                "answered",
                request_id=answer.request_id,
                method=scope["method"],
                path=scope["path"],
                status=answer.status,
                seconds=round(time.monotonic() - answer.began, 4),
            )

    def _demand_host(self, headers: MutableMapping[str, str]) -> None:
        """Refuse other names on loopback: a web page could make its own name point here."""
        host = re.sub(r":\d+$", "", headers.get("host", "localhost")).strip("[]").lower()
        if self._own_hosts is not None and host not in self._own_hosts:
            raise ApiError(403, f"this server answers to localhost, not to {host!r:.80}", code="unknown_host")

    def _demand_key(self, path: str, headers: MutableMapping[str, str]) -> None:
        if self._key is None or path in _OPEN:
            return
        kind, _, key = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not hmac.compare_digest(_digest(key.strip().encode("latin-1")), self._key):
            raise ApiError(401, "a valid API key is needed: Authorization: Bearer …", code="invalid_api_key",
                           headers={"WWW-Authenticate": "Bearer"})  # fmt: skip


class _Answer:
    """An answer on its way: adds headers, and notes the status."""

    def __init__(self, request_id: str, send: Send) -> None:
        self.request_id = request_id
        self.status = 0
        self.began = time.monotonic()
        self._send = send

    async def send(self, message: Message) -> None:
        """Send a message of ASGI."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            added = [(b"x-request-id", self.request_id.encode()), (b"x-content-type-options", b"nosniff")]
            message["headers"] = [*message.get("headers", ()), *added]
        await self._send(message)


def _digest(key: bytes) -> bytes:
    return sha256(key).digest()
