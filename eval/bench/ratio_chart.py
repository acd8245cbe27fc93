"""``bench.png``: the time of each method divided by greedy's."""

from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from eval.bench.measurements import Cell, Record, Spread
from eval.report.drawing import LINES, blank_figure, chart_style, printable, save_figure

_FIGURES: Final = {"decode": (LINES[0], "o", -0.14), "total": (LINES[1], "s", 0.14)}
"""Colour, marker and offset within the row."""
_WIDE: Final = 6.0
"""The axis is logarithmic if the largest value exceeds the smallest by this factor."""


def draw_ratios(record: Record, path: Path) -> bool:
    """Draw ratios of decode and total time, medians with 10th and 90th percentiles. False, and no file, without any."""
    cells = [cell for cell in record.cells if any(cell.ratios(method.name, "decode") for method in cell.methods)]
    if not cells:
        return False
    across = min(3, len(cells))
    down = -(-len(cells) // across)
    most = max(len(cell.methods) for cell in cells)
    with chart_style():
        figure = blank_figure(2 + 4.0 * across, 1.2 + down * (0.9 + 0.34 * most))
        panels = figure.subplots(down, across, squeeze=False).flatten()
        for panel, cell in zip(panels, cells, strict=False):
            _draw(panel, cell)
        for panel in panels[len(cells) :]:
            panel.set_axis_off()
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
        figure.suptitle(printable("time over that of greedy decoding in the same round"))
        save_figure(figure, path)
    return True


def _draw(axes: Axes, cell: Cell) -> None:
    names = [method.name for method in cell.methods]
    every: list[float] = []
    for figure, (colour, marker, shift) in _FIGURES.items():
        spreads = [Spread.of(cell.ratios(name, figure)) for name in names]
        found = [(place + shift, s) for place, s in enumerate(spreads) if s is not None]
        values = [s.median for _, s in found]
        axes.errorbar(
            values,
            [place for place, _ in found],
            xerr=[[s.median - s.low for _, s in found], [s.high - s.median for _, s in found]],
            color=colour,
            marker=marker,
            linestyle="none",
            capsize=2,
            label=f"{figure} time",
        )
        every += values
    axes.axvline(1, color="black", linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(names)), [printable(name) for name in names])
    axes.invert_yaxis()
    axes.grid(axis="x", color="#DDDDDD")
    if max(every) > _WIDE * min(every):
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_xlim(left=0)
    axes.set_xlabel("times greedy")
    about = cell.about
    axes.set_title(printable(f"{about['model']}, {about['dtype']}, batch {about['batch']}"), fontsize=10)
