"""How all charts are drawn: style, colours, labels that the font can print, PNG files."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

import matplotlib
from matplotlib import font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ft2font import FT2Font

from eval.errors import EvalError

LINES: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe and Ito's palette, which colour-blind readers can tell apart."""

GRID: Final = "#DDDDDD"

_FONT: Final = "DejaVu Sans"
_MOST: Final = 88


@contextmanager
def chart_style() -> Iterator[None]:
    """Use Matplotlib's defaults instead of the user's settings, with ``$`` as a plain character."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"text.parse_math": False, "font.family": [_FONT], "axes.axisbelow": True})
        matplotlib.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
        yield


def blank_figure(width: float, height: float) -> Figure:
    """Return an empty figure; width and height in inches."""
    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def printable(text: str) -> str:
    """Return a label: characters that the font lacks are escapes, and a very long one loses its middle."""
    known = _characters()
    label = "".join(c if ord(c) in known else c.encode("unicode_escape").decode() for c in " ".join(text.split()))
    return label if len(label) <= _MOST else f"{label[: _MOST // 2]}…{label[-_MOST // 2 :]}"


@cache
def _characters() -> frozenset[int]:
    return frozenset(FT2Font(font_manager.findfont(_FONT)).get_charmap())


def save_figure(figure: Figure, path: Path) -> None:
    """Write a PNG file; EvalError if that fails."""
    FigureCanvasAgg(figure)
    try:
        figure.savefig(path)
    except OSError as error:
        raise EvalError(f"{path}: cannot be written: {error.strerror}") from None
