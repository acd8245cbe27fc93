"""Reads benchmark files that hold one JSON value."""

from pathlib import Path
from typing import Any

from eval.errors import EvalError
from lookup.text.text_file import read_text
from tooldecoding.files.json_lines import read_json


def read_json_file(path: Path) -> Any:
    """Return the JSON value of a file; EvalError if it cannot be read or holds anything else."""
    text = read_text(path, EvalError)
    try:
        return read_json(text)
    except (ValueError, RecursionError) as error:
        raise EvalError(f"{path}: expected one JSON value: {error}") from None


def read_json_rows(path: Path) -> list[tuple[str, Any]]:
    """Return the elements of a file's JSON list, each with its place for messages; EvalError if it holds none."""
    rows = read_json_file(path)
    if not isinstance(rows, list) or not rows:
        raise EvalError(f"{path}: expected a JSON list of rows, found {'an empty one' if rows == [] else 'none'}")
    return [(f"{path}, row {number}", row) for number, row in enumerate(rows, start=1)]
