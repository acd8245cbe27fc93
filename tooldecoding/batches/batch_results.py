"""The results of a batch in ``--out``, with a manifest beside them, and a lock."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from tooldecoding.batches.batch_manifest import REMEDY, BatchManifest, Inputs, ManifestRow, read_batch_manifest
from tooldecoding.batches.rows import BadRow, Row
from tooldecoding.errors import PromptError
from tooldecoding.files.manifest import locked
from tooldecoding.files.result_file import ResultFile, drop_results, read_standing
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.prompts.documentation import Documentation

_COLUMNS: Final = frozenset({"calls", "error"})


class BatchResults:
    """What stands in ``--out``, checked against what is asked for now; use it within ``lock_results``.

    Parameters
    ----------
    path : Path
        The file of results, as ``lock_results`` gives it.
    rows : sequence of Row or BadRow
        The whole batch.
    options : DecodeCommand
        With ``retry_failed``, failed results of these rows are dropped, and the rows are decoded again.
    documentation : Documentation or None
        That of ``--tools``.

    Attributes
    ----------
    done : set of (str or int)
        Ids of the results that stay.

    Raises
    ------
    PromptError
        If the file holds anything but results, or results without a manifest, of other options, or of rows that have
        changed since. No file is touched.
    """

    def __init__(
        self,
        path: Path,
        rows: Sequence[Row | BadRow],
        options: DecodeCommand,
        documentation: Documentation | None,
    ) -> None:
        if path.exists() and not path.is_file():
            raise PromptError(f"{path}: expected a file; {REMEDY}")
        self.path = path
        self._rows = rows
        self._model = options.model
        self._inputs = Inputs.of(options, documentation)
        self._manifest_path = path.with_name(f"{path.name}.manifest.json")
        there = read_batch_manifest(self._manifest_path)
        self._standing = read_standing(path, _COLUMNS, there.digests if there else None)
        failed = {row.id for row in rows if self._standing.failed.get(row.id)}
        self._again = failed if options.retry_failed else set()
        self._left_failed = failed - self._again
        self.done = self._standing.failed.keys() - self._again
        self._done_rows = [row for row in rows if row.id in self.done]
        if self._standing.total and not there:
            raise PromptError(
                f"{path}: there is no manifest {self._manifest_path.name} beside it (an older version wrote none), "
                f"so that nothing says what these are results of; {REMEDY}"
            )
        self._begun = there if self.done else None
        if self._begun:
            self._begun.demand_inputs(path, self._inputs)
            self._begun.demand_rows(path, self._done_rows, self._standing.failed)

    def begin(self, model: Mapping[str, str], templates: Mapping[str | int, str]) -> ResultFile:
        """Write the manifest, and return the file to append to.

        Parameters
        ----------
        model : mapping
            As ``identify`` returns it.
        templates : mapping
            As ``row_templates`` returns them.

        Raises
        ------
        PromptError
            If results of another model or template stand there, or a file cannot be written.
        """
        named = {"name": self._model, **model}
        if self._begun:
            self._begun.demand_model(self.path, named)
            self._begun.demand_templates(self.path, self._done_rows, templates)
        if self._again:  # before the manifest knows these rows as they are now
            self._standing = drop_results(self.path, self._again, self._standing)
        rows = [ManifestRow(row.id, row.line, row.digest, templates.get(row.id)) for row in self._rows]
        BatchManifest(self._inputs, named, rows + self._rows_that_left()).write(self._manifest_path)
        return ResultFile(self.path, _COLUMNS, self._standing)

    def _rows_that_left(self) -> list[ManifestRow]:
        """Return the rows that have a result and are not in the batch any more."""
        now = {row.id for row in self._rows}
        begun = self._begun.rows if self._begun else ()
        return [replace(row, line=None) for row in begun if row.id in self.done and row.id not in now]

    def notes(self) -> Iterator[str]:
        """Yield what a user should know about results that stayed as they were."""
        if self._left_failed:
            yield f"{len(self._left_failed)} of the skipped rows had failed; --retry-failed decodes them again"
        gone = len(self.done - {row.id for row in self._rows})
        if gone:
            yield f"{gone} results in {self.path} are of rows that are not in the batch any more"


@contextmanager
def lock_results(out: str) -> Iterator[Path]:
    """Return the file that ``out`` names, links followed; inside the block no other process may write it.

    Raises
    ------
    PromptError
        If another process writes it, or the folder cannot be written.
    """
    path = Path(os.path.realpath(out))
    if not path.parent.is_dir():
        raise PromptError(f"{out}: cannot be written: there is no folder {path.parent}")
    busy = f"{out}: another process is writing to this file; wait for it, or choose another --out"
    with locked(path.with_name(f"{path.name}.lock"), PromptError, busy):
        yield path
