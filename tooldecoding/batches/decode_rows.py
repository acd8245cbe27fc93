"""What a worker does with rows: reads what stands in them, decodes them together, and makes a result of each."""

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
from tooldecoding.files.lru_cache import LruCache
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.request import Request

_KEPT_TOOLS = 256

_LONGEST_ERROR: Final = 2000
"""Characters: a row may have a name of 60 MiB, and a result must be a line that can be read again."""

GROUP: Final = 4
"""How many times ``batch_size`` a group in one process is: as one row ends, the next one of its group begins."""


def decoding(
    command: DecodeCommand,
    documentation: Documentation | None,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
) -> Callable[[Sequence[Entry]], Iterator[tuple[int, dict[str, Any]]]]:
    """Return what makes the results of rows.

    ``documentation``: for rows without ``tools``.
    """
    decoder = ToolDecoder(model, tokenizer, command.strategy, prompt_cache_mb=command.prompt_cache_mb)
    return partial(_results, decoder, command.batch_size, RowReader(command, documentation))


class RowReader:
    """Reads what stands in rows; documentation that many rows share is read once.

    ``documentation``: for rows without ``tools``.
    """

    def __init__(self, command: DecodeCommand, documentation: Documentation | None) -> None:
        self._command = command
        self._documentation = documentation
        self._cache = LruCache[str, Documentation](_KEPT_TOOLS)

    def read(self, entry: Entry) -> tuple[Content, Documentation | None, DecodeCommand]:
        """Read a row, with the options that it has; ToolDecodingError if it cannot be decoded."""
        content = read_content(entry)
        row, place, command = entry.columns, entry.place, self._command
        tools, choice = row.get("tools"), row.get("tool_choice")
        documentation = self._documentation
        if tools is not None:
            read = read_tools if isinstance(content, Conversation) else Documentation.read
            text = json_line([read.__name__, tools])
            documentation = self._cache.of(text, lambda: read(tools, f"{place}: tools", command.on_duplicate))
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

    def failed(number: int, error: ToolDecodingError) -> tuple[int, dict[str, Any]]:
        text, place = str(error), entries[number].place
        text = text if text.startswith(place) else f"{place}: {text}"
        return named(number, {"error": text[:_LONGEST_ERROR]})

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
            yield failed(number, error)
    for place, result in each_decoded(partial(decoder.run_each, at_once=at_once), [request for *_, request in asked]):
        number, content, _ = asked[place]
        if isinstance(result, ToolDecodingError):
            yield failed(number, result)
        else:
            yield named(number, result_json(content, result, decoder.tokenizer, str(entries[number].id)))
