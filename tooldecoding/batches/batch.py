"""Batches: many rows in, results as JSON lines out, resumable after an interrupt."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeGuard

from transformers import PreTrainedTokenizerBase

from lookup.duplicates import OnDuplicate
from lookup.errors import ToolDecodingError
from tooldecoding.batches.jobs import Job, decode_requests, make_request
from tooldecoding.cli.config import DecodeCommand, Template
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import numbered_lines, read_row
from tooldecoding.files.manifest import digest
from tooldecoding.prompts.dialogue import Turn, read_rows
from tooldecoding.prompts.documentation import Documentation
from tooldecoding.prompts.templates import template_of

Write = Callable[[Sequence[Mapping[str, Any]]], None]
"""Takes the results of one group."""


@dataclass
class Summary:
    """How many rows a run decoded, found done already, and reported as failed."""

    decoded: int = 0
    skipped: int = 0
    failed: int = 0

    def __str__(self) -> str:
        return f"{self.decoded} decoded, {self.skipped} skipped, {self.failed} failed"


@dataclass(frozen=True)
class BadRow:
    """A row that cannot be decoded, and why; ``line`` and ``digest`` as those of a ``Job``."""

    id: str | int
    error: str
    line: int = 0
    digest: str = ""

    def to_json(self) -> dict[str, Any]:
        """The row's result."""
        return {"id": self.id, "error": self.error}


Row = Job | BadRow


def read_batch(
    text: str, origin: str, documentation: Documentation | None, on_duplicate: OnDuplicate = "error"
) -> list[Row]:
    """Read ``{"id", "prompt" or "dialogue", "tools"}`` rows.

    A row without an id is called ``row-`` and 16 digits of its digest, so that lines before it do not matter; the
    second of equal rows ends with ``-2``, and so on. A row that cannot be read becomes a ``BadRow``.

    Parameters
    ----------
    documentation : Documentation or None
        For rows without ``tools``.
    on_duplicate : {"error", "rename"}
        What happens to two tools of one name in a row's ``tools``.

    Raises
    ------
    PromptError
        If there are no rows, or two rows of one id.
    """
    rows: list[Row] = []
    lines: dict[str | int, int] = {}
    equal: Counter[str] = Counter()
    for number, line in numbered_lines(text):
        row = _read_line(line, number, origin, documentation, on_duplicate, equal)
        if row.id in lines:
            raise PromptError(
                f"{origin}:{number}: two rows of one id: {row.id!r} stands at {origin}:{lines[row.id]} already"
            )
        lines[row.id] = number
        rows.append(row)
    if not rows:
        raise PromptError(f"{origin}: expected rows, one JSON object a line, found an empty text")
    return rows


def _read_line(
    line: str,
    number: int,
    origin: str,
    documentation: Documentation | None,
    on_duplicate: OnDuplicate,
    equal: Counter[str],
) -> Row:
    """``equal`` counts the rows without ids by their digests."""
    place = f"{origin}:{number}"
    try:
        row = read_row(line, number, origin, PromptError)
        key = _row_digest(row, place)
    except PromptError as error:
        key = digest(line.strip())
        return BadRow(_name(key, equal), str(error), number, key)
    given = row.get("id")
    identifier = given if _is_id(given) else _name(key, equal)
    try:
        if "id" in row and not _is_id(given):
            raise PromptError(f"{place}: expected 'id' to be a text or a whole number, got {given!r}")
        tools = _documentation(row, place, on_duplicate) or documentation
        return Job(identifier, _content(row, place), tools, number, key)
    except ToolDecodingError as error:
        return BadRow(identifier, str(error), number, key)


def _row_digest(row: Mapping[str, Any], place: str) -> str:
    """White space and the sequence of a row's own columns do not count; that within them does, for prompts show it."""
    try:
        return digest(dict(sorted(row.items())))
    except RecursionError:
        raise PromptError(f"{place}: malformed JSON: nested too deeply") from None


def _name(key: str, equal: Counter[str]) -> str:
    equal[key] += 1
    return f"row-{key[:16]}" + (f"-{equal[key]}" if equal[key] > 1 else "")


def _is_id(given: Any) -> TypeGuard[str | int]:
    return isinstance(given, str | int) and not isinstance(given, bool)


def _content(row: Mapping[str, Any], place: str) -> str | tuple[Turn, ...]:
    if ("prompt" in row) == ("dialogue" in row):
        found = "both" if "prompt" in row else f"only {', '.join(map(repr, row)) or 'an empty object'}"
        raise PromptError(f"{place}: a row needs either 'prompt' or 'dialogue', found {found}")
    if "dialogue" in row:
        return read_rows(row["dialogue"], place)
    prompt = row["prompt"]
    if not isinstance(prompt, str) or not prompt:
        raise PromptError(f"{place}: expected 'prompt' to be a text that is not empty, got {prompt!r}")
    return prompt


def _documentation(row: Mapping[str, Any], place: str, on_duplicate: OnDuplicate) -> Documentation | None:
    tools = row.get("tools")
    return None if tools is None else Documentation.read(tools, f"{place}: tools", on_duplicate)


def row_templates(
    rows: Sequence[Row], settings: DecodeCommand, tokenizer: PreTrainedTokenizerBase
) -> dict[str | int, Template]:
    """Id -> the template that makes the prompt, for every row that can be read."""
    return {
        row.id: template_of(row.content, row.documentation, settings, tokenizer) for row in rows if isinstance(row, Job)
    }


def run_batch(
    rows: Sequence[Row],
    decoder: ToolDecoder,
    settings: DecodeCommand,
    done: Set[str | int],
    write: Write,
    advance: Callable[[int], None],
) -> Summary:
    """Decode the rows whose id is not ``done``, ``batch_size`` at a time, and write each group's results.

    Parameters
    ----------
    advance : callable
        Told after each group how many rows are finished.
    """
    summary = Summary()
    open_rows = [row for row in rows if row.id not in done]
    summary.skipped = len(rows) - len(open_rows)
    advance(summary.skipped)
    for group in _groups(open_rows, settings.batch_size):
        results = decode_group(group, decoder, settings)
        summary.failed += sum("error" in r for r in results)
        summary.decoded += sum("error" not in r for r in results)
        write(results)
        advance(len(group))
    return summary


def _groups(rows: Sequence[Row], size: int) -> Iterator[Sequence[Row]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def decode_group(group: Sequence[Row], decoder: ToolDecoder, settings: DecodeCommand) -> list[dict[str, Any]]:
    """The results of some rows in their sequence; a row that fails does not touch the others."""
    results: dict[str | int, dict[str, Any]] = {}
    requests: dict[str | int, Request] = {}
    for row in group:
        if isinstance(row, BadRow):
            results[row.id] = row.to_json()
            continue
        try:
            request = make_request(row, settings, decoder.tokenizer)
            decoder.prompt_ids(request)
        except ToolDecodingError as error:
            results[row.id] = BadRow(row.id, str(error)).to_json()
        else:
            requests[row.id] = request
    results |= _decode(requests, decoder)
    return [results[row.id] for row in group]


def _decode(requests: Mapping[str | int, Request], decoder: ToolDecoder) -> dict[str | int, dict[str, Any]]:
    """Decode together; where that fails, each alone, so that the error is found to be one row's."""
    try:
        results = decode_requests(list(requests.values()), decoder)
    except ToolDecodingError as error:
        if len(requests) == 1:
            return {key: BadRow(key, str(error)).to_json() for key in requests}
        alone = [_decode({key: request}, decoder) for key, request in requests.items()]
        return {key: result for results in alone for key, result in results.items()}
    return {key: result.to_json(str(key)) | {"id": key} for key, result in zip(requests, results, strict=True)}
