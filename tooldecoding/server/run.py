"""Runs the server until it is told to stop."""

import socket
from typing import Final

import uvicorn

from tooldecoding.decoder import ToolDecoder
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.app import Server
from tooldecoding.server.json_log import begin_log, log

_BACKLOG: Final = 128


def run_server(decoder: ToolDecoder, options: ServeCommand) -> None:
    """Serve until SIGINT or SIGTERM; what runs is finished.

    Raises
    ------
    OSError
        If the address cannot be listened on.
    """
    begin_log()
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    with socket.create_server((options.host, options.port), family=family, backlog=_BACKLOG) as listening:
        host, port = listening.getsockname()[:2]
        log("listening", host=host, port=port, model=options.model, key=options.api_key is not None)
        config = uvicorn.Config(
            Server(decoder, options).app(),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=int(options.timeout) + 1,
        )
        uvicorn.Server(config).run(sockets=[listening])
