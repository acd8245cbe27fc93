"""Rows from text: JSON lines and CSV, from a file, which may be compressed by gzip, or from standard input."""

import csv
import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from lookup.text.text_file import demand_file
from tooldecoding.batches.cells import table_row
from tooldecoding.batches.source import CONTENTS, SourceRow
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import MAX_LINE_BYTES, LongLine, bounded_lines, read_row

GZIP: Final = ".gz"
_OTHER_ENCODINGS: Final = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class TextFile:
    """Lines of a file; ``-`` is standard input."""

    path: str

    @property
    def origin(self) -> str:
        """Path or ``<stdin>``."""
        return "<stdin>" if self.path == "-" else self.path

    @property
    def again(self) -> bool:
        """False for standard input, pipes and devices."""
        path = Path(self.path)
        return self.path != "-" and (path.is_file() or not path.exists())

    @property
    def total(self) -> None:
        """Lines are not counted beforehand."""
        return None

    def place(self, number: int) -> str:
        """Return the place of a line."""
        return f"{self.origin}:{number}"

    def lines(self) -> Iterator[bytes | LongLine]:
        """Yield all lines; PromptError if they cannot be read."""
        try:
            with self._open() as file:
                for number, line in enumerate(bounded_lines(file, MAX_LINE_BYTES), start=1):
                    yield _first_line(line, self.origin) if number == 1 else line
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise PromptError(f"{self.origin}: damaged gzip file: {error}") from None
        except OSError as error:
            raise PromptError(f"{self.origin}: cannot be read: {error.strerror}") from None

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        if self.path == "-":
            yield sys.stdin.buffer
            return
        demand_file(Path(self.path), PromptError)
        with gzip.open(self.path) if self.path.endswith(GZIP) else Path(self.path).open("rb") as file:
            yield file  # type: ignore[misc]  # gzip's file is no BinaryIO by name


class JsonLines(TextFile):
    """One JSON object a line."""

    def rows(self) -> Iterator[SourceRow]:
        """Yield the rows of lines that are not blank."""
        for number, line in enumerate(self.lines(), start=1):
            place = self.place(number)
            if isinstance(line, LongLine):
                yield SourceRow(number, place, None, line.digest, _too_long(place, line))
                continue
            try:
                text = line.decode()
                if text.strip():
                    # without its newline, where some errors would be said to lie
                    columns = read_row(text.removesuffix("\n"), number, self.origin, PromptError)
                    yield SourceRow(number, place, columns, text)
            except UnicodeDecodeError as error:
                yield SourceRow(number, place, None, repr(line), _no_utf8(place, error))
            except PromptError as error:
                yield SourceRow(number, place, None, text, str(error))


class CsvRows(TextFile):
    """CSV with commas and a header; an empty cell is none."""

    def rows(self) -> Iterator[SourceRow]:
        """Yield a row for each record."""
        csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
        records = _Records(self)
        header = next(records, _Record(0, [], "", "")).cells
        if not set(CONTENTS) & set(header):
            found = ", ".join(map(repr, header)) or "nothing"
            wanted = ", ".join(map(repr, CONTENTS))
            raise PromptError(f"{self.origin}: expected a header with one of {wanted}, found {found:.200}")
        for record in records:
            place = self.place(record.number)
            error = record.error
            if not error and len(record.cells) != len(header):
                error = f"{place}: expected {len(header)} cells, found {len(record.cells)}"
            if error:
                yield SourceRow(record.number, place, None, record.text, error)
            else:
                row = {name: cell for name, cell in zip(header, record.cells, strict=True) if cell}
                yield table_row(record.number, place, row)


class _Record(NamedTuple):
    """Line, cells and text of a record, and what is wrong with it."""

    number: int
    cells: list[str]
    text: str
    error: str


class _Records:
    """Records of CSV that are not blank."""

    def __init__(self, source: TextFile) -> None:
        self._place = source.place
        self._lines = source.lines()
        self._number = 0
        self._texts: list[str] = []
        self._size = 0
        self._error = ""
        self._reader = csv.reader(self._read_lines(), strict=True)

    def __iter__(self) -> Iterator[_Record]:
        return self

    def __next__(self) -> _Record:
        while True:
            first = self._number + 1
            self._texts, self._size, self._error = [], 0, ""
            try:
                cells = next(self._reader)
            except csv.Error as error:
                cells, self._error = [""], self._error or f"{self._place(first)}: malformed CSV: {error}"
            if cells:
                return _Record(first, cells, "".join(self._texts), self._error)

    def _read_lines(self) -> Iterator[str]:
        for line in self._lines:
            self._number += 1
            place = self._place(self._number)
            if isinstance(line, LongLine):
                self._error = self._error or _too_long(place, line)
                self._texts.append(line.digest)
                yield '"' * (line.quotes % 2) + "\n"  # the record ends where it would have ended
                continue
            try:
                text = line.decode()
            except UnicodeDecodeError as error:
                self._error = self._error or _no_utf8(place, error)
                text = line.decode(errors="backslashreplace")
            self._texts.append(text)
            self._size += len(line)
            if self._size > MAX_LINE_BYTES:
                raise PromptError(f"{place}: a record of more than {MAX_LINE_BYTES} bytes; does a quoted cell not end?")
            yield text


def _first_line(line: bytes | LongLine, origin: str) -> bytes | LongLine:
    """Return the line without a byte order mark; PromptError for one of another encoding."""
    if isinstance(line, LongLine):
        return line
    if line.startswith(_OTHER_ENCODINGS):
        raise PromptError(f"{origin}: expected UTF-8, found UTF-16; save the file as UTF-8")
    return line.removeprefix(b"\xef\xbb\xbf")


def _too_long(place: str, line: LongLine) -> str:
    return f"{place}: expected a line of at most {MAX_LINE_BYTES} bytes, found {line.size}"


def _no_utf8(place: str, error: UnicodeDecodeError) -> str:
    return f"{place}: expected UTF-8, found the byte 0x{error.object[error.start]:02x}; save the file as UTF-8"
