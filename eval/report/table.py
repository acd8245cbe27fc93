"""Tables of texts, as Markdown and in the terminal, and how their cells write numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import rich.table
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from eval.statistics import Accuracy, Estimate
from tooldecoding.cli.console import shown
from tooldecoding.cli.console import table as console_table

NONE = "-"
"""The text of an empty cell."""

_SPECIAL = re.compile(r"[\\`*\[\]>|&~$#@]|<(?! )|(?<![^\W_])_|_(?![^\W_])")


@dataclass(frozen=True)
class Table:
    """Rows of texts under columns. Nothing is escaped.

    Attributes
    ----------
    rows : tuple of tuple of str
        Each has as many cells as there are columns.
    texts : int
        Number of columns, from the left, that hold texts. The others hold numbers.
    notes : tuple of str
        Sentences to print below it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int
    notes: tuple[str, ...] = ()


def escaped(text: str) -> str:
    """Escape untrusted text for one line of Markdown."""
    return _SPECIAL.sub(lambda match: "\\" + match[0], " ".join(shown(text).split()))


def markdown(table: Table) -> str:
    """Return title, pipe table and notes. Columns are aligned for a monospaced font, numbers to the right."""
    cells = [[escaped(c) for c in table.columns], *([escaped(c) for c in row] for row in table.rows)]
    widths = [max(3, *map(cell_len, column)) for column in zip(*cells, strict=True)]
    rules = ["-" * w if i < table.texts else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    lines = [_line(row, widths, table.texts) for row in [cells[0], rules, *cells[1:]]]
    notes = "".join(f"\n{escaped(note)}\n" for note in table.notes)
    return f"### {escaped(table.title)}\n\n" + "\n".join(lines) + f"\n{notes}"


def _line(cells: Sequence[str], widths: Sequence[int], texts: int) -> str:
    padded = []
    for index, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        space = " " * (width - cell_len(cell))
        padded.append(cell + space if index < texts else space + cell)
    return f"| {' | '.join(padded)} |"


def show(console: Console, tables: Sequence[Table], turn_small: bool = False) -> None:
    """Print tables with their notes.

    ``turn_small``: whether a table of few rows is transposed, if one column names its rows.
    """
    for table in tables:
        console.print()
        console.print(Text(shown(table.title), style="bold"))
        console.print(_rich(table, turn_small and table.texts == 1 and len(table.rows) <= 5))
        for note in table.notes:
            console.print(Text(shown(note), style="dim"))


def _rich(table: Table, transposed: bool) -> rich.table.Table:
    cells = [list(row) for row in (table.columns, *table.rows)]
    if transposed:
        cells = [list(column) for column in zip(*cells, strict=True)]
    printed = console_table([*map(shown, cells[0])], cells[1:])
    for column in printed.columns[table.texts :]:
        column.justify = "right"
    return printed


def percent(estimate: Estimate | None) -> str:
    """Return ``65.7 (61.0-70.2)``: per cent with the limits of the interval."""
    if estimate is None:
        return NONE
    return f"{100 * estimate.value:.1f} ({100 * estimate.low:.1f}-{100 * estimate.high:.1f})"


def counted(accuracy: Accuracy, counts: bool) -> str:
    """Return ``65.7 (61.0-70.2) of 399``: per cent, interval and, with ``counts``, the number of samples."""
    return percent(accuracy.estimate) + (f" of {accuracy.total}" if counts and accuracy.total else "")


def points(estimate: Estimate) -> str:
    """Return ``+1.0 (+0.7 to +1.3)``: a difference in percentage points with the limits of the interval."""
    return f"{100 * estimate.value:+.1f} ({100 * estimate.low:+.1f} to {100 * estimate.high:+.1f})"


def share(part: int, whole: int) -> str:
    """Return a part of a whole in per cent."""
    return f"{100 * part / whole:.1f}" if whole else NONE


def probability(p: float) -> str:
    """Return a p-value as text."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"
