"""Results in JSON lines -> a Parquet file."""

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import json_line
from tooldecoding.files.manifest import replaced

if TYPE_CHECKING:
    import pyarrow as pa

_MARK: Final = {b"tooldecoding": b"results of a batch"}
_AT_ONCE: Final = 1000
"""Rows of a row group."""


def demand_own_parquet(path: Path, there: bool) -> None:
    """PromptError if ``path`` is a file that did not come about as results.

    Parameters
    ----------
    there : bool
        Whether the JSON lines of which it would be made are there.
    """
    import pyarrow as pa
    from pyarrow.parquet import read_schema

    if not path.exists():
        return
    try:
        own = _MARK.items() <= (read_schema(path).metadata or {}).items()
    except (OSError, pa.ArrowException):
        own = False
    if not own or not there:
        missing = "" if there else f", and {path.name}.jsonl, of which it was made, is not there"
        raise PromptError(f"{path}: expected results of this batch{missing}; choose another --out")


def write_parquet(results: Path, path: Path) -> None:
    """Write results as a table, whole or not at all, a thousand rows in memory.

    A column holds texts, whole numbers, numbers or truth values if all its values are of that type. Any other column
    holds JSON as text: lists, objects, and ids that are texts and numbers. Parquet has no lone surrogates: they are
    written as backslash escapes.

    Parameters
    ----------
    results : Path
        JSON lines of results, none torn.

    Raises
    ------
    PromptError
        If the file cannot be written.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    types = _types(results)
    columns = {name: _column(found) for name, found in types.items()}
    schema = pa.schema([(name, kind) for name, (kind, _) in columns.items()], metadata=_MARK)
    try:
        with replaced(path) as file, ParquetWriter(file, schema) as writer:
            rows = _results(results)
            while some := list(itertools.islice(rows, _AT_ONCE)):
                table = [
                    [None if (v := row.get(name)) is None else write(v) for row in some]
                    for name, (_, write) in columns.items()
                ]
                writer.write_batch(pa.record_batch(table, schema=schema))
    except OSError as error:
        raise PromptError(f"{path}: cannot be written: {error.strerror or error}") from None


def _types(results: Path) -> dict[str, set[type]]:
    """Return the types of each column, of large numbers and nulls apart."""
    types: dict[str, set[type]] = {"id": set()}
    for row in _results(results):
        for name, value in row.items():
            found = types.setdefault(name, set())
            if value is not None:
                found.add(object if isinstance(value, int) and value.bit_length() > 63 else type(value))
    return types


def _column(found: set[type]) -> tuple["pa.DataType", Callable[[Any], Any]]:
    import pyarrow as pa

    if found == {str} or not found:
        return pa.string(), _text
    if found == {bool}:
        return pa.bool_(), bool
    if found == {int}:
        return pa.int64(), int
    if found <= {int, float}:
        return pa.float64(), float
    return pa.string(), lambda value: _text(json_line(value))


def _text(value: str) -> str:
    return value.encode(errors="backslashreplace").decode()


def _results(results: Path) -> Iterator[dict[str, Any]]:
    with results.open("rb") as file:
        yield from (json.loads(line) for line in file if line.strip())
