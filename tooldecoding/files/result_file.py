"""The file that results are appended to; an interrupt leaves no torn result in it."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import json_line, numbered_lines, read_row
from tooldecoding.files.manifest import write_whole

_BEGINNING = '{"id"'
_SECOND = ("text", "error")
"""Results of a batch have one of these columns after the id."""


@dataclass(frozen=True)
class Standing:
    """What stands in a file of results.

    Attributes
    ----------
    failed : mapping
        Id of each result -> whether it reports an error; of two results of one id the later counts.
    size : int
        Bytes of whole results; the rest is torn.
    unended : bool
        Whether the last whole result lacks its newline.
    total : int
        Bytes of the file.
    """

    failed: Mapping[str | int, bool]
    size: int
    unended: bool
    total: int


class ResultFile:
    """JSON lines of results.

    Parameters
    ----------
    path : str or Path
        A new file, or one that an interrupted run left; a torn last line is cut off.
    columns : set of str
        Every result begins with its ``id`` and has at least one of these.
    standing : Standing, optional
        What stands in the file, if it has been read already.

    Attributes
    ----------
    done : set of (str or int)
        Ids of the results that stand in the file.

    Raises
    ------
    PromptError
        If the file cannot be read or written, or holds anything but results; it is not changed then.
    """

    def __init__(
        self, path: str | Path, columns: Set[str] = frozenset({"calls", "error"}), standing: Standing | None = None
    ) -> None:
        target = Path(path)
        standing = standing or read_standing(target, columns)
        self.done = set(standing.failed)
        try:
            # no buffer: closing the file must not try again what a full disk refused
            self._file = target.open("ab", buffering=0)
            self._file.truncate(standing.size)
        except OSError as error:
            raise _unwritable(path, error) from None
        if standing.unended:
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


def read_standing(path: str | Path, columns: Set[str], known: Iterable[str | int] | None = None) -> Standing:
    """Return what stands in a file, which need not exist yet; does not change it.

    Parameters
    ----------
    columns : set of str
        As for ``ResultFile``.
    known : iterable of (str or int), optional
        For results of a batch: the ids that results may have.

    Raises
    ------
    PromptError
        If the file cannot be read, or a line is not such a result; the last line may be the torn beginning of one.
    """
    target = Path(path)
    try:
        data = target.read_bytes() if target.exists() else b""
    except OSError as error:
        raise PromptError(f"{path}: cannot be read: {error.strerror}") from None
    known = None if known is None else set(known)
    before, newline, last = data.rpartition(b"\n")
    # the beginning of an object is no JSON: this tells a torn line from a whole one without a newline
    torn = b"" if _is_json(last) else last
    if torn and not _may_begin_result(torn, known):
        raise _foreign(path, before.count(b"\n") + 1 + len(newline))
    whole = data[: len(data) - len(torn)]
    unended = bool(whole) and not whole.endswith(b"\n")
    return Standing(_failed(whole, path, columns, known), len(whole), unended, len(data))


def drop_results(path: Path, ids: Set[str | int], standing: Standing) -> Standing:
    """Rewrite a file without the results of these ids, whole or not at all; returns what stands there then.

    Raises
    ------
    PromptError
        If it cannot be written.
    """
    whole = path.read_bytes()[: standing.size].decode()
    kept = [line + "\n" for _, line in numbered_lines(whole) if json.loads(line)["id"] not in ids]
    data = "".join(kept).encode()
    try:
        write_whole(path, data)
    except OSError as error:
        raise _unwritable(path, error) from None
    failed = {identifier: was for identifier, was in standing.failed.items() if identifier not in ids}
    return Standing(failed, len(data), False, len(data))


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _may_begin_result(torn: bytes, known: Set[str | int] | None) -> bool:
    if known is None:
        beginnings = [_BEGINNING]
    else:
        beginnings = [json_line({"id": i, second: ""}).removesuffix(' ""}') for i in known for second in _SECOND]
    return any(torn.startswith(b) or b.startswith(torn) for b in (text.encode() for text in beginnings))


def _failed(data: bytes, path: str | Path, columns: Set[str], known: Set[str | int] | None) -> dict[str | int, bool]:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise PromptError(f"{path}: expected results in UTF-8; --out must be a new file or one of results") from None
    failed: dict[str | int, bool] = {}
    for number, line in numbered_lines(text):
        try:
            row = read_row(line, number, str(path), PromptError)
        except PromptError:
            raise _foreign(path, number) from None
        identifier = row.get("id")
        if isinstance(identifier, bool) or not isinstance(identifier, str | int) or not columns & row.keys():
            raise _foreign(path, number)
        if known is not None and identifier not in known:
            raise PromptError(
                f"{path}:{number}: a result of {identifier!r}, which is not in the manifest beside the file; "
                "choose another --out"
            )
        failed[identifier] = "error" in row
    return failed


def _unwritable(path: object, error: OSError) -> PromptError:
    return PromptError(f"{path}: cannot be written: {error.strerror}")


def _foreign(path: str | Path, number: int) -> PromptError:
    return PromptError(f"{path}:{number}: this line is no result; --out must be a new file or one of results")
