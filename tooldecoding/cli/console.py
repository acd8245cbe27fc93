"""Inputs, consoles, tables and progress bars of the command line."""

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from lookup.documents.text.text_file import read_text
from lookup.errors import ToolDecodingError
from tooldecoding.errors import ChatWarning

PLAIN_WIDTH = 120
"""Columns of output that goes to no terminal."""


def read_input(path: str, error: type[ToolDecodingError]) -> tuple[str, str]:
    """Return the text of a file or of standard input (``-``), and its name for messages."""
    if path != "-":
        return read_text(path, error), path
    try:
        return sys.stdin.read().removeprefix("\ufeff"), "<stdin>"
    except UnicodeDecodeError:
        raise error("<stdin>: expected UTF-8 text") from None


def output_console(stderr: bool = False) -> Console:
    """Return a console that wraps at the terminal's width, at 120 columns without a terminal."""
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    return console


def stderr_line(text: str) -> None:
    """Print a line on standard error."""
    print(text, file=sys.stderr)


@contextmanager
def progress_bar(word: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on standard error; call the function with the number of steps that are done.

    Parameters
    ----------
    total : int or None
        None if it is not known.
    """
    columns = TextColumn(word), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    console = output_console(stderr=True)
    with Progress(*columns, console=console, redirect_stdout=False, redirect_stderr=False) as progress:
        task = progress.add_task(word, total=total)
        yield lambda count: progress.advance(task, count)


def shown(text: str) -> str:
    """Escape control characters: what documentation and models write must not steer a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def one_line(text: str) -> str:
    """Escape control characters and ends of lines: no name of a server can look like another line."""
    return shown(text).replace("\n", "\\n")


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """Return a table of texts."""
    made = Table(show_edge=True, header_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*(Text(shown(cell)) for cell in row))
    return made


@contextmanager
def warning_lines() -> Iterator[None]:
    """Print each of this package's warnings about chat templates as one line on standard error."""
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, ChatWarning):
                stderr_line(f"warning: {shown(str(message))}")
            else:
                others(message, category, *place, **more)

        warnings.showwarning = show
        yield


@contextmanager
def going_on(out: str | Path | None) -> Iterator[None]:
    """Inside the block an interrupt ends the program, and says that the same command goes on, if it writes a file."""
    try:
        yield
    except KeyboardInterrupt:
        resume = "use --out to resume" if out is None else f"the same command goes on behind what stands in {out}"
        stderr_line(f"interrupted: {resume}")
        raise typer.Exit(130) from None
