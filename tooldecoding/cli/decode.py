"""``tooldecoding decode``."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from lookup import DocumentationError
from tooldecoding.chat.dialogue import read_dialogue
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import Conversation, Message
from tooldecoding.chat.tools import read_messages_file
from tooldecoding.cli.command import Command
from tooldecoding.cli.console import output_console, progress_bar, warning_lines
from tooldecoding.cli.extras import demand_extra, demand_ray
from tooldecoding.cli.inputs import read_input
from tooldecoding.cli.lookup_tables import print_uncarried, print_unenforced, print_unread
from tooldecoding.cli.results import greedy_json, show_result
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import json_line
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options.decode_command import DecodeCommand, Template, read_decode_command
from tooldecoding.options.given import Given
from tooldecoding.options.option import options_of
from tooldecoding.options.serve_command import ServeCommand

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from tooldecoding.batches.batch import Write
    from tooldecoding.batches.batch_rows import BatchRows
    from tooldecoding.batches.rows import BadRow, Row
    from tooldecoding.cluster.task import Workers
    from tooldecoding.decoder import ToolDecoder
    from tooldecoding.request import Request
    from tooldecoding.result import DecodeResult

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
    from tooldecoding.batches.requests import decode_requests, make_request, result_json
    from tooldecoding.chat.templates import template_of, unshortened

    if isinstance(content, tuple):
        for warning in unshortened([content], command):
            print(f"warning: {warning}", file=sys.stderr)
    decoder = load_decoder(command)
    request = make_request(content, documentation, command, decoder.tokenizer)
    if len(request.tools):
        _warn_of_misfits({template_of(content, documentation, command, decoder.tokenizer)}, command, decoder.tokenizer)
        print_uncarried(request.options.call_format, request.tools)
        print_unenforced(request.tools)
    result = decode_requests([request], decoder)[0]
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
    found = read_messages_file(text, origin, command.on_duplicate)
    if found.documentation is not None and documentation is not None:
        raise PromptError(f"{origin}: tools stand in the file and in --tools; give them once")
    if found.tool_choice is not None:
        if command.tool_choice is not None:
            raise PromptError(f"{origin}: tool_choice stands in the file and in --tool-choice; give it once")
        command = replace(command, tool_choice=found.tool_choice)
    return found.conversation, found.documentation or documentation, command


def _decode_batch(name: str, documentation: Documentation | None, command: DecodeCommand) -> None:
    from tooldecoding.batches.batch import row_templates
    from tooldecoding.batches.batch_results import open_results
    from tooldecoding.batches.batch_rows import BatchRows
    from tooldecoding.batches.open_source import needed_packages, open_source
    from tooldecoding.cluster.decode_task import DecodeTask
    from tooldecoding.cluster.place import place_of

    demand_ray(command)
    demand_extra("batch", *needed_packages(name, command.out))
    source = open_source(name)
    with open_results(command, documentation) as results:
        with progress_bar("checking", source.total if source.again else None, lasting=False) as looked:
            rows = BatchRows(source, documentation, command.on_duplicate, results, command.retry_failed, looked)
        with place_of(command) as place:
            templates = row_templates(documentation, command, place.tokenizer)
            with place.workers(DecodeTask(command)) as workers:
                write = _print_results
                if command.out is not None:
                    model = workers.about["identity"]
                    results.demand_model(model)
                    rows.demand_templates(templates)
                    results.begin(model, templates, command.retry_failed)
                    write = results.write
                if documentation is not None:
                    print_unenforced(documentation.lookup)
                warn = _Warner(templates, documentation, command, place.tokenizer)
                _run_batch(rows, warn, workers, command, write)
        results.finish()
        for note in results.notes():
            print(f"note: {note}", file=sys.stderr)


class _Warner:
    """Warns of templates that do not fit, and of names that no call can carry, when rows of a kind come first."""

    def __init__(
        self,
        templates: Mapping[str, Template],
        documentation: Documentation | None,
        command: DecodeCommand,
        tokenizer: "PreTrainedTokenizerBase",
    ) -> None:
        self._templates = templates
        self._documentation = documentation
        self._command = command
        self._tokenizer = tokenizer
        self._kinds: set[str] = set()
        self._formats: set[str] = set()

    def __call__(self, kinds: Set[str]) -> None:
        """Take the kinds of all rows so far."""
        from tooldecoding.chat.templates import chosen_format

        bare = {"messages", "dialogue"} if self._documentation is None else set()
        old, new = ({self._templates[kind] for kind in some} for some in (self._kinds, kinds - self._kinds - bare))
        self._kinds |= kinds - bare
        _warn_of_misfits(new - old, self._command, self._tokenizer)
        if self._documentation is None:
            return
        formats = {chosen_format(self._command, template, self._tokenizer) for template in new - old}
        for name in formats - self._formats:
            print_uncarried(CALL_FORMATS[name], self._documentation.lookup)
        self._formats |= formats


def _warn_of_misfits(templates: Set[Template], command: DecodeCommand, tokenizer: "PreTrainedTokenizerBase") -> None:
    from tooldecoding.chat.templates import misfits

    for misfit in misfits(templates, command, tokenizer):
        print(f"warning: {misfit}", file=sys.stderr)


def _run_batch(
    rows: "BatchRows",
    warn: _Warner,
    workers: "Workers[Row | BadRow, dict[str, Any]]",
    command: DecodeCommand,
    write: "Write",
) -> None:
    """Decode with a progress bar, and print how many rows were decoded, skipped and failed."""
    from tooldecoding.batches.batch import run_batch

    warn(rows.kinds)
    try:
        with progress_bar("decoding", rows.total) as advance:
            groups = rows.groups(command.batch_size, advance)
            summary = run_batch(_warned(groups, rows, warn), workers, command, write, advance)
    except KeyboardInterrupt:
        resume = "use --out to resume"
        if command.out is not None:
            resume = f"the same command goes on behind what stands in {command.out}"
        print(f"interrupted: {resume}", file=sys.stderr)
        raise typer.Exit(130) from None
    print(replace(summary, skipped=rows.skipped), file=sys.stderr)


def _warned(groups: "Iterable[list[Row | BadRow]]", rows: "BatchRows", warn: _Warner) -> "Iterator[list[Row | BadRow]]":
    """Yield the groups; kinds of rows from a source that is read once show late."""
    for group in groups:
        warn(rows.kinds)
        yield group


def _print_results(results: Sequence[Mapping[str, Any]]) -> None:
    for result in results:
        print(json_line(result), flush=True)


def load_decoder(command: DecodeCommand | ServeCommand) -> "ToolDecoder":
    """Load the model that the command names."""
    from tooldecoding.decoder import ToolDecoder
    from tooldecoding.models.loading import load_quietly

    model, tokenizer = load_quietly(command.model, **command.loading)
    return ToolDecoder(model, tokenizer, command.strategy, prompt_cache_mb=command.prompt_cache_mb)


_PANELS: Final = {
    "Start with": ("tools", "prompt", "messages", "model", "tool_choice", "order_limit"),
    "Input": ("dialogue", "batch", "template", "format", "documentation", "unknown_keys", "on_duplicate", "config"),
    "Model": (
        *("revision", "device", "device_map", "dtype", "attn_implementation", "trust_remote_code"),
        *("strategy", "batch_size", "prompt_cache_mb"),
    ),
    "Decoding": (
        *("value_constraint", "max_value_tokens", "max_text_tokens", "max_tokens", "max_thinking_tokens", "max_calls"),
        *("draft_tokens", "temperature", "top_p", "top_k", "repetition_penalty", "stop", "seed"),
    ),
    "Vote": ("orders", "optional_share", "stopping", "stopping_level", "min_confidence"),
    "Output": ("json", "show_orders", "show_greedy", "out", "retry_failed"),
    "Many machines": ("ray", "actors", "gpus_per_actor"),
}

DECODE = Command("decode", decode, (), options_of(DecodeCommand), _PANELS)
