"""``tooldecoding decode``, and what it prints of a decoded prompt."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lookup import DocumentationError
from tooldecoding.chat.dialogue import read_dialogue
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import Conversation, Message
from tooldecoding.chat.tools import read_messages_file
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console, read_input, shown, stderr_line, table, warning_lines
from tooldecoding.cli.lookup import print_misfits, print_unenforced, print_unread
from tooldecoding.cli.mcp import mcp_documentation
from tooldecoding.errors import ConfigError, PromptError
from tooldecoding.files.json_lines import json_line
from tooldecoding.options.decode_command import DecodeCommand, read_decode_command
from tooldecoding.options.model_options import ModelOptions
from tooldecoding.options.option import options_of
from tooldecoding.options.parsed_arguments import ParsedArguments

if TYPE_CHECKING:
    from tooldecoding.decoder import ToolDecoder
    from tooldecoding.decoding.decoded_call import DecodedCall
    from tooldecoding.request import Request
    from tooldecoding.result import Counters, DecodeResult

PROMPT_LINES = 4
PROMPT_CHARACTERS = 400
"""Most that is printed of the end of the prompt: lines, and characters of a line."""


def show_result(
    console: Console, prompt: str, result: "DecodeResult", show_orders: bool, greedy: "DecodeResult | None" = None
) -> None:
    """Print the end of the prompt, the text that follows it, a table for each call, and the counters.

    Parameters
    ----------
    greedy : DecodeResult, optional
        What the model writes by itself, to be printed beside.
    """
    lines = [_end_of(line) for line in shown(prompt).split("\n")[-PROMPT_LINES:]]
    console.print(Text("\n".join(lines), style="dim") + _answer(result))
    for call in result.calls:
        console.print()
        if show_orders:
            _show_candidates(console, call)
        _show_call(console, call)
    for error in result.errors:
        console.print(Text(shown(f"invalid: {error}" if not result.valid else f"note: {error}"), style="red"))
    if result.repeated:
        console.print(Text("note: the model wrote a call again; it is left out, and ended the answer", style="red"))
    if result.left_out is not None:
        about = "is left out: its result is in the conversation, or it is likely made up"
        console.print(Text(shown(f"note: {result.left_out} {about}"), style="red"))
    console.print()
    if greedy is None:
        console.print(_counters_table(result.counters))
        return
    rows = [("the model by itself", greedy), ("Tool Decoding", result)]
    columns = ("", "writes", "tokens", "forward passes", "seconds")
    console.print(table(columns, [(name, *map(str, greedy_json(each).values())) for name, each in rows]))


def greedy_json(result: "DecodeResult") -> dict[str, Any]:
    """Return what is told of a result beside another: its text, tokens, forward passes and seconds."""
    counters = result.counters
    return {
        "text": result.text,
        "tokens": len(result.token_ids),
        "forward_passes": counters.forward_passes,
        "seconds": round(counters.seconds, 2),
    }


def _answer(result: "DecodeResult") -> Text:
    """Return the text that the model wrote, its thinking dim."""
    text, thinking = shown(result.text), shown(result.thinking)
    answer = Text(text, style="bold green")
    if thinking and (begin := text.find(thinking)) >= 0:
        answer.stylize("not bold dim default", begin, begin + len(thinking))
    return answer


def _end_of(line: str) -> str:
    return line if len(line) <= PROMPT_CHARACTERS else "…" + line[-PROMPT_CHARACTERS:]


def _show_candidates(console: Console, call: "DecodedCall") -> None:
    console.print(f"{shown(call.voted.name)}: a candidate call for each order of the required keys")
    rows = [(str(n), " → ".join(c.order), c.text) for n, c in enumerate(call.candidates, start=1)]
    console.print(table(("", "order", "candidate call"), rows))


def _show_call(console: Console, call: "DecodedCall") -> None:
    """Print what the conversation does not say, and the vote, a row for each parameter."""
    from tooldecoding.decoding.grounded_call import NOT_SAID

    voted = call.voted
    for parameter in call.left_out:
        console.print(Text(shown(f"left out: {parameter.key}={parameter.value!r}: {NOT_SAID}"), style="dim"))
    if call.ungrounded:
        console.print(Text(shown(f"{NOT_SAID}: {', '.join(call.ungrounded)}"), style="yellow"))
    if not voted.parameters:
        console.print(Text(shown(f"{voted.name}: a call without parameters")))
        return
    over = "1 candidate" if voted.candidates == 1 else f"{voted.candidates} candidates"
    console.print(Text(shown(f"{voted.name}: the vote over {over}")))
    columns = ["parameter", "value", "votes", "share", "log-probability"]
    rows = [
        [p.key, repr(p.value), f"{p.votes}/{voted.candidates}", f"{p.share:.0%}", f"{p.logprob:.3f}"]
        for p in voted.parameters
    ]
    if call.min_confidence is not None:
        doubt = ", needs confirmation" * call.is_unsure
        console.print(Text(f"right with a probability of {call.confidence():.3f}{doubt}"))
        columns.append("confidence")
        for row, confidence, unsure in zip(rows, call.confidences, call.needs_confirmation, strict=True):
            row.append(f"{confidence:.3f}" + ", needs confirmation" * unsure)
    console.print(table(columns, rows))


def _counters_table(counters: "Counters") -> Table:
    cells = {
        "forward passes": f"{counters.forward_passes:,}",
        "positions": f"{counters.positions:,}",
        "reused": f"{counters.reused_positions:,}",
        "forced": f"{counters.forced_tokens:,}",
        "constrained": f"{counters.constrained_tokens:,}",
        "free tokens": f"{counters.free_tokens:,}",
        "cache bytes": f"{counters.cache_bytes:,}",
        "seconds": f"{counters.seconds:.2f}",
    }
    return table(list(cells), [list(cells.values())])


# torch and transformers take seconds to import: the functions that need them import them


def decode(given: ParsedArguments) -> None:
    """Decode tool calls: documentation in, voted call out. Options go before the file, the file before defaults."""
    command = read_decode_command(given)
    documentation = None
    if command.tools is not None:
        text, origin = read_input(command.tools, DocumentationError)
        documentation = Documentation.read(text, origin, command.on_duplicate)
    if command.mcp or command.mcp_config is not None:
        if documentation is not None:
            raise ConfigError("give --tools, or --mcp and --mcp-config, not both")
        documentation = Documentation.read(mcp_documentation(command), "MCP", command.on_duplicate)
    if documentation is not None:
        print_unread(documentation.lookup)
    with warning_lines():
        if command.batch is not None:
            from tooldecoding.cli.batch import decode_batch

            decode_batch(command.batch, documentation, command)
        else:
            _decode_one(documentation, command)


def _decode_one(documentation: Documentation | None, command: DecodeCommand) -> None:
    content: str | tuple[Message, ...] | Conversation
    identifier = "prompt"
    if command.messages is not None:
        identifier = _stem(command.messages, "messages")
        content, documentation, command = _read_messages(command.messages, documentation, command)
    elif command.dialogue is not None:
        identifier = _stem(command.dialogue, "dialogue")
        content = read_dialogue(*read_input(command.dialogue, PromptError))
    else:
        content = read_input("-", PromptError)[0] if command.prompt == "-" else command.prompt or ""
    from tooldecoding.batches.requests import make_request, memory_errors, result_json
    from tooldecoding.chat.templates import template_of

    decoder = load_decoder(command, command.prompt_cache_mb)
    request = make_request(content, documentation, command, decoder.tokenizer)
    if len(request.tools):
        template = template_of(content, documentation, command, decoder.tokenizer)
        print_misfits(template, command, decoder.tokenizer, request.tools)
        print_unenforced(request.tools)
    with memory_errors():
        [result] = decoder.run([request])
    greedy = _greedy(request, decoder) if command.show_greedy else None
    if command.json:
        row = result_json(content, result, decoder.tokenizer, identifier)
        print(json_line(row if greedy is None else row | {"greedy": greedy_json(greedy)}))
    else:
        show_result(output_console(), str(request.prompt), result, command.show_orders, greedy)


def _greedy(request: "Request", decoder: "ToolDecoder") -> "DecodeResult":
    """Decode what the model writes by itself; it reads the prompt again, as it does for the calls."""
    decoder.prompt_cache.clear()
    options = replace(request.options, tool_choice="none", temperature=0.0)
    return decoder.run([replace(request, options=options)])[0]


def _stem(path: str, kind: str) -> str:
    return kind if path == "-" else Path(path).stem


def _read_messages(
    path: str, documentation: Documentation | None, command: DecodeCommand
) -> tuple[Conversation, Documentation | None, DecodeCommand]:
    """Read the file of ``--messages``; what stands in it must not stand in the options as well."""
    text, origin = read_input(path, PromptError)
    conversation, own, choice = read_messages_file(text, origin, command.on_duplicate)
    if own is not None and documentation is not None:
        raise PromptError(f"{origin}: tools stand in the file and in --tools; give them once")
    if choice is not None:
        if command.tool_choice is not None:
            raise PromptError(f"{origin}: tool_choice stands in the file and in --tool-choice; give it once")
        command = replace(command, tool_choice=choice)
    return conversation, own or documentation, command


def load_decoder(command: ModelOptions, prompt_cache_mb: int) -> "ToolDecoder":
    """Load the model that the command names."""
    from tooldecoding.decoder import ToolDecoder
    from tooldecoding.models.loading import load_quietly

    model, tokenizer = load_quietly(command.model, tell=stderr_line, **command.loading)
    return ToolDecoder(model, tokenizer, command.strategy, prompt_cache_mb=prompt_cache_mb)


DECODE = Command("decode", decode, (), options_of(DecodeCommand))
