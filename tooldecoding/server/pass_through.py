"""Requests that are none of ours, in front of a server that runs the model: passed on and back byte for byte."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import httpx
from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from tooldecoding.server.exchange import ApiError

_OF_A_CONNECTION: Final = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding",
    "upgrade", "host", "content-length",
})  # fmt: skip
"""Headers that concern one connection alone."""


def is_ours(body: bytes) -> bool:
    """Whether the body of a chat completion or response asks for what only we do: tools, or a field of ours.

    ``"tooldecoding": false`` leaves tools to the server behind.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return False
    if not isinstance(found, Mapping) or found.get("tooldecoding") is False:
        return False
    return bool(found.get("tools") or found.get("tooldecoding"))


class PassThrough:
    """Passes requests on to a server.

    Parameters
    ----------
    address : str
        As ``http://host:8000``.
    key : str, optional
        Sent in place of the client's own key.
    timeout : float
        Seconds in which something must come.
    """

    def __init__(self, address: str, key: str | None, timeout: float) -> None:
        self._headers = {} if key is None else {"authorization": f"Bearer {key}"}
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        patience = httpx.Timeout(timeout, connect=10.0, pool=None)
        self._http = httpx.AsyncClient(base_url=address, timeout=patience, limits=limits, trust_env=False)

    async def __call__(self, request: Request, body: bytes) -> Response:
        """Return the server's answer to a request; ApiError 502 if there is none."""
        kept = [(n, v) for n, v in request.headers.items() if n not in _OF_A_CONNECTION and n not in self._headers]
        path = request.scope["raw_path"].decode("ascii") + (f"?{query}" if (query := request.url.query) else "")
        asked = self._http.build_request(request.method, path, headers=[*kept, *self._headers.items()], content=body)
        try:
            answer = await self._http.send(asked, stream=True)
        except httpx.TransportError as error:
            message = f"the server that runs the model does not answer ({type(error).__name__})"
            raise ApiError(502, message, code="upstream_unreachable") from None
        shown = {n: v for n, v in answer.headers.items() if n not in _OF_A_CONNECTION}
        if "content-length" in answer.headers:
            shown["content-length"] = answer.headers["content-length"]
        return _Answer(answer, shown)

    async def stop(self) -> None:
        """Close the connections."""
        await self._http.aclose()


class _Answer(StreamingResponse):
    """An answer as its bytes come; it is closed, and so given up at the server, when its client goes away."""

    def __init__(self, answer: httpx.Response, headers: Mapping[str, str]) -> None:
        self._answer = answer
        super().__init__(self._bytes(), answer.status_code, headers)

    async def _bytes(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._answer.aiter_raw():
                yield piece
        finally:
            await self._answer.aclose()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._answer.aclose()
