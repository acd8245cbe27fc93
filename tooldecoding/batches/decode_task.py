"""``decode --batch`` as a task of workers: rows in, results out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from lookup.errors import ToolDecodingError
from tooldecoding.batches.requests import decode_requests, make_request, result_json
from tooldecoding.batches.rows import Entry, Row, RowReader
from tooldecoding.chat.documentation import Documentation
from tooldecoding.cluster.task import About
from tooldecoding.decoder import ToolDecoder
from tooldecoding.files.json_lines import json_line
from tooldecoding.models.identity import identify
from tooldecoding.models.places import input_device
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult


@dataclass(frozen=True)
class DecodeTask:
    """Decodes rows of a batch.

    Parameters
    ----------
    options : DecodeCommand
    documentation : Documentation or None
        For rows without ``tools``.
    """

    options: DecodeCommand
    documentation: Documentation | None

    def loaded(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> "LoadedDecode":
        """Return the task with its decoder."""
        decoder = ToolDecoder(model, tokenizer, self.options.strategy, prompt_cache_mb=self.options.prompt_cache_mb)
        return LoadedDecode(decoder, self.options, RowReader(self.documentation, self.options.on_duplicate))

    def beginning(self, item: Entry) -> str:
        """Rows with the same tools and the same kind of prompt begin alike."""
        tools = "" if item.columns is None else item.columns.get("tools")
        return f"{item.content} {json_line(tools)}"


@dataclass(frozen=True)
class LoadedDecode:
    """A decoder, the options of its decodes, and the reader of rows."""

    decoder: ToolDecoder
    options: DecodeCommand
    reader: RowReader

    @property
    def about(self) -> About:
        """The device, and the model's identity, which manifests have."""
        return {
            "device": str(input_device(self.decoder.model)),
            "identity": identify(self.decoder.model, self.decoder.tokenizer),
        }

    def run(self, items: Sequence[Entry]) -> list[dict[str, Any]]:
        """Return the results of some rows in their sequence; a row that fails does not touch the others."""
        rows: dict[int, tuple[Row, Request]] = {}
        found: dict[int, dict[str, Any]] = {}
        for number, entry in enumerate(items):
            try:
                row = self.reader.read(entry)
                rows[number] = row, self._request(row)
            except ToolDecodingError as error:
                found[number] = {"error": str(error)}
        for number, result in _decode({n: request for n, (_, request) in rows.items()}, self.decoder).items():
            if isinstance(result, ToolDecodingError):
                found[number] = {"error": str(result)}
            else:
                row = rows[number][0]
                found[number] = result_json(row.content, result, self.decoder.tokenizer, str(row.id))
        named = ({"id": entry.id, "digest": entry.digest} for entry in items)
        return [name | found[number] | name for number, name in enumerate(named)]  # the name comes first

    def _request(self, row: Row) -> Request:
        options = self.options if row.tool_choice is None else replace(self.options, tool_choice=row.tool_choice)
        request = make_request(row.content, row.documentation, options, self.decoder.tokenizer)
        self.decoder.prompt_ids(request)  # a prompt that is too long shows before it is decoded with others
        return request


def _decode(requests: Mapping[int, Request], decoder: ToolDecoder) -> dict[int, DecodeResult | ToolDecodingError]:
    """Decode together; if that fails, one by one, so that only the row at fault gets the error."""
    try:
        results = decode_requests(list(requests.values()), decoder)
    except ToolDecodingError as error:
        if len(requests) == 1:
            return dict.fromkeys(requests, error)
        alone = [_decode({number: request}, decoder) for number, request in requests.items()]
        return {number: result for results in alone for number, result in results.items()}
    return dict(zip(requests, results, strict=True))
