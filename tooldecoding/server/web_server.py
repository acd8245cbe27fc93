"""Serves an application over HTTP until it is told to stop; clients that are slow, or too many, are bounded."""

import asyncio
import socket
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from tooldecoding.errors import ConfigError
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.monitoring import begin_log, log

_BACKLOG: Final = 128
_SPARE: Final = 256
"""Connections beside those of twice as many requests as may run and wait: idle ones, and who is refused."""
_KEEP_ALIVE_S: Final = 5
_HEADER_BYTES: Final = 64 << 10
_PATIENCE_S: Final = 30.0
"""Seconds in which the headers of a request must come, and in which the client must read what waits for it."""
_LOOKS: Final = 10
"""Looks at a connection in this time."""


def bound_socket(options: ServeCommand) -> socket.socket:
    """Return a socket that has the address, but does not listen yet.

    Raises
    ------
    ConfigError
        If the address is in use, or not of this machine.
    """
    bound = socket.socket(socket.AF_INET6 if ":" in options.host else socket.AF_INET)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((options.host, options.port))
    except OSError as error:
        bound.close()
        raise ConfigError(f"cannot listen on {options.host} port {options.port}: {error.strerror}") from None
    return bound


def run_server(app: ASGIApp, options: ServeCommand, bound: socket.socket) -> None:
    """Serve an ASGI application until SIGINT or SIGTERM; what runs is finished."""
    begin_log()
    host, port = bound.getsockname()[:2]
    bound.listen(_BACKLOG)  # who reads the next line may connect
    log("listening", host=host, port=port, model=options.model, key=options.api_key is not None)
    web_server(app, options).run(sockets=[bound])


def web_server(app: ASGIApp, options: ServeCommand) -> uvicorn.Server:
    """Return what serves an application over HTTP."""
    requests = options.most_at_once + options.queue
    config = uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        limit_concurrency=_SPARE + 2 * requests,
        timeout_keep_alive=_KEEP_ALIVE_S,
        h11_max_incomplete_event_size=_HEADER_BYTES,
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=int(options.timeout) + 1,
    )
    return uvicorn.Server(config)


class _Connection(H11Protocol):
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
