"""``tooldecoding bench agents``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.request import urlopen

from eval.errors import EvalError
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import going_on, output_console, stderr_line
from tooldecoding.cli.extras import demand_extra
from tooldecoding.options.model_options import ModelOptions
from tooldecoding.options.option import Count, CountOrNone, option, options_of
from tooldecoding.options.parsed_arguments import ParsedArguments

if TYPE_CHECKING:
    from eval.agents.clients import Ask, Tool

_SECONDS: Final = 10
_PACKAGES: Final = {"openai": "openai", "pydantic-ai": "pydantic_ai", "openai-agents": "agents"}


@dataclass(frozen=True, kw_only=True)
class BenchAgentsCommand(ModelOptions):
    """Who runs the tasks, and where the model is."""

    client: Literal["agent", "openai", "pydantic-ai", "openai-agents"] = option(
        "agent", "Who calls the tools: our agent, or a client of the server at --url."
    )
    url: str | None = option(None, "Server with OpenAI's interface, such as http://127.0.0.1:8000/v1.", metavar="URL")
    timeout: Count = option(300, "Seconds that a client waits for an answer.")
    limit: CountOrNone = option(0, "The first tasks; 0 for all.")
    out: str = option("runs/agents.jsonl", "File of rows; the same command goes on in it.", metavar="FILE")


def bench_agents(given: ParsedArguments) -> None:
    """Let a model do everyday tasks with tools that do nothing: what is right, what ran and should not, in seconds."""
    demand_extra("eval", "scipy", "pandas")
    from eval.agents.tasks import TASKS
    from eval.agents.trial import run_trial, trial_table
    from eval.report.table import show

    command = given.merge(BenchAgentsCommand, {})
    begin = _client(command)
    tasks = TASKS[: command.limit or None]
    with going_on(command.out):
        rows = run_trial(begin, Path(command.out), tasks, stderr_line)
    show(output_console(), [trial_table(rows, f"{command.client}, {Path(command.model).name}")])


def _client(command: BenchAgentsCommand) -> "Callable[[Sequence[Tool]], Ask]":
    from eval.agents.clients import CLIENTS, own_agent

    if (command.client == "agent") != (command.url is None):
        raise EvalError("--url belongs to a client of a server: --client openai, pydantic-ai or openai-agents")
    if command.url is not None:
        demand_extra("agents", _PACKAGES[command.client])
        try:
            urlopen(f"{command.url.rstrip('/')}/models", timeout=_SECONDS).close()
        except (OSError, ValueError) as error:
            raise EvalError(f"--url: {command.url} cannot be reached: {error}") from None
        client: Any = CLIENTS[command.client]
        return partial(client, command.url, command.model, seconds=command.timeout)
    from tooldecoding.cli.decode import load_decoder
    from tooldecoding.options import changed
    from tooldecoding.options.decode_options import PROMPT_CACHE_MB

    decoder = load_decoder(command, PROMPT_CACHE_MB)
    decoder.options = changed(command, {})
    return partial(own_agent, decoder)


BENCH_AGENTS = Command("bench agents", bench_agents, (), options_of(BenchAgentsCommand))
