"""The files of MaskBench, and the rows that a run keeps of them and goes on behind."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field

from eval.errors import EvalError
from eval.validation import validated
from lookup.text.text_file import read_text
from tooldecoding.files.json_lines import numbered_lines, read_row
from tooldecoding.files.manifest import demand_settings, locked, read_manifest, write_manifest
from tooldecoding.files.result_file import ResultFile

FOLDER: Final = Path("maskbench", "data")
"""Where a checkout of guidance-ai/jsonschemabench has them."""
COLUMNS: Final = frozenset({"refused", "wrong", "no_tool", "said_valid"})
"""Every row has one of these."""
_REMEDY: Final = "choose another --out"


class Instance(BaseModel):
    """A value, and whether the schema allows it."""

    valid: bool
    data: Any


class Sample(BaseModel):
    """One file."""

    law: dict[str, Any] | bool = Field(alias="schema")
    tests: list[Instance]


def find_files(data: str | Path) -> list[Path]:
    """Return the files of a checkout, sorted by name; EvalError if there are none."""
    folder = Path(data) / FOLDER
    if not folder.is_dir():
        raise EvalError(f"{data}: expected a checkout of guidance-ai/jsonschemabench; there is no folder {folder}")
    files = sorted(folder.glob("*.json"))
    if not files:
        raise EvalError(f"{folder}: expected files of schemas, found none")
    return files


def read_sample(path: Path) -> Sample:
    """Read a file; EvalError if it is malformed."""
    hint = "is this a file of MaskBench?"
    try:
        row = json.loads(read_text(path, EvalError))
    except (ValueError, RecursionError) as error:
        raise EvalError(f"{path}: malformed JSON: {error}; {hint}") from None
    return validated(Sample, row, str(path), hint)


def split_of(path: Path) -> str:
    """Return the part of MaskBench that a file belongs to: ``Github_easy`` of ``Github_easy---o1.json``."""
    before, line, _ = path.stem.partition("---")
    return before if line else before.partition("_")[0]


class RowFile:
    """Rows, each with an ``id``; ``by_id`` has all so far, those of earlier runs as well."""

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
        with locked(Path(f"{out}.lock"), EvalError, f"{out}: another process is writing here; {_REMEDY}"):
            if path.exists() and path.stat().st_size:
                there = read_manifest(manifest, EvalError, _REMEDY)
                demand_settings(path, there.get("settings"), settings, EvalError)
            else:
                write_manifest(manifest, {"settings": settings, **about})
            with closing(ResultFile(path, COLUMNS)) as results:
                lines = numbered_lines(path.read_text(encoding="utf-8"))
                yield RowFile(results, [read_row(line, number, str(path), EvalError) for number, line in lines])
    except OSError as error:
        raise EvalError(f"{out}: cannot be written: {error.strerror}") from None
