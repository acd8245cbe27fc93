"""How all charts are drawn: style, colours, labels that any font can print, PNG files."""

import textwrap
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
from matplotlib.layout_engine import ConstrainedLayoutEngine

from eval.errors import EvalError

LINES: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe and Ito's palette, which colour-blind readers can tell apart."""

GRID: Final = "#DDDDDD"

_CJK_FONTS = ("Noto Sans CJK SC", "Noto Sans SC", "WenQuanYi Zen Hei", "Microsoft YaHei", "PingFang SC", "SimHei")
_LABEL_WIDTH = 44
_LABEL_MOST = 132


@contextmanager
def chart_style() -> Iterator[None]:
    """Use Matplotlib's defaults instead of the user's settings, with ``$`` as a plain character."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "text.parse_math": False,
                "font.family": _fonts(),
                "axes.spines.top": False,
                "axes.spines.right": False,
                "axes.axisbelow": True,
            }
        )
        yield


def blank_figure(width: float, height: float) -> Figure:
    """Return an empty figure; width and height in inches."""
    return Figure(figsize=(width, height), dpi=150, layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08))


def wrapped(text: str) -> str:
    """Break a label into lines. A very long label loses its middle."""
    text = printable(text)
    if len(text) > _LABEL_MOST:
        text = f"{text[: _LABEL_MOST // 2]}…{text[-_LABEL_MOST // 2 :]}"
    return "\n".join(textwrap.wrap(text, _LABEL_WIDTH)) or "-"


def printable(text: str) -> str:
    """Write characters that no installed font has as escapes, so that different labels stay different."""
    known = _characters()
    return "".join(c if ord(c) in known else c.encode("unicode_escape").decode() for c in " ".join(text.split()))


@cache
def _fonts() -> list[str]:
    installed = set(font_manager.get_font_names())
    return ["DejaVu Sans", *(f for f in _CJK_FONTS if f in installed)]


@cache
def _characters() -> frozenset[int]:
    files = [font_manager.findfont(font_manager.FontProperties(family=[name])) for name in _fonts()]
    return frozenset(code for file in files for code in FT2Font(file).get_charmap())


def save_figure(figure: Figure, path: Path) -> None:
    """Write a PNG file; EvalError if that fails."""
    FigureCanvasAgg(figure)
    try:
        figure.savefig(path)
    except OSError as error:
        raise EvalError(f"{path}: cannot be written: {error.strerror}") from None
