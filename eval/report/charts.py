"""Charts of the report: accuracy (the paper's figure 5), what it costs, and error classes (figures 3 and 6)."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame, Series

from eval.report.drawing import GRID, LINES, blank_figure, chart_style, printable, save_figure
from eval.report.score_tables import entries, error_counts, total


def accuracy_chart(benchmark: str, scores: DataFrame, heads: Sequence[str], path: Path) -> bool:
    """Draw the unweighted totals with their intervals as bars. Return False, without a file, if there are none."""
    totals = {names: total(own) for names, own in entries(scores, heads)}
    if not any(totals.values()):
        return False
    with chart_style():
        figure, axes = _rows(benchmark, list(totals))
        for place, found in enumerate(totals.values()):
            if found is not None:
                value, low, high = 100 * found.value, 100 * found.low, 100 * found.high
                axes.barh(place, value, xerr=[[value - low], [high - value]], color=LINES[0], capsize=3)
                axes.text(high + 1, place, f"{value:.1f}", va="center", fontsize=9)
        axes.set_xlim(0, min(108, 115 * max(t.high for t in totals.values() if t) + 3))
        axes.set_xlabel("per cent right, mean of the categories, 95 % interval")
        save_figure(figure, path)
    return True


def pass_chart(benchmark: str, scores: DataFrame, heads: Sequence[str], path: Path) -> bool:
    """Draw the unweighted totals against ``passes`` (logarithmic). Return False, without a file, if there are none."""
    runs = [(names, own["passes"].iloc[0], total(own)) for names, own in entries(scores, heads)]
    if not any(passes > 0 and found for _, passes, found in runs):
        return False
    with chart_style():
        figure = blank_figure(8.0, 5.0)
        axes = figure.add_subplot(xlabel="forward passes a sample, mean", ylabel="per cent right, 95 % interval")
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
        labels = _labels([names for names, *_ in runs])
        for number, (label, (_, passes, found)) in enumerate(zip(labels, runs, strict=True)):
            if passes > 0 and found is not None:
                value, low, high = 100 * found.value, 100 * found.low, 100 * found.high
                colour, form = LINES[number % len(LINES)], "o^sv"[number // len(LINES) % 4] + "-"
                axes.errorbar(passes, value, [[value - low], [high - value]], color=colour, fmt=form, label=label)
        axes.grid(color=GRID)
        figure.legend(loc="outside lower center", ncols=2, fontsize=9)
        figure.suptitle(printable(benchmark))
        save_figure(figure, path)
    return True


def error_chart(benchmark: str, scores: DataFrame, heads: Sequence[str], path: Path) -> bool:
    """Draw the share of each error class of all samples, stacked. Return False, without a file, if nothing is wrong."""
    if scores["correct"].all():
        return False
    shares = {names: 100 * Series(error_counts(own)) / len(own) for names, own in entries(scores, heads)}
    with chart_style():
        figure, axes = _rows(benchmark, list(shares))
        widths = DataFrame(list(shares.values()))
        starts = widths.cumsum(axis=1) - widths
        for name, colour in zip(widths, LINES, strict=False):
            axes.barh(widths.index, widths[name], left=starts[name], color=colour, label=name)
        axes.set_xlim(0, 100)
        axes.set_xlabel("per cent of all samples")
        figure.legend(loc="outside lower center", ncols=len(widths.columns), fontsize=9)
        save_figure(figure, path)
    return True


def _labels(names: Sequence[Sequence[str]]) -> list[str]:
    """Return what the runs are called; their models are named if there are several."""
    several = len({first for first, *_ in names}) > 1
    return [printable(": ".join(each if several else each[-1:])) for each in names]


def _rows(benchmark: str, names: Sequence[Sequence[str]]) -> tuple[Figure, Axes]:
    """Return a chart with a row for each run, from top to bottom."""
    figure = blank_figure(9.0, 1.9 + 0.34 * len(names))
    axes = figure.add_subplot()
    axes.set_yticks(range(len(names)), _labels(names), fontsize=9)
    axes.invert_yaxis()
    axes.grid(axis="x", color=GRID)
    figure.suptitle(printable(benchmark))
    return figure, axes
