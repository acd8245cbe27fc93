"""Manifests and locks, which keep runs apart: what results were asked for, and who is writing them."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from shutil import copymode
from typing import Any, Final

from filelock import FileLock, Timeout

from lookup.errors import ToolDecodingError
from tooldecoding.files.json_lines import json_line

FREE: Final = frozenset({"batch_size", "device", "strategy", "trust_remote_code"})
"""Settings of a model that may differ when a run goes on: they change no prediction."""


def digest(value: Any) -> str:
    """A short text (64 hexadecimal digits) that no other JSON value has; the sequence of keys counts."""
    return sha256(json_line(value).encode()).hexdigest()


def read_manifest(path: Path, error: type[ToolDecodingError], remedy: str) -> dict[str, Any]:
    """The JSON object in a file.

    Raises
    ------
    ToolDecodingError
        Of the type ``error``, if the file cannot be read or holds anything else; it ends with ``remedy``.
    """
    try:
        manifest = json.loads(path.read_bytes())
    except OSError as cause:
        raise error(f"{path}: cannot be read: {cause.strerror}") from None
    except (ValueError, RecursionError):
        raise error(f"{path}: malformed JSON; {remedy}") from None
    if not isinstance(manifest, dict):
        raise error(f"{path}: expected a JSON object, found a {type(manifest).__name__}; {remedy}")
    return manifest


def write_manifest(path: Path, manifest: Mapping[str, Any]) -> None:
    """Write a manifest; whoever reads the file finds the old one or the new one whole. OSError where it cannot be."""
    write_whole(path, (json.dumps(manifest, indent=2) + "\n").encode())


def write_whole(path: Path, data: bytes) -> None:
    """Put ``data`` in the place of a file, all or nothing. OSError where it cannot be written."""
    part = path.with_name(f"{path.name}.tooldecoding-part")
    with part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        copymode(path, part)
    part.replace(path)


def demand_settings(
    place: str | Path, there: Any, wanted: Mapping[str, Any], error: type[ToolDecodingError], begun: str = "this run"
) -> None:
    """An error of the type ``error`` that names each of the ``wanted`` settings that a manifest has otherwise."""
    settings = there if isinstance(there, dict) else {}
    other = [
        f"{name} {shown(settings.get(name))}, not {shown(value)}"
        for name, value in wanted.items()
        if settings.get(name) != value
    ]
    if other:
        raise error(
            f"{place}: {begun} was begun with {'; with '.join(other)}; "
            "choose another --out, or the same settings to go on"
        )


def shown(value: Any) -> str:
    """A value for a message, at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


@contextmanager
def locked(path: Path, error: type[ToolDecodingError], busy: str) -> Iterator[None]:
    """Inside the block no other process may lock the file ``path``. A process that dies lets go.

    Raises
    ------
    ToolDecodingError
        Of the type ``error``: the message ``busy`` if another process has it, and one of its own if the file cannot
        be written.
    """
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise error(busy) from None
    except OSError as cause:
        raise error(f"{path}: cannot be written: {cause.strerror}") from None
    try:
        yield
    finally:
        lock.release()
