"""How all charts are drawn: style, colours, labels that the font can print, PNG files."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from eval.errors import writing

LINES: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe and Ito's palette, which colour-blind readers can tell apart."""

GRID: Final = "#DDDDDD"

_MOST: Final = 88


@contextmanager
def chart_style() -> Iterator[None]:
    """Use Matplotlib's defaults instead of the user's settings, with ``$`` as a plain character."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"text.parse_math": False, "axes.axisbelow": True})
        matplotlib.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
        yield


def blank_figure(width: float, height: float) -> Figure:
    """Return an empty figure; width and height in inches."""
    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def printable(text: str) -> str:
    """Return a label: characters that are not Western letters are escapes, and a very long one loses its middle."""
    label = " ".join(text.split()).encode("latin-1", "backslashreplace").decode("latin-1")
    label = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in label)
    return label if len(label) <= _MOST else f"{label[: _MOST // 2]}…{label[-_MOST // 2 :]}"


def save_figure(figure: Figure, path: Path) -> None:
    """Write a PNG file; EvalError if that fails."""
    FigureCanvasAgg(figure)
    with writing(path):
        figure.savefig(path)
