"""Clients that go away while they wait."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request

T = TypeVar("T")


async def unless_gone(request: Request, coming: Coroutine[Any, Any, T]) -> T | None:
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
