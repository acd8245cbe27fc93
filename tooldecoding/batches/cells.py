"""Cells of tables -> columns of rows."""

from collections.abc import Mapping
from typing import Any, Final

from tooldecoding.batches.source import COLUMNS, SourceRow
from tooldecoding.files.json_lines import read_json

_NESTED: Final = ("messages", "dialogue")
"""Columns whose texts must be JSON."""

_PERHAPS_NESTED: Final = ("tools", "tool_choice")
"""Columns whose texts may be JSON: lists and objects."""


def table_row(number: int, place: str, cells: Mapping[str, Any]) -> SourceRow:
    """Return a row of a table.

    Columns that mean nothing to a batch, empty cells and empty fields of structs are left out. Texts of lists and
    objects are read as JSON where a row needs one.

    Parameters
    ----------
    cells : mapping
        Column -> value; None for an empty cell.
    """
    row: dict[str, Any] = {}
    raw = {name: cells[name] for name in COLUMNS if cells.get(name) is not None}
    for name, value in raw.items():
        try:
            row[name] = _value(name, value)
        except (ValueError, RecursionError) as error:
            return SourceRow(number, place, None, raw, f"{place}: {name}: malformed JSON: {error}")
    return SourceRow(number, place, row, raw)


def _value(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return without_nulls(value)
    if name in _NESTED:
        return read_json(value)
    if name in _PERHAPS_NESTED and value.lstrip()[:1] in ("[", "{"):
        try:
            return read_json(value)
        except ValueError:
            return value  # documentation in another form
    return value


def without_nulls(value: Any) -> Any:
    """Return a nested value without the empty fields of structs, which all structs of a table have."""
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [without_nulls(each) for each in value]
    return value
