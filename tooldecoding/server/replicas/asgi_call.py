"""One request to an ASGI application in the same process, without HTTP."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from tooldecoding.server.guard import Asgi, Message
from tooldecoding.server.replicas.message import Asked, Head

_OF_THE_INGRESS = frozenset({"content-length", "x-request-id", "x-content-type-options"})
"""Headers that the ingress sets itself."""


async def call(app: Asgi, asked: Asked, replica: str) -> AsyncIterator[Head | bytes]:
    """Yield the head of the answer, then the pieces of its body; whoever closes the generator hangs up.

    Pieces that were written meanwhile come as one.
    """
    written: asyncio.Queue[Message | None] = asyncio.Queue()

    async def send(message: Message) -> None:
        written.put_nowait(message)

    running = asyncio.ensure_future(app(_scope(asked), _receive(asked.body), send))
    running.add_done_callback(lambda _: written.put_nowait(None))
    try:
        start = await written.get()
        if start is None:
            running.result()
            raise RuntimeError("the application has not answered")
        body, more = await _piece(written)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in start.get("headers", ())}
        kept = {name: value for name, value in headers.items() if name not in _OF_THE_INGRESS}
        yield Head(start["status"], kept, body, more, replica)
        while more:
            body, more = await _piece(written)
            yield body
    finally:
        running.cancel()


def _scope(asked: Asked) -> dict[str, Any]:
    headers = {
        "host": "localhost",
        "content-type": "application/json",
        "content-length": str(len(asked.body)),
        "x-request-id": asked.request_id,
    }
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},  # a stream listens for no hang-up itself
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/v1/chat/completions",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }


def _receive(body: bytes) -> Any:
    parts = [body]

    async def receive() -> Message:
        if parts:
            return {"type": "http.request", "body": parts.pop(), "more_body": False}
        await asyncio.Event().wait()  # a client that hangs up cancels the whole call
        raise AssertionError

    return receive


async def _piece(written: asyncio.Queue[Message | None]) -> tuple[bytes, bool]:
    """Return what has been written of the body, at least one part, and whether more follows."""
    parts, message = [], await written.get()
    while message is not None:
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts), False
        if written.empty():
            return b"".join(parts), True
        message = written.get_nowait()
    raise ConnectionError("the answer broke off")
