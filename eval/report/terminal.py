"""Prints tables to the terminal."""

from collections.abc import Sequence

import rich.table
from rich.console import Console
from rich.text import Text

from eval.report.table import Table
from tooldecoding.cli.console import shown

_FEW = 5


def show(console: Console, tables: Sequence[Table], turn_small: bool = False) -> None:
    """Print tables with their notes.

    Parameters
    ----------
    turn_small : bool
        Whether a table of few rows is transposed, if one column names its rows.
    """
    for table in tables:
        console.print()
        console.print(Text(shown(table.title), style="bold"))
        console.print(_rich(table, turn_small and table.texts == 1 and len(table.rows) <= _FEW))
        for note in table.notes:
            console.print(Text(shown(note), style="dim"))


def _rich(table: Table, transposed: bool) -> rich.table.Table:
    cells = [[Text(shown(cell)) for cell in row] for row in (table.columns, *table.rows)]
    if transposed:
        cells = [list(column) for column in zip(*cells, strict=True)]
    printed = rich.table.Table(header_style="bold")
    for number, head in enumerate(cells[0]):
        printed.add_column(head, overflow="fold", justify="left" if number < table.texts else "right")
    for row in cells[1:]:
        printed.add_row(*row)
    return printed
