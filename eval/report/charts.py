"""Charts of the report: accuracy (the paper's figure 5) and error classes (figures 3 and 6)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame, Series

from eval.report.score_tables import entries, error_counts, total

_COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe and Ito's palette, which colour-blind readers can tell apart."""

_MOST: Final = 88


def accuracy_chart(benchmark: str, scores: DataFrame, heads: Sequence[str], path: Path) -> bool:
    """Draw the unweighted totals with their intervals as bars. Return False, without a file, if there are none."""
    totals = {names: total(own) for names, own in entries(scores, heads)}
    if not any(totals.values()):
        return False
    with _chart_style():
        figure, axes = _rows(benchmark, list(totals))
        for place, found in enumerate(totals.values()):
            if found is not None:
                value, low, high = 100 * found.value, 100 * found.low, 100 * found.high
                axes.barh(place, value, xerr=[[value - low], [high - value]], color=_COLOURS[0], capsize=3)
                axes.text(high + 1, place, f"{value:.1f}", va="center", fontsize=9)
        axes.set_xlim(0, min(108, 115 * max(t.high for t in totals.values() if t) + 3))
        axes.set_xlabel("per cent right, mean of the categories, 95 % interval")
        figure.savefig(path)
    return True


def error_chart(benchmark: str, scores: DataFrame, heads: Sequence[str], path: Path) -> bool:
    """Draw the share of each error class of all samples, stacked. Return False, without a file, if nothing is wrong."""
    if scores["correct"].all():
        return False
    shares = {names: 100 * Series(error_counts(own)) / len(own) for names, own in entries(scores, heads)}
    with _chart_style():
        figure, axes = _rows(benchmark, list(shares))
        widths = DataFrame(list(shares.values()))
        starts = widths.cumsum(axis=1) - widths
        for name, colour in zip(widths, _COLOURS, strict=False):
            axes.barh(widths.index, widths[name], left=starts[name], color=colour, label=name)
        axes.set_xlim(0, 100)
        axes.set_xlabel("per cent of all samples")
        figure.legend(loc="outside lower center", ncols=len(widths.columns), fontsize=9)
        figure.savefig(path)
    return True


def _rows(benchmark: str, names: Sequence[Sequence[str]]) -> tuple[Figure, Axes]:
    """Return a chart with a row for each run, from top to bottom; their models are named if there are several."""
    figure = Figure(figsize=(9.0, 1.9 + 0.34 * len(names)), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    several = len({first for first, *_ in names}) > 1
    labels = [_printable(": ".join(each if several else each[-1:])) for each in names]
    axes.set_yticks(range(len(names)), labels, fontsize=9)
    axes.invert_yaxis()
    axes.grid(axis="x", color="#DDDDDD")
    figure.suptitle(_printable(benchmark))
    return figure, axes


@contextmanager
def _chart_style() -> Iterator[None]:
    """Use Matplotlib's defaults instead of the user's settings, with ``$`` as a plain character."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"text.parse_math": False, "axes.axisbelow": True})
        matplotlib.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
        yield


def _printable(text: str) -> str:
    """Return a label: characters that are not Western letters are escapes, and a very long one loses its middle."""
    label = " ".join(text.split()).encode("latin-1", "backslashreplace").decode("latin-1")
    label = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in label)
    return label if len(label) <= _MOST else f"{label[: _MOST // 2]}…{label[-_MOST // 2 :]}"
