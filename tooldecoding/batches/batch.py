"""Decoding a batch: groups of rows in, their results out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from transformers import PreTrainedTokenizerBase

from lookup.errors import ToolDecodingError
from tooldecoding.batches.requests import decode_requests, make_request, result_json
from tooldecoding.batches.rows import WITH_TOOLS, BadRow, Row, failed
from tooldecoding.batches.source import CONTENTS
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import Conversation
from tooldecoding.chat.templates import Content, template_of
from tooldecoding.chat.tools import NO_TOOLS
from tooldecoding.cluster.task import Workers
from tooldecoding.decoder import ToolDecoder
from tooldecoding.options.decode_command import DecodeCommand, Template
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult

Write = Callable[[Sequence[Mapping[str, Any]]], None]
"""Takes the results of one group."""

_CONTENT_OF: Final[Mapping[str, Content]] = {"prompt": "", "messages": Conversation(()), "dialogue": ()}
"""Column -> a content of the type that it gives; templates depend on the type alone."""


@dataclass
class Summary:
    """How many rows a run decoded, skipped because they had a result, and reported as failed."""

    decoded: int = 0
    skipped: int = 0
    failed: int = 0

    def __str__(self) -> str:
        return f"{self.decoded} decoded, {self.skipped} skipped, {self.failed} failed"


def row_templates(
    documentation: Documentation | None, options: DecodeCommand, tokenizer: PreTrainedTokenizerBase
) -> dict[str, Template]:
    """Return the template of the prompt for each kind of row (``Entry.kind``).

    Parameters
    ----------
    documentation : Documentation or None
        For rows without ``tools``.
    """
    templates: dict[str, Template] = {}
    for name in CONTENTS:
        content = _CONTENT_OF[name]
        templates[name] = template_of(content, documentation, options, tokenizer)
        templates[name + WITH_TOOLS] = template_of(content, NO_TOOLS, options, tokenizer)
    return templates


def run_batch(
    groups: Iterable[Sequence[Row | BadRow]],
    workers: Workers[Row | BadRow, dict[str, Any]],
    options: DecodeCommand,
    write: Write,
    advance: Callable[[int], None],
) -> Summary:
    """Decode groups of rows, and write each group's results.

    Parameters
    ----------
    groups : iterable
        As ``BatchRows.groups`` yields them; the next one is asked for when a worker needs it.
    advance : callable
        Called after each group with the number of its rows.
    """
    summary = Summary()
    for group, results in workers.spread(workers.arranged(groups, options.batch_size)):
        bad = sum("error" in result for result in results)
        summary.failed += bad
        summary.decoded += len(results) - bad
        write(results)
        advance(len(group))
    return summary


def decode_group(group: Sequence[Row | BadRow], decoder: ToolDecoder, options: DecodeCommand) -> list[dict[str, Any]]:
    """Return the results of some rows in their sequence; a row that fails does not touch the others."""
    results: dict[str | int, dict[str, Any]] = {}
    requests: dict[str | int, Request] = {}
    contents: dict[str | int, Content] = {}
    for row in group:
        if isinstance(row, BadRow):
            results[row.id] = row.to_json()
            continue
        own = options if row.tool_choice is None else replace(options, tool_choice=row.tool_choice)
        try:
            request = make_request(row.content, row.documentation, own, decoder.tokenizer)
            decoder.prompt_ids(request)
        except ToolDecodingError as error:
            results[row.id] = failed(row.id, error)
        else:
            requests[row.id], contents[row.id] = request, row.content
    for key, result in _decode(requests, decoder).items():
        if isinstance(result, ToolDecodingError):
            results[key] = failed(key, result)
        else:
            results[key] = result_json(contents[key], result, decoder.tokenizer, str(key)) | {"id": key}
    return [results[row.id] for row in group]


def _decode(
    requests: Mapping[str | int, Request], decoder: ToolDecoder
) -> dict[str | int, DecodeResult | ToolDecodingError]:
    """Decode together; if that fails, one by one, so that only the row at fault gets the error."""
    try:
        results = decode_requests(list(requests.values()), decoder)
    except ToolDecodingError as error:
        if len(requests) == 1:
            return dict.fromkeys(requests, error)
        alone = [_decode({key: request}, decoder) for key, request in requests.items()]
        return {key: result for results in alone for key, result in results.items()}
    return dict(zip(requests, results, strict=True))
