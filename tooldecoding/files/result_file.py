"""The file that results are appended to; an interrupt leaves no torn result in it."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, BinaryIO, Final

from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import bounded_lines, json_line, read_row
from tooldecoding.files.manifest import replaced

_BEGINNING: Final = b'{"id"'

Id = str | int
"""What a result is named by."""


class ResultFile:
    """JSON lines of results; what is known of each result is kept in memory.

    PromptError if the file cannot be read or written, or holds anything but results; it is not changed then.

    Parameters
    ----------
    path : str or Path
        A new file, or one that an interrupted run left.
    columns : set of str
        Every result begins with its ``id`` and has at least one of these.
    begin : bool
        Whether it is opened to be written right away; if not, it is not changed before ``begin``.

    Attributes
    ----------
    path : Path
    digests : dict
        Ids of the results that stand in the file -> their ``digest``, or None.
    failed : set of (str or int)
        Ids of the results that report an error.
    """

    def __init__(self, path: str | Path, columns: Set[str], begin: bool = True) -> None:
        self.path = Path(path)
        self._columns = columns
        self.digests: dict[Id, str | None] = {}
        self.failed: set[Id] = set()
        self._size = 0
        self._file: BinaryIO | None = None
        try:
            for line in self._lines():
                self._size += len(line)
        except OSError as error:
            raise PromptError(f"{path}: cannot be read: {error.strerror}") from None
        if begin:
            self.begin()

    @property
    def done(self) -> Set[Id]:
        """Ids of the results that stand in the file."""
        return self.digests.keys()

    def begin(self) -> None:
        """Open the file to append to, and cut off what is torn; PromptError if it cannot be written."""
        try:
            # no buffer: closing the file must not try again what a full disk refused
            self._file = self.path.open("ab", buffering=0)
            self._file.truncate(self._size)
        except OSError as error:
            raise self._unwritable(error) from None

    def write(self, results: Sequence[Mapping[str, Any]]) -> None:
        """Append results and flush them to the disk; PromptError if they cannot be written."""
        if self._file is None:
            raise ValueError("begin comes first")
        try:
            self._append(self._file, "".join(json_line(r) + "\n" for r in results).encode())
        except OSError as error:
            raise self._unwritable(error) from None

    def _append(self, file: BinaryIO, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[file.write(left) :]
        os.fsync(file.fileno())

    def drop_failed(self) -> None:
        """Rewrite the file without the results that report an error, whole or not at all; before ``begin``.

        PromptError if it cannot be written.
        """
        if not self.failed:
            return
        read, size = 0, 0
        try:
            with self.path.open("rb") as file, replaced(self.path) as kept:
                while read < self._size:
                    line = file.readline()
                    read += len(line)
                    if line.strip() and "error" not in json.loads(line):
                        size += kept.write(line)
        except OSError as error:
            raise self._unwritable(error) from None
        self._size = size

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _lines(self) -> Iterator[bytes]:
        """Yield the lines that are whole, and note their results; the beginning of one, torn, may follow."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            for number, line in bounded_lines(file, str(self.path), PromptError):
                if not line.endswith(b"\n"):
                    if not _BEGINNING.startswith(line[: len(_BEGINNING)]):
                        raise self._foreign(number)
                    return
                if line.strip():
                    self._note(line, number)
                yield line

    def _note(self, line: bytes, number: int) -> None:
        try:
            row = read_row(line.decode(), number, str(self.path), PromptError)
        except (UnicodeDecodeError, PromptError):
            raise self._foreign(number) from None
        identifier = row.get("id")
        if isinstance(identifier, bool) or not isinstance(identifier, str | int) or not self._columns & row.keys():
            raise self._foreign(number)
        self.digests[identifier] = row.get("digest")
        if "error" in row:
            self.failed.add(identifier)

    def _foreign(self, number: int) -> PromptError:
        return PromptError(f"{self.path}:{number}: this line is no result; --out must be a new file or one of results")

    def _unwritable(self, error: OSError) -> PromptError:
        return PromptError(f"{self.path}: cannot be written: {error.strerror}")
