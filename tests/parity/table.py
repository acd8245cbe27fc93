"""The table: one row for each corpus and format, followed by the disagreements."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from parity import bfcl, corpora
from parity.compare import FIELDS, Tally
from parity.corpora import Row


def all_rows() -> list[Row]:
    """Every corpus in every format."""
    return [*bfcl.rows(), *corpora.rows()]


def tally(row: Row, data: Path, every: int = 1) -> Tally:
    """Compare all cases of a row, or one in ``every``."""
    found = Tally()
    for number, case in enumerate(row.cases(data)):
        if number % every == 0:
            found.check(case)
    return found


def reached(row: Row, found: Tally) -> bool:
    """Whether every field reaches the row's target."""
    return row.target is None or (found.tools > 0 and found.worst() >= row.target)


def as_json(row: Row, found: Tally) -> dict[str, Any]:
    """The row as ``--json`` prints it."""
    return {
        "corpus": row.corpus,
        "format": row.format,
        "tools": found.tools,
        "agreement": {name: found.agreement(name) for name in FIELDS},
        "target": row.target,
        "reached": reached(row, found),
        "misses": [
            {"field": m.field, "where": m.where, "expected": repr(m.expected), "found": repr(m.found)}
            for m in found.misses
        ],
    }


def print_table(results: list[tuple[Row, Tally]], console: Console) -> None:
    """The agreement of every field in percent."""
    table = Table(title="Agreement of extract with a structural reading, in percent")
    for name in ("corpus", "format"):
        table.add_column(name)
    for name in ("tools", *FIELDS, "target"):
        table.add_column(name, justify="right")
    table.add_column("")
    for row, found in results:
        table.add_row(
            row.corpus,
            row.format,
            str(found.tools),
            *(_percent(found.agreement(name)) for name in FIELDS),
            "-" if row.target is None else f"{row.target:g}",
            "ok" if reached(row, found) else "MISSED",
        )
    console.print(table)


def print_misses(results: list[tuple[Row, Tally]], limit: int | None) -> None:
    """The first ``limit`` misses of each row, one on each line."""
    for row, found in results:
        for line in _lines(row, found, limit):
            print(line)


def _lines(row: Row, found: Tally, limit: int | None) -> Iterator[str]:
    if found.misses:
        yield f"\n{row.corpus}, {row.format}: {len(found.misses)} misses"
        yield from (f"  {miss}" for miss in found.misses[:limit])
        if limit is not None and len(found.misses) > limit:
            yield f"  … {len(found.misses) - limit} more"


def _percent(agreement: float | None) -> str:
    """Never rounded up to 100."""
    if agreement is None:
        return "-"
    return "100" if agreement == 100 else f"{min(agreement, 99.99):.2f}"
