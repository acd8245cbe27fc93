"""``decode --batch`` as a task of workers: rows in, results out."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from lookup.errors import ToolDecodingError
from tooldecoding.batches.requests import each_decoded, make_request, result_json
from tooldecoding.batches.rows import Entry, read_content
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import Conversation
from tooldecoding.chat.templates import Content
from tooldecoding.chat.tools import read_tool_choice, read_tools
from tooldecoding.decoder import ToolDecoder
from tooldecoding.errors import ChatWarning
from tooldecoding.files.json_lines import json_line
from tooldecoding.files.kept import Kept
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.request import Request

_KEPT_TOOLS = 256

GROUP: Final = 4
"""How many times ``batch_size`` a group in one process is: as one row ends, the next one of its group begins."""


def decoding(
    command: DecodeCommand,
    documentation: Documentation | None,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
) -> Callable[[Sequence[Entry]], list[dict[str, Any]]]:
    """Return what makes the results of rows.

    Parameters
    ----------
    documentation : Documentation or None
        For rows without ``tools``.
    """
    decoder = ToolDecoder(model, tokenizer, command.strategy, prompt_cache_mb=command.prompt_cache_mb)
    return partial(_results, decoder, command.batch_size, RowReader(command, documentation))


def beginning(entry: Entry) -> str:
    """Rows with the same tools and the same kind of prompt begin alike."""
    tools = "" if entry.columns is None else entry.columns.get("tools")
    return f"{entry.content} {json_line(tools)}"


class RowReader:
    """Reads what stands in rows; documentation that many rows share is read once.

    Parameters
    ----------
    documentation : Documentation or None
        For rows without ``tools``.
    """

    def __init__(self, command: DecodeCommand, documentation: Documentation | None) -> None:
        self._command = command
        self._documentation = documentation
        self._kept: Kept[Documentation] = Kept(_KEPT_TOOLS)

    def read(self, entry: Entry) -> tuple[Content, Documentation | None, DecodeCommand]:
        """Read a row, with the options that it has; ToolDecodingError if it cannot be decoded."""
        content = read_content(entry)
        row, place, command = entry.columns or {}, entry.place, self._command
        tools, choice = row.get("tools"), row.get("tool_choice")
        documentation = self._documentation
        if tools is not None:
            read = read_tools if isinstance(content, Conversation) else Documentation.read
            text = json_line([read.__name__, tools])
            documentation = self._kept.of(text, lambda: read(tools, f"{place}: tools", command.on_duplicate))
        if choice is not None:
            command = replace(command, tool_choice=read_tool_choice(choice, f"{place}: tool_choice"))
        return content, documentation, command


def _results(decoder: ToolDecoder, at_once: int, reader: RowReader, entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return the results of some rows in their sequence; a row that fails does not touch the others."""
    found: dict[str | int, dict[str, Any]] = {}
    asked: dict[str | int, tuple[Content, Request]] = {}
    for entry in entries:
        try:
            with warnings.catch_warnings():
                # "default" would keep each message for as long as the process lives
                warnings.simplefilter("always", ChatWarning)
                content, documentation, command = reader.read(entry)
            request = make_request(content, documentation, command, decoder.tokenizer)
            decoder.prompt_ids(request)  # a prompt that is too long shows before it is decoded with others
            asked[entry.id] = content, request
        except ToolDecodingError as error:
            found[entry.id] = {"error": str(error)}
    decoded = each_decoded(partial(decoder.run, at_once=at_once), [request for _, request in asked.values()])
    for (identifier, (content, _)), result in zip(asked.items(), decoded, strict=True):
        if isinstance(result, ToolDecodingError):
            found[identifier] = {"error": str(result)}
        else:
            found[identifier] = result_json(content, result, decoder.tokenizer, str(identifier))
    named = ({"id": entry.id, "digest": entry.digest} for entry in entries)
    return [name | found[entry.id] | name for name, entry in zip(named, entries, strict=True)]  # the name comes first
