"""``tooldecoding decode``."""

import sys
from collections.abc import Mapping, Sequence, Set
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lookup import DocumentationError
from tooldecoding.chat.messages import Conversation
from tooldecoding.chat.messages_file import read_messages_file
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console, progress_bar, warning_lines
from tooldecoding.cli.inputs import read_input
from tooldecoding.cli.lookup_tables import print_uncarried, print_unenforced, print_unread
from tooldecoding.cli.results import show_result
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import json_line
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options.decode_command import DecodeCommand, Template, read_decode_command
from tooldecoding.options.given import Given
from tooldecoding.options.option import options_of
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.prompts.dialogue import Turn, read_dialogue
from tooldecoding.prompts.documentation import Documentation

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from tooldecoding.batches.batch import Write
    from tooldecoding.batches.rows import BadRow, Row
    from tooldecoding.cluster.task import Workers
    from tooldecoding.decoder import ToolDecoder

# torch and transformers take seconds to import: the functions that need them import them


def decode(given: Given) -> None:
    """Decode tool calls: documentation in, voted call out. Options go before the file, the file before defaults."""
    command = read_decode_command(given.values, given.config)
    documentation = None
    if command.tools is not None:
        text, origin = read_input(command.tools, DocumentationError)
        documentation = Documentation.read(text, origin, command.on_duplicate)
        print_unread(documentation.lookup)
    with warning_lines():
        if command.batch is not None:
            _decode_batch(command.batch, documentation, command)
        else:
            _decode_one(documentation, command)


def _decode_one(documentation: Documentation | None, command: DecodeCommand) -> None:
    content: str | tuple[Turn, ...] | Conversation
    identifier = "prompt"
    if command.messages is not None:
        identifier = _stem(command.messages, "messages")
        content, documentation, command = _read_messages(command.messages, documentation, command)
    elif command.dialogue is not None:
        identifier = _stem(command.dialogue, "dialogue")
        content = read_dialogue(*read_input(command.dialogue, PromptError))
    else:
        content = read_input("-", PromptError)[0] if command.prompt == "-" else command.prompt or ""
    from tooldecoding.batches.requests import decode_requests, make_request, result_json
    from tooldecoding.prompts.templates import template_of

    decoder = load_decoder(command)
    request = make_request(content, documentation, command, decoder.tokenizer)
    if len(request.tools):
        _warn_of_misfits({template_of(content, documentation, command, decoder.tokenizer)}, command, decoder.tokenizer)
        print_uncarried(request.options.call_format, request.tools)
        print_unenforced(request.tools)
    result = decode_requests([request], decoder)[0]
    if command.json:
        print(json_line(result_json(content, result, decoder.tokenizer, identifier)))
    else:
        show_result(output_console(), str(request.prompt), result, command.show_orders)


def _stem(path: str, kind: str) -> str:
    return kind if path == "-" else Path(path).stem


def _read_messages(
    path: str, documentation: Documentation | None, command: DecodeCommand
) -> tuple[Conversation, Documentation | None, DecodeCommand]:
    """Read the file of ``--messages``; what stands in it must not stand in the options as well."""
    text, origin = read_input(path, PromptError)
    found = read_messages_file(text, origin, command.on_duplicate)
    if found.documentation is not None and documentation is not None:
        raise PromptError(f"{origin}: tools stand in the file and in --tools; give them once")
    if found.tool_choice is not None:
        if command.tool_choice is not None:
            raise PromptError(f"{origin}: tool_choice stands in the file and in --tool-choice; give it once")
        command = replace(command, tool_choice=found.tool_choice)
    return found.conversation, found.documentation or documentation, command


def _decode_batch(source: str, documentation: Documentation | None, command: DecodeCommand) -> None:
    from tooldecoding.batches.batch_results import BatchResults, lock_results
    from tooldecoding.batches.rows import read_batch
    from tooldecoding.cluster.decode_task import DecodeTask
    from tooldecoding.cluster.place import place_of

    rows = read_batch(*read_input(source, PromptError), documentation, command.on_duplicate)
    task = DecodeTask(command)
    if command.out is None:
        with place_of(command) as place:
            _templates(rows, documentation, command, place.tokenizer)
            with place.workers(task) as workers:
                _run_batch(rows, workers, command, set(), _print_results)
        return
    with lock_results(command.out) as path:
        standing = BatchResults(path, rows, command, documentation)
        with place_of(command) as place:
            templates = _templates(rows, documentation, command, place.tokenizer)
            with (
                place.workers(task) as workers,
                closing(standing.begin(workers.about["identity"], templates)) as results,
            ):
                _run_batch(rows, workers, command, standing.done, results.write)
    for note in standing.notes():
        print(f"note: {note}", file=sys.stderr)


def _templates(
    rows: "Sequence[Row | BadRow]",
    documentation: Documentation | None,
    command: DecodeCommand,
    tokenizer: "PreTrainedTokenizerBase",
) -> Mapping[str | int, Template]:
    """Return the template of each row, with a warning for each that does not fit, and for names that none can carry."""
    from tooldecoding.batches.batch import row_templates
    from tooldecoding.batches.rows import Row
    from tooldecoding.prompts.choose_format import chosen_format

    templates = row_templates(rows, command, tokenizer)
    bare = {
        row.id for row in rows if isinstance(row, Row) and not row.documentation and not isinstance(row.content, str)
    }
    shown = {template for identifier, template in templates.items() if identifier not in bare}
    _warn_of_misfits(shown, command, tokenizer)
    if documentation is not None:
        print_unenforced(documentation.lookup)
        for name in {chosen_format(command, template, tokenizer) for template in shown}:
            print_uncarried(CALL_FORMATS[name], documentation.lookup)
    return templates


def _warn_of_misfits(templates: Set[Template], command: DecodeCommand, tokenizer: "PreTrainedTokenizerBase") -> None:
    from tooldecoding.prompts.templates import misfits

    for misfit in misfits(templates, command, tokenizer):
        print(f"warning: {misfit}", file=sys.stderr)


def _run_batch(
    rows: "Sequence[Row | BadRow]",
    workers: "Workers[Row | BadRow, dict[str, Any]]",
    command: DecodeCommand,
    done: Set[str | int],
    write: "Write",
) -> None:
    """Decode with a progress bar, and print how many rows were decoded, skipped and failed."""
    from tooldecoding.batches.batch import run_batch

    try:
        with progress_bar("decoding", len(rows)) as advance:
            summary = run_batch(rows, workers, command, done, write, advance)
    except KeyboardInterrupt:
        resume = "use --out to resume"
        if command.out is not None:
            resume = f"the same command goes on behind what stands in {command.out}"
        print(f"interrupted: {resume}", file=sys.stderr)
        raise typer.Exit(130) from None
    print(summary, file=sys.stderr)


def _print_results(results: Sequence[Mapping[str, Any]]) -> None:
    for result in results:
        print(json_line(result), flush=True)


def load_decoder(command: DecodeCommand | ServeCommand) -> "ToolDecoder":
    """Load the model that the command names."""
    from tooldecoding.decoder import ToolDecoder
    from tooldecoding.models.loading import load_quietly

    model, tokenizer = load_quietly(command.model, command.device, command.dtype, command.trust_remote_code)
    return ToolDecoder(model, tokenizer, command.strategy, prompt_cache_mb=command.prompt_cache_mb)


DECODE = Command("decode", decode, (), options_of(DecodeCommand))
