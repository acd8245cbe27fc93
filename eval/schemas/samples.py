"""The files of MaskBench: a schema each, with instances that are valid and instances that are not."""

import json
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field

from eval.errors import EvalError
from eval.validation import validated
from lookup.text.text_file import read_text

FOLDER: Final = Path("maskbench", "data")
"""Where a checkout of guidance-ai/jsonschemabench has them."""


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
