"""``decode --batch`` as a task of workers: rows in, results out."""

import warnings
from collections.abc import Callable, Iterator, Sequence
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
) -> Callable[[Sequence[Entry]], Iterator[tuple[int, dict[str, Any]]]]:
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
    return f"{entry.content} {json_line(entry.columns.get('tools'))}"


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
        row, place, command = entry.columns, entry.place, self._command
        tools, choice = row.get("tools"), row.get("tool_choice")
        documentation = self._documentation
        if tools is not None:
            read = read_tools if isinstance(content, Conversation) else Documentation.read
            text = json_line([read.__name__, tools])
            documentation = self._kept.of(text, lambda: read(tools, f"{place}: tools", command.on_duplicate))
        if choice is not None:
            command = replace(command, tool_choice=read_tool_choice(choice, f"{place}: tool_choice"))
        return content, documentation, command


def _results(
    decoder: ToolDecoder, at_once: int, reader: RowReader, entries: Sequence[Entry]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the result of each row as it ends; a row that fails does not touch the others."""

    def named(number: int, result: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        name = {"id": entries[number].id, "digest": entries[number].digest}
        return number, name | result | name  # the name comes first

    asked: list[tuple[int, Content, Request]] = []
    for number, entry in enumerate(entries):
        try:
            with warnings.catch_warnings():
                # "default" would keep each message for as long as the process lives
                warnings.simplefilter("always", ChatWarning)
                content, documentation, command = reader.read(entry)
            request = make_request(content, documentation, command, decoder.tokenizer)
            decoder.prompt_ids(request)  # a prompt that is too long shows before it is decoded with others
            asked.append((number, content, request))
        except ToolDecodingError as error:
            yield named(number, {"error": str(error)})
    for place, result in each_decoded(partial(decoder.run_each, at_once=at_once), [request for *_, request in asked]):
        number, content, _ = asked[place]
        if isinstance(result, ToolDecodingError):
            yield named(number, {"error": str(result)})
        else:
            yield named(number, result_json(content, result, decoder.tokenizer, str(entries[number].id)))
