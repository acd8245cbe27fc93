"""What stands before every route: request ids, keys, hosts, errors as OpenAI's objects, and one log line an answer."""

import hmac
import re
import time
import uuid
from hashlib import sha256
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tooldecoding.options.serve_command import LOOPBACK, ServeCommand
from tooldecoding.server.api_error import ApiError, told
from tooldecoding.server.exchange import failed, response
from tooldecoding.server.json_log import log
from tooldecoding.server.metrics import Metrics

_ID: Final = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_OPEN: Final = frozenset({"/", "/health", "/ready"})
"""Paths that need no key."""


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
            failure = told(error, request_id)
            if not status:
                await response(failed(failure))(scope, receive, answer)
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
