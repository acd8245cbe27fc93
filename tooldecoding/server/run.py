"""Runs the server until it is told to stop."""

import socket
from typing import Any, Final

import uvicorn

from tooldecoding.errors import ConfigError
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.connection import Connection
from tooldecoding.server.json_log import begin_log, log

_BACKLOG: Final = 128
_SPARE: Final = 256
"""Connections beside those of twice as many requests as may run and wait: idle ones, and who is refused."""
_KEEP_ALIVE_S: Final = 5
_HEADER_BYTES: Final = 64 << 10


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


def run_server(app: Any, options: ServeCommand, bound: socket.socket) -> None:
    """Serve an ASGI application until SIGINT or SIGTERM; what runs is finished."""
    begin_log()
    host, port = bound.getsockname()[:2]
    bound.listen(_BACKLOG)  # who reads the next line may connect
    log("listening", host=host, port=port, model=options.model, key=options.api_key is not None)
    web_server(app, options).run(sockets=[bound])


def web_server(app: Any, options: ServeCommand) -> uvicorn.Server:
    """Return what serves an application over HTTP."""
    requests = (options.max_batch + options.queue) * (options.replicas or 1)
    config = uvicorn.Config(
        app,
        http=Connection,
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
