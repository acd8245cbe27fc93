"""Decoding a batch: groups of rows in, their results out."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from transformers import PreTrainedTokenizerBase

from lookup.errors import ToolDecodingError
from tooldecoding.batches.requests import decode_requests, make_request, result_json
from tooldecoding.batches.rows import BadRow, Row, failed
from tooldecoding.cluster.task import Workers
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.options.decode_command import DecodeCommand, Template
from tooldecoding.prompts.templates import Content, template_of
from tooldecoding.result import DecodeResult

Write = Callable[[Sequence[Mapping[str, Any]]], None]
"""Takes the results of one group."""


@dataclass
class Summary:
    """How many rows a run decoded, skipped because they had a result, and reported as failed."""

    decoded: int = 0
    skipped: int = 0
    failed: int = 0

    def __str__(self) -> str:
        return f"{self.decoded} decoded, {self.skipped} skipped, {self.failed} failed"


def row_templates(
    rows: Sequence[Row | BadRow], options: DecodeCommand, tokenizer: PreTrainedTokenizerBase
) -> dict[str | int, Template]:
    """Return the template of the prompt for the id of each row that can be read."""
    return {
        row.id: template_of(row.content, row.documentation, options, tokenizer) for row in rows if isinstance(row, Row)
    }


def run_batch(
    rows: Sequence[Row | BadRow],
    workers: Workers[Row | BadRow, dict[str, Any]],
    options: DecodeCommand,
    done: Set[str | int],
    write: Write,
    advance: Callable[[int], None],
) -> Summary:
    """Decode the rows whose id is not ``done``, ``batch_size`` at a time, and write each group's results.

    Parameters
    ----------
    advance : callable
        Called after each group with the number of its rows.
    """
    open_rows = [row for row in rows if row.id not in done]
    summary = Summary(skipped=len(rows) - len(open_rows))
    advance(summary.skipped)
    for group, results in workers.spread(workers.groups(open_rows, options.batch_size)):
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
