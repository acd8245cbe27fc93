"""The results of a batch in ``--out``, with a manifest and an index of rows beside them, and a lock."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tooldecoding.batches.batch_manifest import REMEDY, BatchManifest, Inputs, read_batch_manifest
from tooldecoding.batches.parquet_results import demand_own_parquet, write_parquet
from tooldecoding.batches.row_index import RowIndex
from tooldecoding.batches.table_sources import PARQUET
from tooldecoding.chat.documentation import Documentation
from tooldecoding.errors import PromptError
from tooldecoding.files.manifest import locked
from tooldecoding.files.result_file import ResultAppender, drop_results, scan_results
from tooldecoding.options.decode_command import DecodeCommand

_COLUMNS: Final = frozenset({"calls", "error"})


class BatchResults:
    """What stands in ``--out``, checked against what is asked for now; ``open_results`` makes it.

    The file of results says which rows are finished: it is read, line by line, by every run that goes on. A result is
    on the disk when ``write`` returns. The index of rows (``OUT.index.sqlite``) says what each result is a result of.
    For ``OUT.parquet`` the results are collected in ``OUT.parquet.jsonl``; ``finish`` makes the Parquet file of them.

    Parameters
    ----------
    out : Path or None
        As given, links followed; None for results that are not kept.
    options : DecodeCommand
    documentation : Documentation or None
        That of ``--tools``.

    Attributes
    ----------
    index : RowIndex
    path : Path or None
        The file of results in JSON lines.

    Raises
    ------
    PromptError
        If the file holds anything but results, or results without manifest or index. No file is touched.
    """

    def __init__(self, out: Path | None, options: DecodeCommand, documentation: Documentation | None) -> None:
        self._parquet = out if out and out.suffix.lower() == PARQUET else None
        self.path = out and _journal_of(out)
        self._model = options.model
        self._inputs = Inputs.of(options, documentation)
        self._begun: BatchManifest | None = None
        self._appender: ResultAppender | None = None
        if self.path is None:
            self.index = RowIndex(None)
            return
        for path in (out, self.path):
            if path and path.exists() and not path.is_file():
                raise PromptError(f"{path}: expected a file; {REMEDY}")
        self._manifest_path = self.path.with_name(f"{self.path.name}.manifest.json")
        self._begun = read_batch_manifest(self._manifest_path)
        if self._parquet:
            demand_own_parquet(self._parquet, there=self.path.exists())
        index_path = self.path.with_name(f"{self.path.name}.index.sqlite")
        self.index = RowIndex(index_path)
        self._extent = scan_results(
            self.path, _COLUMNS, self.index.add_result, self.index if self._begun and self.index.there else None
        )
        for path, there in ((self._manifest_path, self._begun), (index_path, self.index.there)):
            if self._extent.total and not there:
                raise PromptError(
                    f"{self.path}: there is no {path.name} beside it (an older version wrote none), so that nothing "
                    f"says what these are results of; {REMEDY}"
                )

    def demand_inputs(self, forgotten: int) -> None:
        """PromptError if results that stay are of other options or documentation.

        Parameters
        ----------
        forgotten : int
            Number of results that do not stay.
        """
        if self.index.results == forgotten:
            self._begun = None
        if self._begun and self.path:
            self._begun.demand_inputs(self.path, self._inputs)

    def demand_model(self, model: Mapping[str, str]) -> None:
        """PromptError if results that stay are of another model; ``model`` is as ``identify`` returns it."""
        if self._begun and self.path:
            self._begun.demand_model(self.path, self._named(model))

    def begin(self, model: Mapping[str, str], templates: Mapping[str, str], retry_failed: bool) -> None:
        """Write manifest and index, and open the file to append to.

        Parameters
        ----------
        model : mapping
            As ``identify`` returns it.
        templates : mapping
            As ``row_templates`` returns them.
        retry_failed : bool
            Whether failed results of the rows that were seen are dropped.

        Raises
        ------
        PromptError
            If a file cannot be written.
        """
        if self.path is None:
            return
        if retry_failed and self.index.failed:  # before the index knows these rows as they are now
            self._extent = drop_results(self.path, self._extent, self.index.has_failed)
            self.index.forget_failed()
        self.index.begin(templates)
        BatchManifest(self._inputs, self._named(model)).write(self._manifest_path)
        self._appender = ResultAppender(self.path, self._extent)

    def write(self, results: Sequence[Mapping[str, Any]]) -> None:
        """Append results, in any sequence, and flush them to the disk; PromptError if they cannot be written."""
        if self._appender is None:
            raise ValueError("begin comes first")
        self._appender.write(results)

    def finish(self) -> None:
        """Make the Parquet file, if one was asked for; PromptError if it cannot be written."""
        if self._parquet and self.path:
            write_parquet(self.path, self._parquet)

    def notes(self) -> Iterator[str]:
        """Yield what a user should know about results that stayed as they were."""
        if failed := self.index.failed:
            yield f"{failed} of the skipped rows had failed; --retry-failed decodes them again"
        if gone := self.index.left:
            yield f"{gone} results in {self.path} are of rows that are not in the batch any more"

    def close(self) -> None:
        """Close all files."""
        self.index.close()
        if self._appender:
            self._appender.close()

    def _named(self, model: Mapping[str, str]) -> dict[str, str]:
        return {"name": self._model, **model}


def _journal_of(out: Path) -> Path:
    """Return the file that results are appended to."""
    return out.with_name(f"{out.name}.jsonl") if out.suffix.lower() == PARQUET else out


@contextmanager
def open_results(options: DecodeCommand, documentation: Documentation | None) -> Iterator[BatchResults]:
    """Return what stands in ``--out``, links followed; inside the block no other process may write it.

    Raises
    ------
    PromptError
        As ``BatchResults``; if another process writes it, or the folder cannot be written.
    """
    if options.out is None:
        results = BatchResults(None, options, documentation)
        try:
            yield results
        finally:
            results.close()
        return
    out = Path(os.path.realpath(options.out))
    if not out.parent.is_dir():
        raise PromptError(f"{options.out}: cannot be written: there is no folder {out.parent}")
    busy = f"{options.out}: another process is writing to this file; wait for it, or choose another --out"
    with locked(out.with_name(f"{_journal_of(out).name}.lock"), PromptError, busy):
        results = BatchResults(out, options, documentation)
        try:
            yield results
        finally:
            results.close()
