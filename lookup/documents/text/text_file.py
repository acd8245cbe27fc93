"""Read a user's text file."""

from difflib import get_close_matches
from pathlib import Path
from typing import Final

from lookup.errors import DocumentationError, ToolDecodingError

MAX_FILE_BYTES: Final = 64 * 1024 * 1024


def read_text(path: str | Path, error: type[ToolDecodingError] = DocumentationError) -> str:
    """The text of a UTF-8 file without a byte order mark.

    ToolDecodingError, of type ``error``, if the file is missing (the message suggests a similar name in its folder), a
    directory, unreadable, larger than 64 MiB, or not UTF-8.
    """
    path = Path(path)
    size = demand_file(path, error)
    if size > MAX_FILE_BYTES:
        raise error(f"{path}: expected at most {MAX_FILE_BYTES} bytes, found {size}")
    try:
        data = path.read_bytes()
    except OSError as cause:
        raise error(f"{path}: cannot be read: {cause.strerror}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        raise error(
            f"{path}: expected UTF-8, found the byte 0x{data[cause.start]:02x} at offset {cause.start}; "
            "save the file as UTF-8"
        ) from None


def demand_file(path: Path, error: type[ToolDecodingError]) -> int:
    """The size of a user's file in bytes; an error of the type ``error`` if it is missing or a directory."""
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise error(f"{path}: expected a file, found a directory")
    except FileNotFoundError:
        raise error(f"{path}: no such file{_nearest(path)}") from None
    except OSError as cause:
        raise error(f"{path}: cannot be read: {cause.strerror}") from None
    except ValueError as cause:  # an impossible file name
        raise error(f"{path!r}: cannot be read: {cause}") from None
    return size


def _nearest(path: Path) -> str:
    """``; did you mean …?`` if the folder contains a file with a similar name."""
    folder = path.parent
    if not folder.is_dir():
        return f"; there is no folder {folder} either"
    try:
        names = [entry.name for entry in folder.iterdir() if entry.is_file()]
    except OSError:
        return ""
    close = get_close_matches(path.name, names, n=1)
    return f"; did you mean {folder / close[0]}?" if close else ""
