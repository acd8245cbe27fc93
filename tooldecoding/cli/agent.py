"""``tooldecoding agent``."""

import sys
from dataclasses import dataclass, replace
from textwrap import indent
from typing import TYPE_CHECKING, Final

import typer

from tooldecoding.agents.agent_tools import MOST_TURNS
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import one_line, output_console, read_input, shown, stderr_line, warning_lines
from tooldecoding.cli.decode import load_decoder
from tooldecoding.cli.lookup import print_unenforced, print_unread
from tooldecoding.cli.mcp import running_servers
from tooldecoding.errors import ConfigError, PromptError
from tooldecoding.files.json_lines import json_line
from tooldecoding.options import changed
from tooldecoding.options.decode_command import McpOptions
from tooldecoding.options.decode_options import PROMPT_CACHE_MB
from tooldecoding.options.model_options import ModelOptions
from tooldecoding.options.option import Count, CountOrNone, Share, option, options_of
from tooldecoding.options.parsed_arguments import ParsedArguments

if TYPE_CHECKING:
    from tooldecoding.agents.agent import Event

REFUSED: Final = 3
"""Exit code if a call or an argument had to be asked for and there was nobody to ask."""

NO_ANSWER: Final = 4
"""Exit code if the model did not answer within ``--max-turns`` and ``--max-tokens``."""

_NO_ANSWER: Final = {
    "length": "a limit of tokens cut it off",
    "nothing": "the model wrote nothing",
    "turns": "--max-turns is reached, and the last text was asked for without tools",
}

_CERTAIN: Final = 0.5

_SHOWN: Final = 500
"""Characters of a result that are printed."""


@dataclass(frozen=True, kw_only=True)
class AgentCommand(McpOptions, ModelOptions):
    """Everything that ``tooldecoding agent`` can be told."""

    prompt: str = option(..., "The question; - reads stdin, and then nobody can be asked.", metavar="TEXT")
    yes: bool = option(False, "Ask only for calls below --min-confidence.", only="command line")
    allow: tuple[str, ...] = option((), "Never ask for this tool.", metavar="NAME", only="command line")
    min_confidence: Share | None = option(None, "What --yes takes as certain enough.", metavar="P", default_text="0.5")
    max_turns: Count = option(MOST_TURNS, "Most turns of the model with tools; then it must answer.")
    prompt_cache_mb: CountOrNone = option(PROMPT_CACHE_MB, "MiB for KV caches of former prompts; 0 for none.")
    json: bool = option(False, "Print one JSON object for each event.")


class _Approval:
    """Decides whether a call is run, or asks; remembers whether it had nobody to ask."""

    def __init__(self, command: AgentCommand) -> None:
        self._command = command
        there = sys.stdin and sys.stdin.isatty()  # None where standard input is closed
        self._nobody = (
            "standard input was the question" if command.prompt == "-" else "" if there else "there is no terminal"
        )
        self.missed = False

    def answer(self) -> str | None:
        """Return the user's answer to a question; None if there is nobody, or no answer."""
        return None if self._nobody else self._asked("> ").strip() or None

    def __call__(self, call: "Event") -> bool | str:
        command = self._command
        least = command.min_confidence or 0.0
        if call.name in command.allow or (command.yes and call.call_confidence >= least):
            return True
        if not self._nobody and (said := self._asked("Run it? [y/N] ")):
            return said.strip().lower() in ("y", "yes")
        self.missed = True
        yes = f"--yes allows calls from a confidence of {least:g}" + ", and this one is below" * command.yes
        allows = f"--allow {call.name} allows this tool, {yes}"
        return f"Nobody could be asked whether this call may run, and it did not: {self._nobody}. ({allows}.)"

    def _asked(self, question: str) -> str:
        """What the user types, with the end of its line; empty where the input ends, and then nobody is there."""
        print(question, end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        self._nobody = "" if line else "the input has ended"
        return line


def agent(given: ParsedArguments) -> None:
    """Let the model call tools of MCP servers until it answers; asks before each call, and shows how certain it is."""
    from tooldecoding.agents.agent import Agent

    command = given.merge(AgentCommand, {})
    if command.min_confidence is None:  # as deployment.yaml says it where no risk was given
        command = replace(command, min_confidence=_CERTAIN)
    if not command.servers:
        raise ConfigError("an agent needs tools: give --mcp SERVER or --mcp-config FILE.json")
    question: str | None = read_input("-", PromptError)[0] if command.prompt == "-" else command.prompt
    approval = _Approval(command)
    with warning_lines(), running_servers(command) as servers:
        decoder = load_decoder(command, command.prompt_cache_mb)
        decoder.options = changed(command, {"tool_choice": "auto"})
        made = Agent(decoder, servers.tools, approval, command.max_turns)
        for note in made.notes:
            stderr_line(f"warning: {one_line(note)}")
        print_unread(made.lookup)
        print_unenforced(made.lookup)
        if unknown := sorted(set(command.allow) - set(made.tools)):
            raise ConfigError(f"--allow: no server has {unknown[0]!r}; there are {', '.join(made.tools)}")
        while question is not None:
            for event in made.run(question, command.tool_choice):
                _show(event, command.json)
            question = approval.answer() if event.content == "question" else None
    if approval.missed:
        stderr_line(
            "not run: calls that must be asked for, without a terminal or anybody to ask; see --yes and --allow"
        )
        raise typer.Exit(REFUSED)
    if event.content == "question":
        stderr_line("the model asks, and there is nobody to answer")
        raise typer.Exit(REFUSED)
    if event.content != "answer":
        stderr_line("no answer: " + one_line("; ".join((_NO_ANSWER[event.content], *event.errors))))
        raise typer.Exit(NO_ANSWER)


def _show(event: "Event", as_json: bool) -> None:
    """Print an event: text and ends as they are, a call with the confidence of each argument."""
    if as_json:
        print(json_line(event.to_json()), flush=True)
        return
    console = output_console()
    match event.kind:
        case "text":
            console.print(_indented(event.content))
        case "call":
            about = f" of {event.server}" * bool(event.server) + f" (it says: {event.hints})" * bool(event.hints)
            console.print("→ " + one_line(f"{event.name}{about}") + f"   confidence {event.call_confidence:.2f}")
            for key, value in event.arguments.items():
                console.print(f"    {one_line(f'{key} = {value!r}')}   confidence {event.confidence[key]:.2f}")
        case "result":
            cut = f" … ({len(event.content):,} characters)" if len(event.content) > _SHOWN else ""
            console.print(f"←{_indented(event.content[:_SHOWN])[1:]}{cut}")


def _indented(text: str) -> str:
    """Behind two spaces, so that no text can look like a call."""
    return indent(shown(text), "  ")


AGENT = Command("agent", agent, (), options_of(AgentCommand))
