"""One connection of a client, and the time in which the client must send its request and read the answer."""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

_PATIENCE_S: Final = 30.0
"""Seconds in which the headers of a request must come, and in which the client must read what waits for it."""
_LOOKS: Final = 10
"""Looks at a connection in this time."""


class Connection(H11Protocol):
    """A connection of uvicorn's that is closed when its client keeps it waiting.

    There are no more than twice ``limit_concurrency``; uvicorn itself answers requests beyond it with status 503.
    """

    _pauses = 0
    _look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection."""
        super().connection_made(transport)
        if self.limit_concurrency is not None and len(self.connections) > 2 * self.limit_concurrency:
            transport.abort()
        self._look_at(None, 0.0)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Note that the client does not read as fast as the answer is written."""
        self._pauses += 1
        super().pause_writing()

    def _look_at(self, before: Any, since: float) -> None:
        """Close the connection if it has waited ``since`` some time for the same; else look again."""
        awaited, now = self._awaited(), self.loop.time()
        if awaited is None or awaited != before:
            since = now
        elif now - since >= _PATIENCE_S:
            self.transport.abort()  # close() would wait until the client has read
            return
        self._look = self.loop.call_later(_PATIENCE_S / _LOOKS, self._look_at, awaited, since)

    def _awaited(self) -> Any:
        """Return what the client must do next; None while it is the server's turn."""
        if self.transport.is_closing():
            return "read the rest"
        if self.flow.write_paused:
            return "read", self._pauses
        if self.cycle is None or self.cycle.response_complete:
            return "send a request behind", self.cycle
        return None
