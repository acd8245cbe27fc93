"""What ``tooldecoding score`` prints: scored files of predictions side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

import rich.table
from rich.console import Console
from rich.text import Text

from eval.benchmarks.registry import find_benchmark
from eval.metrics.metrics import read_score
from eval.report.accuracy import accuracy_tables, significance_table
from eval.report.entry import Entry
from eval.report.error_shares import error_tables
from eval.report.table import Table
from tooldecoding.cli.console import shown

_FEW = 5

Rows = Sequence[Mapping[str, Any]]


def comparison(rows_by_label: Mapping[str, Rows], categories: Sequence[str]) -> list[Table]:
    """Tables of accuracy, significance and errors of scored files.

    Parameters
    ----------
    rows_by_label : mapping
        A name for each file -> its rows of scores. Files that score a sample several times are in no pair.
    categories : sequence of str
        The benchmark's, in the sequence of its columns.

    Raises
    ------
    EvalError
        If a row is no row of scores, or of another category.
    """
    heads = ("predictions",)
    entries = []
    for label, rows in rows_by_label.items():
        scores = tuple(read_score(row, f"{label}, score {number}") for number, row in enumerate(rows, start=1))
        present = {s.category for s in scores}
        entries.append(Entry("", label, tuple(c for c in categories if c in present), scores))
    tables = [*accuracy_tables(entries, heads), significance_table(entries, heads), *error_tables(entries, heads)]
    return [t for t in tables if t.rows]


def show_comparison(console: Console, benchmark: str, rows_by_label: Mapping[str, Rows]) -> None:
    """Print the tables of ``comparison``, with their notes.

    Labels that are paths are shortened to where they differ.
    """
    shortened = dict(zip(_shortened(list(rows_by_label)), rows_by_label.values(), strict=True))
    for table in comparison(shortened, find_benchmark(benchmark).categories):
        console.print()
        console.print(Text(shown(table.title), style="bold"))
        console.print(_rich(table))
        for note in table.notes:
            console.print(Text(shown(note), style="dim"))


def _shortened(labels: Sequence[str]) -> list[str]:
    """Paths without the folders above, and the names below, that all of them share."""
    parts = [label.split("/") for label in labels]
    if len(set(labels)) < 2:
        return list(labels)
    while len({p[0] for p in parts}) == 1 and min(map(len, parts)) > 1:
        parts = [p[1:] for p in parts]
    while len({p[-1] for p in parts}) == 1 and min(map(len, parts)) > 1:
        parts = [p[:-1] for p in parts]
    return ["/".join(p) for p in parts]


def _rich(table: Table) -> rich.table.Table:
    """A table for the terminal; a column for each file where they are few and named once."""
    cells = [
        [Text(shown(cell), style="bold" if (number, column) in table.bold else "") for column, cell in enumerate(row)]
        for number, row in enumerate([table.columns, *table.rows], start=-1)
    ]
    if table.texts == 1 and len(table.rows) <= _FEW:
        cells = [list(column) for column in zip(*cells, strict=True)]
    printed = rich.table.Table(header_style="bold")
    for number, head in enumerate(cells[0]):
        printed.add_column(head, overflow="fold", justify="left" if number < table.texts else "right")
    for row in cells[1:]:
        printed.add_row(*row)
    return printed
