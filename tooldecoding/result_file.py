"""The file that results are appended to, safe against interrupts."""

import os
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from tooldecoding.errors import PromptError
from tooldecoding.json_lines import json_line, numbered_lines, read_row

_BEGINNING = b'{"id"'


class ResultFile:
    """JSON lines of results.

    Parameters
    ----------
    path : str
        A new file, or one that an interrupted run left; a torn last line is cut off.
    columns : set of str
        Every result begins with its ``id`` and has at least one of these.

    Attributes
    ----------
    done : set of (str or int)
        Ids of the results that stand in the file.

    Raises
    ------
    PromptError
        If the file cannot be read or written, or holds anything but results; it is left as it is then.
    """

    def __init__(self, path: str, columns: Set[str] = frozenset({"calls", "error"})) -> None:
        target = Path(path)
        try:
            data = target.read_bytes() if target.exists() else b""
        except OSError as error:
            raise PromptError(f"{path}: cannot be read: {error.strerror}") from None
        kept, newline, torn = data.rpartition(b"\n")
        if not torn.startswith(_BEGINNING) and not _BEGINNING.startswith(torn):
            raise _foreign(path, kept.count(b"\n") + 1 + len(newline))
        self.done = _ids(kept, path, columns)
        try:
            self._file = target.open("ab")
            self._file.truncate(len(kept) + len(newline))
        except OSError as error:
            raise PromptError(f"{path}: cannot be written: {error.strerror}") from None

    def write(self, results: Sequence[Mapping[str, Any]]) -> None:
        """Append results and wait until they are on the disk."""
        self._file.write("".join(json_line(r) + "\n" for r in results).encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _ids(data: bytes, path: str, columns: Set[str]) -> set[str | int]:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise PromptError(f"{path}: expected results in UTF-8; --out must be a new file or one of results") from None
    done: set[str | int] = set()
    for number, line in numbered_lines(text):
        row = read_row(line, number, path, PromptError)
        if not isinstance(row.get("id"), str | int) or not columns & row.keys():
            raise _foreign(path, number)
        done.add(row["id"])
    return done


def _foreign(path: str, number: int) -> PromptError:
    return PromptError(f"{path}:{number}: this line is no result; --out must be a new file or one of results")
