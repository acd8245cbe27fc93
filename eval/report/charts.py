"""Charts of the report: accuracy (the paper's figure 5), error classes (figures 3 and 6), value errors (table 4)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from eval.report.drawing import GRID, LINES, blank_figure, chart_style, printable, save_figure
from eval.report.entry import Entry
from eval.report.error_table import CLASSES
from eval.report.studies import ValueErrors

_WIDTH: Final = 9.0
_ROW: Final = 0.34


def accuracy_chart(title: str, entries: Sequence[Entry], path: Path) -> bool:
    """Draw the unweighted totals with their intervals as bars. Return False, without a file, if there are none."""
    totals = [e.summary().unweighted for e in entries]
    if not any(totals):
        return False
    with chart_style():
        figure, axes = _rows(title, entries)
        for place, total in enumerate(totals):
            if total is not None:
                value, low, high = 100 * total.value, 100 * total.low, 100 * total.high
                axes.barh(place, value, xerr=[[value - low], [high - value]], color=LINES[0], capsize=3)
                axes.text(high + 1, place, f"{value:.1f}", va="center", fontsize=9)
        axes.set_xlim(0, min(108, 115 * max(t.high for t in totals if t) + 3))
        axes.set_xlabel("per cent right, mean of the categories, 95 % interval")
        save_figure(figure, path)
    return True


def error_chart(title: str, entries: Sequence[Entry], path: Path) -> bool:
    """Draw the share of each error class of all samples, stacked. Return False if nothing is wrong."""
    summaries = [e.summary() for e in entries]
    if not any(s.wrong for s in summaries):
        return False
    names = (*CLASSES, "unsatisfiable", "missing")
    with chart_style():
        figure, axes = _rows(title, entries)
        starts = [0.0] * len(entries)
        for name, colour in zip(names, LINES, strict=False):
            counts = [s.missing if name == "missing" else s.errors[name] for s in summaries]
            widths = [100 * count / max(s.samples, 1) for count, s in zip(counts, summaries, strict=True)]
            axes.barh(range(len(entries)), widths, left=starts, color=colour, label=name)
            starts = [start + width for start, width in zip(starts, widths, strict=True)]
        axes.set_xlim(0, 100)
        axes.set_xlabel("per cent of all samples")
        figure.legend(loc="outside lower center", ncols=len(names), fontsize=9)
        save_figure(figure, path)
    return True


def order_limit_chart(title: str, studies: Sequence[ValueErrors], path: Path) -> bool:
    """Draw value errors against the order limit, one line per model. Return False if there are none."""
    if not studies:
        return False
    with chart_style():
        figure = blank_figure(_WIDTH, 4.2)
        axes = figure.add_subplot()
        for number, study in enumerate(studies):
            colour = LINES[number % len(LINES)]
            limits, counts = list(study.by_limit), list(study.by_limit.values())
            axes.plot(limits, counts, marker="o", color=colour, label=printable(study.model))
        axes.set_xticks(sorted({limit for s in studies for limit in s.by_limit}))
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set(xlabel="order limit", ylabel="value errors")
        axes.grid(axis="y", color=GRID)
        figure.legend(loc="outside lower center", ncols=2, fontsize=9)
        figure.suptitle(printable(title))
        save_figure(figure, path)
    return True


def _rows(title: str, entries: Sequence[Entry]) -> tuple[Figure, Axes]:
    """Return a chart with a row for each entry, from top to bottom."""
    figure = blank_figure(_WIDTH, 1.9 + _ROW * len(entries))
    axes = figure.add_subplot()
    several = len({e.group for e in entries}) > 1
    labels = [f"{e.group}: {e.label}" if several else e.label for e in entries]
    axes.set_yticks(range(len(entries)), [printable(label) for label in labels], fontsize=9)
    axes.invert_yaxis()
    axes.grid(axis="x", color=GRID)
    figure.suptitle(printable(title))
    return figure, axes
