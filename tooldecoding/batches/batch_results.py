"""The results of a batch in ``--out``, with a manifest that says what they are results of, and a lock.

The manifest is ``OUT.manifest.json``: ``format``, the ``settings`` that change results, ``tools`` (a digest of the
documentation in ``--tools``), ``model``, and ``rows`` with the id, line, digest and template of each. It is written
before the first result, and names every row that has one.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tooldecoding.batches.rows import BadRow, Row
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import short_repr
from tooldecoding.files.manifest import FREE, demand_settings, digest, locked, read_manifest, write_manifest
from tooldecoding.files.result_file import ResultFile, drop_results, read_standing
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.prompts.documentation import Documentation

FORMAT: Final = "tooldecoding batch 2"

_COLUMNS: Final = frozenset({"calls", "error"})
_REMEDY: Final = "choose another --out"

_ELSEWHERE: Final = frozenset({"batch", "prompt", "dialogue", "tools", "out", "model", "dtype", "template"})
"""Options that the manifest has in another way: content of files, the type of the loaded model, each row's template."""

_FREE: Final = FREE | {"prompt_cache_mb", "json", "show_orders"}


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
        self.path = path
        self._manifest = path.with_name(f"{path.name}.manifest.json")
        self._model = options.model
        self._settings = {k: v for k, v in options.to_json().items() if k not in _ELSEWHERE | _FREE}
        self._tools = None if documentation is None else digest(documentation.source)
        self._rows = rows
        if path.exists() and not path.is_file():
            raise PromptError(f"{path}: expected a file; {_REMEDY}")
        self._there = self._read_manifest()
        digests = {row["id"]: row["digest"] for row in self._there["rows"]} if self._there else None
        self._standing = read_standing(path, _COLUMNS, digests)
        failed = {row.id for row in rows if self._standing.failed.get(row.id)}
        self._again = failed if options.retry_failed else set()
        self.done = self._standing.failed.keys() - self._again
        self._failed = len(failed - self._again)
        if self._standing.total and not self._there:
            raise PromptError(
                f"{path}: there is no manifest {self._manifest.name} beside it (an older version wrote none), so that "
                f"nothing says what these are results of; {_REMEDY}"
            )
        if self._there and self.done:
            demand_settings(path, self._there["settings"], self._settings, PromptError, "this batch")
            if self._there["tools"] != self._tools:
                raise PromptError(f"{path}: this batch was begun with other documentation in --tools; {_REMEDY}")
            self._demand_rows(digests or {})

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
        if self._there and self.done:
            self._demand_model(self._there["model"], named)
            self._demand_templates({row["id"]: row["template"] for row in self._there["rows"]}, templates)
        if self._again:  # before the manifest knows these rows as they are now
            self._standing = drop_results(self.path, self._again, self._standing)
        now = {row.id for row in self._rows}
        rows = [
            {"id": row.id, "line": row.line, "digest": row.digest, "template": templates.get(row.id)}
            for row in self._rows
        ]
        kept = [
            {**row, "line": None}
            for row in (self._there["rows"] if self._there else [])
            if row["id"] in self.done and row["id"] not in now
        ]
        manifest = {
            "format": FORMAT,
            "settings": self._settings,
            "tools": self._tools,
            "model": named,
            "rows": rows + kept,
        }
        try:
            write_manifest(self._manifest, manifest)
        except OSError as error:
            raise PromptError(f"{self._manifest}: cannot be written: {error.strerror}") from None
        return ResultFile(self.path, _COLUMNS, self._standing)

    def notes(self) -> Iterator[str]:
        """Yield what a user should know about results that stayed as they were."""
        if self._failed:
            yield f"{self._failed} of the skipped rows had failed; --retry-failed decodes them again"
        gone = len(self.done - {row.id for row in self._rows})
        if gone:
            yield f"{gone} results in {self.path} are of rows that are not in the batch any more"

    def _read_manifest(self) -> dict[str, Any] | None:
        if not self._manifest.exists():
            return None
        there = read_manifest(self._manifest, PromptError, _REMEDY)
        if there.get("format") != FORMAT:
            raise PromptError(
                f"{self._manifest}: expected a manifest of the format {FORMAT!r}, "
                f"found {short_repr(there.get('format'))}; {_REMEDY}"
            )
        rows = there.get("rows")
        whole = isinstance(rows, list) and all(map(_is_row, rows))
        if not whole or not {"settings", "tools", "model"} <= there.keys():
            raise PromptError(f"{self._manifest}: this manifest is not whole; {_REMEDY}")
        return there

    def _demand_rows(self, digests: Mapping[str | int, str]) -> None:
        changed = [row for row in self._rows if row.id in self.done and row.digest != digests[row.id]]
        if changed:
            first, more = changed[0], f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
            failed = all(self._standing.failed[row.id] for row in changed)
            retry = "--retry-failed decodes again what had failed; or " if failed else ""
            raise PromptError(
                f"{self.path}: row {first.id!r} in line {first.line} of the batch{more} has changed since its result "
                f"was written; {retry}choose another --out, or give changed rows another id"
            )

    def _demand_templates(self, there: Mapping[str | int, str | None], templates: Mapping[str | int, str]) -> None:
        changed = [row for row in self._rows if row.id in self.done and there[row.id] != templates.get(row.id)]
        if changed:
            first, more = changed[0], f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
            raise PromptError(
                f"{self.path}: row {first.id!r} in line {first.line} of the batch{more} was begun with the template "
                f"{there[first.id]}, not {templates.get(first.id)}; {_REMEDY}, or the same --template to go on"
            )

    def _demand_model(self, there: Any, named: Mapping[str, str]) -> None:
        there = there if isinstance(there, dict) else {}
        other = [part for part in ("dtype", "weights", "config", "tokenizer") if there.get(part) != named[part]]
        if other:
            begun, now = (f"{short_repr(of.get('name'))} in {of.get('dtype')}" for of in (there, named))
            raise PromptError(
                f"{self.path}: this batch was begun with the model {begun}, not {now}: other {', '.join(other)}; "
                f"{_REMEDY}, or the same model to go on"
            )


def _is_row(row: Any) -> bool:
    if not isinstance(row, dict) or "template" not in row:
        return False
    return isinstance(row.get("id"), str | int) and isinstance(row.get("digest"), str)


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
