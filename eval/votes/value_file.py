"""``values.jsonl``: the value slots of a run, in its folder."""

from collections.abc import Sequence
from pathlib import Path

from eval.errors import EvalError
from eval.runs.score import write_rows
from eval.validation import validated
from eval.votes.value_slot import ValueSlot
from lookup.text.text_file import read_text
from tooldecoding.files.json_lines import numbered_lines, read_row

VALUES = "values.jsonl"


def write_values(slots: Sequence[ValueSlot], folder: Path) -> None:
    """Write the slots of a run, whole or not at all; EvalError where that is impossible."""
    write_rows([slot.model_dump() for slot in slots], folder / VALUES)


def read_values(folder: Path) -> list[ValueSlot]:
    """Return the slots of a run; none if it has no such file.

    Raises
    ------
    EvalError
        With file and line, for a malformed row.
    """
    path = folder / VALUES
    if not path.exists():
        return []
    hint = "make the file again: run the same `tooldecoding eval` command"
    return [
        validated(ValueSlot, read_row(line, number, str(path), EvalError), f"{path}:{number}", hint)
        for number, line in numbered_lines(read_text(path, EvalError))
    ]
