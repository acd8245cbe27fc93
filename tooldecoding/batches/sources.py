"""Where the rows of a batch come from, one after the other: JSON lines, tables, data sets on the hub."""

import gzip
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from lookup.text.text_file import demand_file
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import LongLine, bounded_lines, read_json, read_row

CONTENTS: Final = ("prompt", "messages", "dialogue")
"""Columns of which a row has one."""

_COLUMNS: Final = ("id", *CONTENTS, "tools", "tool_choice")
"""Columns of a table that mean something."""

_NESTED: Final = ("messages", "dialogue")
"""Columns of a table whose texts must be JSON."""

_PERHAPS_NESTED: Final = ("tools", "tool_choice")
"""Columns of a table whose texts may be JSON: lists and objects."""

_HUB: Final = "hub:"
_DATA_SET: Final = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(?:/(?P<subset>[\w.-]+))?(?::(?P<split>[\w.+-]+))?")
_GZIP: Final = ".gz"
_OTHER_ENCODINGS: Final = (b"\xff\xfe", b"\xfe\xff")
_AT_ONCE: Final = 64
"""Rows that are taken from Arrow together."""
_BUFFER_BYTES: Final = 1 << 20
_BLOCK_BYTES: Final = 16 << 20
"""What is read of CSV at once; a row must not be longer."""


@dataclass(frozen=True)
class SourceRow:
    """A row as its source has it.

    Attributes
    ----------
    place : str
        For messages.
    columns : mapping or None
        JSON values; None if there is nothing to read.
    raw : str or mapping
        What stands there; names a row without columns.
    error : str
        Why it cannot be read.
    """

    place: str
    columns: Mapping[str, Any] | None
    raw: str | Mapping[str, Any]
    error: str = ""


@dataclass(frozen=True)
class Source:
    """Rows that are read once.

    Attributes
    ----------
    origin : str
        Name, for messages.
    rows : iterator of SourceRow
        Raises a PromptError if the source cannot be read, or is damaged.
    total : int or None
        Number of rows, if it is known before they are read.
    """

    origin: str
    rows: Iterator[SourceRow]
    total: int | None = None


def open_source(name: str) -> Source:
    """Return the rows of a batch.

    Parameters
    ----------
    name : str
        ``hub:OWNER/NAME``, ``hub:OWNER/NAME:SPLIT`` or ``hub:OWNER/NAME/SUBSET:SPLIT``; a file ending in ``.parquet``,
        ``.csv`` or ``.csv.gz``; any other file of JSON lines, which may be compressed (``.gz``); ``-`` for JSON lines
        on standard input.

    Raises
    ------
    PromptError
        If it cannot be read, or no row can have content.
    """
    if name.startswith(_HUB):
        return _hub(name)
    if name != "-":
        demand_file(Path(name), PromptError)
    if _is_table(name):
        return _parquet(name) if name.lower().endswith(".parquet") else _csv(name)
    return Source("<stdin>" if name == "-" else name, _json_lines(name), _count_lines(name))


def needed_packages(name: str) -> Iterator[str]:
    """Yield the packages of the extra ``batch`` that reading ``name`` takes."""
    if name.startswith(_HUB):
        yield "datasets"
    elif _is_table(name):
        yield "pyarrow"


def _is_table(name: str) -> bool:
    return name.lower().endswith((".parquet", ".csv", ".csv.gz"))


# JSON lines


def _json_lines(name: str) -> Iterator[SourceRow]:
    """Yield the rows of lines that are not blank."""
    origin = "<stdin>" if name == "-" else name
    try:
        with _opened(name) as file:
            for number, line in enumerate(bounded_lines(file), start=1):
                row = _json_row(line, number, origin)
                if row is not None:
                    yield row
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise PromptError(f"{origin}: damaged gzip file: {error}") from None
    except OSError as error:
        raise PromptError(f"{origin}: cannot be read: {error.strerror}") from None


def _count_lines(name: str) -> int | None:
    """Return the number of lines, for a progress bar; None if they can be read but once, or must be unpacked."""
    if name == "-" or name.endswith(_GZIP) or not Path(name).is_file():
        return None
    with Path(name).open("rb") as file:
        return sum(piece.count(b"\n") for piece in iter(lambda: file.read(_BUFFER_BYTES), b""))


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
        return
    with gzip.open(name) if name.endswith(_GZIP) else Path(name).open("rb") as file:
        yield file  # type: ignore[misc]  # gzip's file is no BinaryIO by name


def _json_row(line: bytes | LongLine, number: int, origin: str) -> SourceRow | None:
    place = f"{origin}:{number}"
    if isinstance(line, LongLine):
        return SourceRow(place, None, line.digest, f"{place}: {line}")
    if number == 1:
        if line.startswith(_OTHER_ENCODINGS):
            raise PromptError(f"{origin}: expected UTF-8, found UTF-16; save the file as UTF-8")
        line = line.removeprefix(b"\xef\xbb\xbf")
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        found = f"expected UTF-8, found the byte 0x{line[error.start]:02x}; save the file as UTF-8"
        return SourceRow(place, None, repr(line), f"{place}: {found}")
    if not text.strip():
        return None
    try:
        # without its newline, where some errors would be said to lie
        return SourceRow(place, read_row(text.removesuffix("\n"), number, origin, PromptError), text)
    except PromptError as error:
        return SourceRow(place, None, text, str(error))


# tables


def _csv(name: str) -> Source:
    """Read CSV with commas and a header; ids are texts, an empty cell is none."""
    import pyarrow as pa
    from pyarrow import csv

    read = csv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False)
    parse = csv.ParseOptions(newlines_in_values=True)
    try:
        known = _known(csv.open_csv(name, read, parse).schema.names, name)
        convert = csv.ConvertOptions(
            include_columns=known,
            column_types=dict.fromkeys(known, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
        )
        reader = csv.open_csv(name, read, parse, convert)
    except (OSError, ValueError, KeyError) as error:
        raise _damaged(name, "CSV", error) from None
    return Source(name, _table_rows(name, _arrow_rows(name, "CSV", reader)))


def _parquet(name: str) -> Source:
    """Read a Parquet file; nested values may be lists and structs, or JSON in texts."""
    from pyarrow.parquet import ParquetFile

    try:
        # with a buffer, or a whole row group would be read at once
        file = ParquetFile(name, pre_buffer=False, buffer_size=_BUFFER_BYTES)
    except (OSError, ValueError, KeyError) as error:
        raise _damaged(name, "Parquet", error) from None
    batches = file.iter_batches(_AT_ONCE, columns=_known(file.schema_arrow.names, name), use_threads=False)
    return Source(name, _table_rows(name, _arrow_rows(name, "Parquet", batches)), int(file.metadata.num_rows))


def _arrow_rows(name: str, kind: str, batches: Iterable[Any]) -> Iterator[dict[str, Any]]:
    try:
        for batch in batches:
            for start in range(0, len(batch), _AT_ONCE):
                yield from batch.slice(start, _AT_ONCE).to_pylist(maps_as_pydicts="strict")
    except (OSError, ValueError, KeyError) as error:
        raise _damaged(name, kind, error) from None


def _hub(name: str) -> Source:
    """Stream a data set on the hub by ``datasets``; its code, if it has any, is not run."""
    import datasets

    asked = _DATA_SET.fullmatch(name.removeprefix(_HUB))
    if not asked:
        raise PromptError(f"{name}: expected {_HUB}OWNER/NAME, {_HUB}OWNER/NAME:SPLIT or {_HUB}OWNER/NAME/SUBSET:SPLIT")
    try:
        data = datasets.load_dataset(asked["name"], asked["subset"], split=asked["split"], streaming=True)
    except _hub_errors() as error:
        raise PromptError(f"{name}: cannot be read: {_said(error)}") from None
    if asked["split"] is None:
        if len(data) != 1:
            raise PromptError(
                f"{name}: name one of its splits, as in {name}:{next(iter(data))}; there are {', '.join(data)}"
            )
        [data] = data.values()
    split = (data.info.splits or {}).get(str(data.split))
    if data.column_names is not None:
        data = data.select_columns(_known(data.column_names, name))
    return Source(name, _table_rows(name, _hub_rows(name, data)), split.num_examples or None if split else None)


def _hub_rows(name: str, data: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    try:
        yield from data
    except _hub_errors() as error:
        raise PromptError(f"{name}: cannot be read: {_said(error)}") from None


def _hub_errors() -> tuple[type[Exception], ...]:
    """What listing and reading may raise; HTTP clients differ between releases, their errors are bases of the hub's."""
    from datasets.exceptions import DatasetsError
    from huggingface_hub.errors import HfHubHTTPError

    bases = (b for b in HfHubHTTPError.__bases__ if issubclass(b, Exception) and b is not Exception)
    return DatasetsError, OSError, ValueError, *bases


def _damaged(name: str, kind: str, error: Exception) -> PromptError:
    return PromptError(f"{name}: damaged {kind} file: {_said(error)}")


def _said(error: Exception) -> str:
    """Return an error's message in one line."""
    return f"{' '.join(str(error).split()) or type(error).__name__:.300}"


def _known(columns: Sequence[str], origin: str) -> list[str]:
    """Return the columns that mean something; PromptError if no row can have content."""
    if not set(CONTENTS) & set(columns):
        wanted, found = ", ".join(map(repr, CONTENTS)), ", ".join(map(repr, columns))
        raise PromptError(f"{origin}: expected one of the columns {wanted}, found {found:.200}")
    return [name for name in _COLUMNS if name in columns]


def _table_rows(origin: str, rows: Iterator[dict[str, Any]]) -> Iterator[SourceRow]:
    """Yield the rows of a table; empty cells and columns that mean nothing to a batch are left out."""
    for number, row in enumerate(rows, start=1):
        cells = {name: row[name] for name in _COLUMNS if row.get(name) is not None}
        yield _table_row(f"{origin}: row {number}", cells)


def _table_row(place: str, cells: Mapping[str, Any]) -> SourceRow:
    columns: dict[str, Any] = {}
    for name, value in cells.items():
        try:
            columns[name] = _value(name, value)
        except (ValueError, RecursionError) as error:
            return SourceRow(place, None, cells, f"{place}: {name}: malformed JSON: {error}")
    return SourceRow(place, columns, cells)


def _value(name: str, value: Any) -> Any:
    """Read texts of lists and objects as JSON where a row needs one."""
    if not isinstance(value, str):
        return _without_nulls(value)
    if name in _NESTED:
        return read_json(value)
    if name in _PERHAPS_NESTED and value.lstrip()[:1] in ("[", "{"):
        try:
            return read_json(value)
        except ValueError:
            return value  # documentation in another form
    return value


def _without_nulls(value: Any) -> Any:
    """Return a nested value without the empty fields of structs, which all structs of a table have."""
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return value
