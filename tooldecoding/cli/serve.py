"""``tooldecoding serve``."""

import os
from typing import Final

from tooldecoding.cli.command import Command
from tooldecoding.cli.console import stderr_line
from tooldecoding.cli.extras import demand_extra
from tooldecoding.options.option import options_of
from tooldecoding.options.parsed_arguments import ParsedArguments
from tooldecoding.options.serve_command import KEY_VARIABLE, LOOPBACK, ServeCommand

_OF_REQUESTS: Final = ("tool_choice", "stop", "batch_size", "max_tokens")
"""Options of a decode that each request has for itself."""


def serve(given: ParsedArguments) -> None:
    """Answer OpenAI's chat completions over HTTP; every tool call is valid, and voted argument by argument."""
    command = given.merge(ServeCommand, {"api_key": os.environ.get(KEY_VARIABLE) or None})
    demand_extra("serve", "fastapi", "uvicorn", "prometheus_client")
    if command.host not in LOOPBACK and command.api_key is None:
        stderr_line("warning: everybody who reaches this machine can use the model; give --api-key")
    from tooldecoding.server.app import application, load_completions
    from tooldecoding.server.web_server import bound_socket, run_server

    with bound_socket(command) as bound:  # before the model is loaded, which may take minutes
        answerer, command = load_completions(command, stderr_line)
        run_server(application(answerer, command), command, bound)


_OPTIONS = tuple(option for option in options_of(ServeCommand) if option.name not in _OF_REQUESTS)
SERVE = Command("serve", serve, (), _OPTIONS)
