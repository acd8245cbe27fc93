"""Where the rows of a batch come from, one after the other: JSON lines, tables, data sets on the hub."""

import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from lookup.documents.text.text_file import demand_file
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import bounded_lines, read_json, read_row

CONTENTS: Final = ("prompt", "messages", "dialogue")
"""Columns of which a row has one."""

_COLUMNS: Final = ("id", *CONTENTS, "tools", "tool_choice")
"""Columns of a table that mean something."""

_NESTED: Final = ("messages", "dialogue")
"""Columns of a table whose texts must be JSON."""

_PERHAPS_NESTED: Final = ("tools", "tool_choice")
"""Columns of a table whose texts may be JSON: lists and objects."""

_HUB: Final = "hub:"
_GZIP: Final = ".gz"
_OTHER_ENCODINGS: Final = (b"\xff\xfe", b"\xfe\xff")
_AT_ONCE: Final = 64
"""Rows of a table that are read together."""
_BUFFER_BYTES: Final = 1 << 20
_BLOCK_BYTES: Final = 16 << 20
"""What is read of CSV at once; a row must not be longer."""


class SourceRow(NamedTuple):
    """A row as its source has it: JSON values by column, or no column, what stands there and why it cannot be read."""

    place: str
    columns: Mapping[str, Any]
    raw: str | Mapping[str, Any]
    error: str = ""


class RowSource(NamedTuple):
    """Rows that are read once, and their number, if it is known before; a PromptError ends them if one is damaged."""

    origin: str
    rows: Iterator[SourceRow]
    total: int | None = None


def open_source(name: str) -> RowSource:
    """Return the rows of a batch.

    PromptError if it cannot be read, or no row can have content.

    ``name``: ``hub:OWNER/NAME``, ``hub:OWNER/NAME:SPLIT`` or ``hub:OWNER/NAME/SUBSET:SPLIT``; a file ending in
    ``.parquet``, ``.csv`` or ``.csv.gz``; any other file of JSON lines, which may be compressed (``.gz``); ``-`` for
    JSON lines on standard input.
    """
    if name != "-" and not name.startswith(_HUB):
        demand_file(Path(name), PromptError)
    if _is_table(name):
        return _table(name)
    return RowSource("<stdin>" if name == "-" else name, json_rows(name), _count_lines(name))


def needed_packages(name: str) -> tuple[str, ...]:
    """Return the packages of the extra ``batch`` that reading ``name`` takes."""
    return ("datasets", "pyarrow") if _is_table(name) else ()


def _is_table(name: str) -> bool:
    return name.startswith(_HUB) or name.lower().endswith((".parquet", ".csv", ".csv.gz"))


# JSON lines


def json_rows(name: str) -> Iterator[SourceRow]:
    """Yield the rows of the lines that are not blank, of a file or of standard input; PromptError as ``RowSource``."""
    origin = "<stdin>" if name == "-" else name
    try:
        with _opened(name) as file:
            for number, line in bounded_lines(file, origin, PromptError):
                row = _json_row(line, number, origin)
                if row is not None:
                    yield row
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise PromptError(f"{origin}: damaged gzip file: {error}") from None
    except OSError as error:
        raise PromptError(f"{origin}: cannot be read: {error.strerror}") from None


def _count_lines(name: str) -> int | None:
    """Return the number of lines, for a progress bar; None if they can be read but once, or must be unpacked."""
    if name == "-" or name.lower().endswith(_GZIP) or not Path(name).is_file():
        return None
    with Path(name).open("rb") as file:
        count, last = 0, b""
        for piece in iter(lambda: file.read(_BUFFER_BYTES), b""):
            count, last = count + piece.count(b"\n"), piece
        return count + (not last.endswith(b"\n") and last != b"")


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
        return
    with gzip.open(name) if name.lower().endswith(_GZIP) else Path(name).open("rb") as file:
        yield file  # type: ignore[misc]  # gzip's file is no BinaryIO by name


def _json_row(line: bytes, number: int, origin: str) -> SourceRow | None:
    place = f"{origin}:{number}"
    if number == 1:
        _demand_utf8(line, origin)
        line = line.removeprefix(b"\xef\xbb\xbf")
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        found = f"expected UTF-8, found the byte 0x{line[error.start]:02x}; save the file as UTF-8"
        return SourceRow(place, {}, repr(line) + "\n" * line.endswith(b"\n"), f"{place}: {found}")
    if not text.strip():
        return None
    try:
        # without its newline, where some errors would be said to lie
        return SourceRow(place, read_row(text.removesuffix("\n"), number, origin, PromptError), text)
    except PromptError as error:
        return SourceRow(place, {}, text, str(error))


def _demand_utf8(beginning: bytes, origin: str) -> None:
    if beginning.startswith(_OTHER_ENCODINGS):
        raise PromptError(f"{origin}: expected UTF-8, found UTF-16; save the file as UTF-8")


# tables


def _table(name: str) -> RowSource:
    try:
        read = _hub if name.startswith(_HUB) else _parquet if name.lower().endswith(".parquet") else _csv
        data, total = read(name)
    except _errors(name) as error:
        raise _unreadable(name, error) from None
    return RowSource(name, _table_rows(name, data), total)


def _parquet(name: str) -> tuple[Iterable[Mapping[str, Any]], int]:
    """Read a file whose nested values may be lists and structs, or JSON in texts."""
    from pyarrow.parquet import ParquetFile

    # with a buffer, or a whole row group would be read at once
    file = ParquetFile(name, pre_buffer=False, buffer_size=_BUFFER_BYTES)
    known = _known(name, file.schema_arrow.names)
    return _arrow_rows(file.iter_batches(_AT_ONCE, columns=known, use_threads=False)), file.metadata.num_rows


def _csv(name: str) -> tuple[Iterable[Mapping[str, Any]], None]:
    """Read CSV with commas and a header; ids are texts, an empty cell is none."""
    import pyarrow as pa
    from pyarrow import csv

    with _opened(name) as file:
        _demand_utf8(file.read(2), name)
    read = csv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False)
    parse = csv.ParseOptions(newlines_in_values=True)
    known = _known(name, csv.open_csv(name, read, parse).schema.names)
    texts = dict.fromkeys(known, pa.string())
    convert = csv.ConvertOptions(include_columns=known, column_types=texts, null_values=[""], strings_can_be_null=True)
    return _arrow_rows(csv.open_csv(name, read, parse, convert)), None


def _arrow_rows(batches: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    for batch in batches:
        for start in range(0, len(batch), _AT_ONCE):
            yield from batch.slice(start, _AT_ONCE).to_pylist(maps_as_pydicts="strict")


def _hub(name: str) -> tuple[Iterable[Mapping[str, Any]], int | None]:
    """Stream a data set on the hub; its code, if it has any, is not run."""
    import datasets

    path, _, split = name.removeprefix(_HUB).partition(":")
    owner, own_name, *subset = [*path.split("/"), ""][:3]
    if not owner or not own_name:
        raise PromptError(f"{name}: expected {_HUB}OWNER/NAME, {_HUB}OWNER/NAME:SPLIT or {_HUB}OWNER/NAME/SUBSET:SPLIT")
    data = datasets.load_dataset(f"{owner}/{own_name}", *filter(None, subset), split=split or None, streaming=True)
    if not split:
        splits = list(data)
        if len(splits) != 1:
            listed = ", ".join(splits)
            raise PromptError(f"{name}: name one of its splits, as in {name}:{splits[0]}; there are {listed}")
        data = data[splits[0]]
    about = (data.info.splits or {}).get(str(data.split))
    if data.column_names is not None:
        data = data.select_columns(_known(name, data.column_names))
    return data, about.num_examples or None if about else None


def _table_rows(name: str, data: Iterable[Mapping[str, Any]]) -> Iterator[SourceRow]:
    """Yield the rows of a table; empty cells and columns that mean nothing to a batch are left out."""
    try:
        for number, row in enumerate(data, start=1):
            place, columns, error = f"{name}: row {number}", dict[str, Any](), ""
            cells = {column: row[column] for column in _COLUMNS if row.get(column) is not None}
            for column, value in cells.items():
                try:
                    columns[column] = _value(column, value)
                except (ValueError, RecursionError) as cause:
                    error = f"{place}: {column}: malformed JSON: {cause}"
            yield SourceRow(place, {} if error else columns, cells, error)
    except _errors(name) as cause:
        raise _unreadable(name, cause) from None


def _known(name: str, columns: Sequence[str]) -> list[str]:
    """Return the columns that mean something; PromptError if no row can have content."""
    if not set(CONTENTS) & set(columns):
        wanted, found = ", ".join(map(repr, CONTENTS)), ", ".join(map(repr, columns))
        raise PromptError(f"{name}: expected one of the columns {wanted}, found {found:.200}")
    if twice := [column for column in _COLUMNS if list(columns).count(column) > 1]:
        raise PromptError(f"{name}: two columns are called {twice[0]!r}; rename one")
    return [column for column in _COLUMNS if column in columns]


def _errors(name: str) -> tuple[type[Exception], ...]:
    """What reading may raise; HTTP clients differ between releases, their errors are bases of the hub's."""
    if not name.startswith(_HUB):
        return OSError, ValueError, KeyError, OverflowError, NotImplementedError
    from datasets.exceptions import DatasetsError
    from huggingface_hub.errors import HfHubHTTPError

    bases = (b for b in HfHubHTTPError.__bases__ if issubclass(b, Exception) and b is not Exception)
    return DatasetsError, OSError, ValueError, *bases


def _unreadable(name: str, error: Exception) -> PromptError:
    return PromptError(f"{name}: cannot be read: {' '.join(str(error).split()) or type(error).__name__:.300}")


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
