"""Manifests, which say what results are results of, and locks, which keep a second process from writing."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from shutil import copymode
from typing import Any, BinaryIO, Final

from filelock import FileLock, Timeout

from lookup.errors import ToolDecodingError
from tooldecoding.files.json_lines import json_line, short_repr

FREE: Final = frozenset(
    {"batch_size", "device", "device_map", "offload_folder", "strategy", "attn_implementation", "trust_remote_code"}
    | {"engine", "gpu_layers", "threads"}
    | {"ray", "actors", "gpus_per_actor"}
)
"""Options of a model that may differ when a run is resumed: they change no prediction, or the model's dtype tells."""

PART: Final = ".tooldecoding-part"
"""Ends the name of a file that is being written; a process that is killed leaves it."""


def digest(value: Any) -> str:
    """Return the SHA-256 digest (64 hexadecimal digits) of a JSON value; the sequence of keys counts."""
    return sha256(json_line(value).encode()).hexdigest()


def read_manifest(path: Path, error: type[ToolDecodingError], remedy: str) -> dict[str, Any]:
    """Return the JSON object in a file.

    ToolDecodingError: of the type ``error``, ending with ``remedy``, if the file cannot be read or holds anything else.
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
    """Write a manifest, whole or not at all; OSError if it cannot be written."""
    write_whole(path, (json.dumps(manifest, indent=2) + "\n").encode())


def write_whole(path: Path, data: bytes) -> None:
    """Replace the content of a file, whole or not at all; OSError if it cannot be written."""
    with replaced(path) as file:
        file.write(data)


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """Replace a file by what the block writes, if the block ends without an error; OSError if it cannot be written."""
    part = path.with_name(path.name + PART)
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            copymode(path, part)
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink()  # a full disk needs the room
        raise


def demand_settings(
    place: str | Path, there: Any, wanted: Mapping[str, Any], error: type[ToolDecodingError], begun: str = "this run"
) -> None:
    """Raise an error of the type ``error`` that names each setting whose value in the manifest is another one."""
    settings = there if isinstance(there, dict) else {}
    other = [
        f"{name} {short_repr(settings.get(name))}, not {short_repr(value)}"
        for name, value in wanted.items()
        if settings.get(name) != value
    ]
    if other:
        raise error(
            f"{place}: {begun} was begun with {'; with '.join(other)}; "
            "choose another --out, or the same settings to go on"
        )


@contextmanager
def locked(path: Path, error: type[ToolDecodingError], busy: str) -> Iterator[None]:
    """Lock the file ``path`` against other processes. The lock of a process that dies is released.

    ToolDecodingError: of the type ``error``: with the message ``busy`` if another process has the lock, or if the file
    cannot be written.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(FileLock(path, timeout=0))
        except Timeout:
            raise error(busy) from None
        except OSError as cause:
            raise error(f"{path}: cannot be written: {cause.strerror}") from None
        yield
