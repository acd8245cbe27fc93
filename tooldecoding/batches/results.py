"""The results of a batch in ``--out``, with a manifest beside them, and a lock.

Each result has the digest of its row. ``OUT.manifest.json`` says of which settings, documentation and model all are; it
is written before the first result.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from tooldecoding.batches.rows import Entry
from tooldecoding.chat.documentation import Documentation
from tooldecoding.errors import PromptError
from tooldecoding.files.manifest import FREE, demand_settings, digest, locked, read_manifest, write_manifest
from tooldecoding.files.result_file import Id, ResultFile
from tooldecoding.options.decode_command import DecodeCommand

_FORMAT: Final = "tooldecoding batch 4"
_REMEDY: Final = "choose another --out"
_ELSEWHERE: Final = frozenset({"batch", "prompt", "dialogue", "tools", "out", "model", "dtype"})
"""Options that the manifest has in another way: a digest of ``--tools``, the loaded model."""

_FREE: Final = FREE | {"prompt_cache_mb", "json", "show_orders", "retry_failed"}


class Results:
    """Takes results, and knows those that stand. Without ``--out`` none stand, and none are kept.

    What stands is checked against what is asked for now. A result is on the disk when ``write`` returns.

    PromptError if the file holds anything but results, or results without manifest, or of other settings. No file is
    touched.

    Parameters
    ----------
    out : Path or None
        Links followed.
    options : DecodeCommand
        With ``retry_failed``, the results that report an error are dropped when the model is known.
    documentation : Documentation or None
        That of ``--tools``.

    Attributes
    ----------
    skipped : int
        Rows that have a result.
    """

    def __init__(self, out: Path | None, options: DecodeCommand, documentation: Documentation | None) -> None:
        self._options = options
        self._file: ResultFile | None = None
        self._standing: dict[Id, str | None] = {}
        self._failed = self.skipped = 0
        self._begun: Any = None
        if out is None:
            return
        if out.suffix.lower() == ".parquet":
            raise PromptError(f"{out}: results are JSON lines; name the file OUT.jsonl")
        self._path = out.with_name(f"{out.name}.manifest.json")
        settings = {name: value for name, value in options.to_json().items() if name not in _ELSEWHERE | _FREE}
        self._settings = settings | {"tools": None if documentation is None else digest(documentation.source)}
        there = read_manifest(self._path, PromptError, _REMEDY) if self._path.exists() else None
        if there is not None:
            demand_settings(self._path, there, {"format": _FORMAT}, PromptError, "this batch")
        elif out.exists() and out.stat().st_size:
            raise PromptError(
                f"{out}: there is no {self._path.name} beside it, so that nothing says what these are results of; "
                f"{_REMEDY}"
            )
        self._file = ResultFile(out, frozenset({"digest"}), begin=False)
        self._standing = self._file.digests
        if options.retry_failed:
            for identifier in self._file.failed:
                del self._standing[identifier]
        self._begun = there if self._standing else None
        if self._begun is not None:
            demand_settings(out, self._begun.get("settings"), self._settings, PromptError, "this batch")

    def has(self, entry: Entry) -> bool:
        """Tell whether a row has a result; PromptError if it has one of what it was before. Once for each row."""
        if self._file is None or entry.id not in self._standing:
            return False
        failed = entry.id in self._file.failed
        if self._standing.pop(entry.id) != entry.digest:
            retry = "--retry-failed decodes again what had failed; or " if failed else ""
            raise PromptError(
                f"{self._file.path}: row {entry.id!r} ({entry.place}) has changed since its result was written; {retry}"
                f"{_REMEDY}, or give changed rows another id"
            )
        self._failed += failed
        self.skipped += 1
        return True

    def begin(self, model: Mapping[str, str]) -> None:
        """Take the identity of the model, before any results, and write it into the manifest.

        PromptError if there are results of another model, or the files cannot be written.
        """
        if self._file is None:
            return
        if self._begun is not None:
            demand_settings(self._file.path, self._begun.get("model"), model, PromptError, "this batch")
        if self._options.retry_failed:
            self._file.drop_failed()
        manifest = {"format": _FORMAT, "settings": self._settings, "model": {"name": self._options.model, **model}}
        try:
            write_manifest(self._path, manifest)
        except OSError as error:
            raise PromptError(f"{self._path}: cannot be written: {error.strerror}") from None
        self._file.begin()

    def write(self, results: Sequence[Mapping[str, Any]]) -> None:
        """Take results, in any sequence; PromptError if they cannot be written."""
        if self._file is not None:
            self._file.write(results)

    def notes(self) -> Iterator[str]:
        """Yield what a user should know about results that stayed as they were, when all rows have come."""
        if self._failed:
            yield f"{self._failed} of the skipped rows had failed; --retry-failed decodes them again"
        if self._file is not None and self._standing:
            count = len(self._standing)
            yield f"{count} results in {self._file.path} are of rows that are not in the batch any more"

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


@contextmanager
def open_results(options: DecodeCommand, documentation: Documentation | None) -> Iterator[Results]:
    """Return where results go; no other process may write ``--out`` inside the block.

    PromptError as ``Results``; if another process writes the file, or the folder cannot be written.
    """
    if options.out is None:
        yield Results(None, options, documentation)
        return
    out = Path(os.path.realpath(options.out))
    if out.exists() and not out.is_file():
        raise PromptError(f"{out}: expected a file; {_REMEDY}")
    if not out.parent.is_dir():
        raise PromptError(f"{options.out}: cannot be written: there is no folder {out.parent}")
    busy = f"{options.out}: another process is writing to this file; wait for it, or choose another --out"
    lock = locked(out.with_name(f"{out.name}.lock"), PromptError, busy)
    with lock, closing(Results(out, options, documentation)) as results:
        yield results
