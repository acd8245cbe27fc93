"""What ``tooldecoding score`` prints: scored files side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from eval.benchmarks.registry import find_benchmark
from eval.metrics.score_row import read_score
from eval.report.accuracy_table import accuracy_tables
from eval.report.entry import Entry
from eval.report.error_table import error_tables
from eval.report.figure_tables import figure_table
from eval.report.significance_table import significance_table
from eval.report.table import Table
from eval.report.terminal import show

Rows = Sequence[Mapping[str, Any]]


def comparison(rows_by_label: Mapping[str, Rows], categories: Sequence[str]) -> list[Table]:
    """Return tables of accuracy, significance and errors of scored files.

    Parameters
    ----------
    rows_by_label : mapping
        A name for each file -> its rows of scores. Files that score a sample several times are in no pair.
    categories : sequence of str
        The benchmark's categories, in the order of the columns.

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
    tables = [
        *accuracy_tables(entries, heads),
        figure_table(entries, heads),
        significance_table(entries, heads),
        *error_tables(entries, heads),
    ]
    return [t for t in tables if t.rows]


def show_comparison(console: Console, benchmark: str, rows_by_label: Mapping[str, Rows]) -> None:
    """Print the tables of ``comparison``. Labels that are paths are shortened to the parts in which they differ."""
    shortened = dict(zip(_shortened(list(rows_by_label)), rows_by_label.values(), strict=True))
    found = find_benchmark(benchmark)
    show(console, comparison(shortened, found.categories), turn_small=True)
    if found.note:
        console.print(f"\n{found.note}", soft_wrap=True, markup=False, highlight=False)


def _shortened(labels: Sequence[str]) -> list[str]:
    """Return paths without the first and last folders that all of them share."""
    parts = [label.split("/") for label in labels]
    if len(set(labels)) < 2:
        return list(labels)
    while len({p[0] for p in parts}) == 1 and min(map(len, parts)) > 1:
        parts = [p[1:] for p in parts]
    while len({p[-1] for p in parts}) == 1 and min(map(len, parts)) > 1:
        parts = [p[:-1] for p in parts]
    return ["/".join(p) for p in parts]
