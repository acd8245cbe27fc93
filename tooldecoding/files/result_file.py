"""The file that results are appended to; an interrupt leaves no torn result in it."""

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import LongLine, bounded_lines, json_line, read_row
from tooldecoding.files.manifest import replaced

_BEGINNING: Final = '{"id"'
_SECOND: Final = ("text", "error", "message")
"""Results of a batch have one of these columns after the id."""

Id = str | int
"""What a result is named by."""


@dataclass(frozen=True)
class Extent:
    """How far a file of results is whole.

    Attributes
    ----------
    size : int
        Bytes of whole results; the rest is torn.
    unended : bool
        Whether the last whole result lacks its newline.
    total : int
        Bytes of the file.
    """

    size: int
    unended: bool
    total: int


class ResultAppender:
    """Appends JSON lines to a file.

    Parameters
    ----------
    path : Path
    extent : Extent
        As ``scan_results`` returned it; what is torn is cut off.

    Raises
    ------
    PromptError
        If the file cannot be written.
    """

    def __init__(self, path: Path, extent: Extent) -> None:
        try:
            # no buffer: closing the file must not try again what a full disk refused
            self._file = path.open("ab", buffering=0)
            self._file.truncate(extent.size)
        except OSError as error:
            raise _unwritable(path, error) from None
        if extent.unended:
            self._append(b"\n")

    def write(self, results: Sequence[Mapping[str, Any]]) -> None:
        """Append results and flush them to the disk; PromptError if they cannot be written."""
        self._append("".join(json_line(r) + "\n" for r in results).encode())

    def _append(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _unwritable(self._file.name, error) from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class ResultFile(ResultAppender):
    """JSON lines of results, whose ids are kept in memory.

    Parameters
    ----------
    path : str or Path
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
        If the file cannot be read or written, or holds anything but results; it is not changed then.
    """

    def __init__(self, path: str | Path, columns: Set[str] = frozenset({"calls", "error"})) -> None:
        self.done: set[Id] = set()
        extent = scan_results(Path(path), columns, lambda identifier, failed: self.done.add(identifier))
        super().__init__(Path(path), extent)


def scan_results(
    path: Path, columns: Set[str], take: Callable[[Id, bool], None], known: Collection[Id] | None = None
) -> Extent:
    """Read a file of results line by line; it need not exist yet, and is not changed.

    Parameters
    ----------
    columns : set of str
        As for ``ResultFile``.
    take : callable
        Gets the id of each result, and whether it reports an error.
    known : collection of (str or int), optional
        For results of a batch: the ids that results may have.

    Raises
    ------
    PromptError
        If the file cannot be read, or a line is not such a result; the last line may be the torn beginning of one.
    """
    size = total = 0
    unended = False
    try:
        if not path.exists():
            return Extent(0, False, 0)
        with path.open("rb") as file:
            for number, line in enumerate(bounded_lines(file), start=1):
                if isinstance(line, LongLine):
                    raise _foreign(path, number)
                total += len(line)
                unended = not line.endswith(b"\n")
                # the beginning of an object is no JSON: this tells a torn line from a whole one without a newline
                if unended and not _is_json(line):
                    if not _may_begin_result(line, known):
                        raise _foreign(path, number)
                    return Extent(size, False, total)
                size = total
                if line.strip():
                    take(*_read(line, number, path, columns, known))
    except OSError as error:
        raise PromptError(f"{path}: cannot be read: {error.strerror}") from None
    return Extent(size, unended, total)


def drop_results(path: Path, extent: Extent, drop: Callable[[Id], bool]) -> Extent:
    """Rewrite a file without the results whose ids ``drop`` says, whole or not at all; returns its extent then.

    Raises
    ------
    PromptError
        If it cannot be written.
    """
    read = size = 0
    try:
        with path.open("rb") as file, replaced(path) as kept:
            while read < extent.size:
                line = file.readline()
                read += len(line)
                if line.strip() and not drop(json.loads(line)["id"]):
                    size += kept.write(line.removesuffix(b"\n") + b"\n")
    except OSError as error:
        raise _unwritable(path, error) from None
    return Extent(size, False, size)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _may_begin_result(torn: bytes, known: Collection[Id] | None) -> bool:
    if known is None:
        return _share_beginning(torn, _BEGINNING)
    return any(
        _share_beginning(torn, json_line({"id": identifier, second: ""}).removesuffix(' ""}'))
        for identifier in known
        for second in _SECOND
    )


def _share_beginning(torn: bytes, text: str) -> bool:
    beginning = text.encode()
    return torn.startswith(beginning) or beginning.startswith(torn)


def _read(line: bytes, number: int, path: Path, columns: Set[str], known: Collection[Id] | None) -> tuple[Id, bool]:
    """Return the id of a result, and whether it reports an error."""
    try:
        row = read_row(line.decode(), number, str(path), PromptError)
    except UnicodeDecodeError:
        raise PromptError(f"{path}: expected results in UTF-8; --out must be a new file or one of results") from None
    except PromptError:
        raise _foreign(path, number) from None
    identifier = row.get("id")
    if isinstance(identifier, bool) or not isinstance(identifier, str | int) or not columns & row.keys():
        raise _foreign(path, number)
    if known is not None and identifier not in known:
        raise PromptError(
            f"{path}:{number}: a result of {identifier!r}, which is not in the index beside the file; "
            "choose another --out"
        )
    return identifier, "error" in row


def _unwritable(path: object, error: OSError) -> PromptError:
    return PromptError(f"{path}: cannot be written: {error.strerror}")


def _foreign(path: str | Path, number: int) -> PromptError:
    return PromptError(f"{path}:{number}: this line is no result; --out must be a new file or one of results")
