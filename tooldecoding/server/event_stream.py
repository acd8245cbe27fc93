"""Answers as streams of events."""

from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from tooldecoding.files.json_lines import json_line


class EventStream(StreamingResponse):
    """A stream of events; ``give_up`` is called when it is over, also where it ends early or before its first line."""

    def __init__(self, lines: AsyncIterator[str | bytes], give_up: Callable[[], None]) -> None:
        super().__init__(lines, media_type="text/event-stream", headers={"Cache-Control": "no-cache"})
        self._give_up = give_up

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._give_up()


def event(row: dict[str, Any]) -> str:
    """Return one event as it is sent."""
    return f"data: {json_line(row)}\n\n"
