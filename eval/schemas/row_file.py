"""Rows in memory, and in a file that a later run goes on in."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from eval.errors import EvalError
from tooldecoding.files.json_lines import numbered_lines, read_row
from tooldecoding.files.manifest import demand_settings, locked, read_manifest, write_manifest
from tooldecoding.files.result_file import ResultFile

COLUMNS: Final = frozenset({"refused", "wrong", "no_tool", "said_valid"})
"""Every row has one of these."""
_REMEDY: Final = "choose another --out"


class RowFile:
    """Rows, each with an ``id``.

    Attributes
    ----------
    by_id : dict
        All rows so far, those of earlier runs as well.
    """

    def __init__(self, results: ResultFile | None = None, earlier: Sequence[dict[str, Any]] = ()) -> None:
        self._results = results
        self.by_id: dict[str, dict[str, Any]] = {row["id"]: row for row in earlier}

    def write(self, rows: Sequence[dict[str, Any]]) -> None:
        """Keep rows; PromptError if they cannot be written."""
        if self._results is not None:
            self._results.write(rows)
        self.by_id.update({row["id"]: row for row in rows})


@contextmanager
def row_file(out: str | None, settings: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[RowFile]:
    """Open a file of rows, or begin it; without a path, rows are kept in memory alone.

    Parameters
    ----------
    settings : mapping
        What the figures depend on; ``OUT.manifest.json`` has it.
    about : mapping
        What the manifest has beside it.

    Raises
    ------
    EvalError
        If the file was begun with other settings, holds something else or cannot be written, or if another process
        writes to it.
    """
    if out is None:
        yield RowFile()
        return
    path, manifest = Path(out), Path(f"{out}.manifest.json")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvalError(f"{path.parent}: cannot be written: {error.strerror}") from None
    with locked(Path(f"{out}.lock"), EvalError, f"{out}: another process is writing here; {_REMEDY}"):
        _begin(path, manifest, settings, about)
        with closing(ResultFile(path, COLUMNS)) as results:
            lines = numbered_lines(path.read_text(encoding="utf-8"))
            yield RowFile(results, [read_row(line, number, str(path), EvalError) for number, line in lines])


def _begin(path: Path, manifest: Path, settings: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    if path.exists() and path.stat().st_size:
        there = read_manifest(manifest, EvalError, _REMEDY)
        demand_settings(path, there.get("settings"), settings, EvalError)
        return
    try:
        write_manifest(manifest, {"settings": settings, **about})
    except OSError as error:
        raise EvalError(f"{manifest}: cannot be written: {error.strerror}") from None
