"""Charts of the report: accuracy (the paper's figure 5), error classes (figures 3 and 6), value errors (table 4)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from eval.report.drawing import GRID, LINES, blank_figure, chart_style, printable, save_figure, wrapped
from eval.report.entry import Entry
from eval.report.error_table import CLASSES
from eval.report.studies import ValueErrors

METHOD_COLOURS: Final = {
    "greedy": "#999999",
    "beam": "#56B4E9",
    "tooldec": "#E69F00",
    "draft-first": "#CC79A7",
    "xgrammar": "#009E73",
    "llguidance": "#D55E00",
    "tool-decoding": "#0072B2",
}
CLASS_COLOURS: Final = {
    "awareness": "#CC79A7",
    "selection": "#E69F00",
    "format": "#F0E442",
    "key": "#009E73",
    "value": "#0072B2",
    "unsatisfiable": "#BBBBBB",
    "missing": "#555555",
}
MARKERS: Final = "osD^vPX*"

_WIDTH = 9.0
_ROW = 0.34
_LINE = 0.2


def accuracy_chart(title: str, entries: Sequence[Entry], methods: Sequence[str], path: Path) -> bool:
    """Draw the unweighted totals with their intervals as bars. Return False, without a file, if there are none.

    Parameters
    ----------
    methods : sequence of str
        The method of each entry, for its colour.
    """
    totals = [e.summary().unweighted for e in entries]
    if not any(totals):
        return False
    with chart_style():
        figure = _figure(entries, 1)
        axes = figure.add_subplot()
        places = _name_rows(axes, entries)
        for place, total, method in zip(places, totals, methods, strict=True):
            if total is None:
                continue
            value = 100 * total.value
            spread = [[value - 100 * total.low], [100 * total.high - value]]
            axes.barh(place, value, height=0.72, color=METHOD_COLOURS.get(method, "#000000"))
            axes.errorbar(value, place, xerr=spread, color="black", capsize=3, linewidth=1)
            axes.text(100 * total.high + 1, place, f"{value:.1f}", va="center", fontsize=9)
        highest = max(t.high for t in totals if t)
        axes.set_xlim(0, min(108, 100 * highest * 1.15 + 3))
        axes.set_xlabel("per cent right, mean of the categories, 95 % interval")
        axes.set_title(printable(title))
        save_figure(figure, path)
    return True


def error_chart(title: str, entries: Sequence[Entry], path: Path) -> bool:
    """Draw shares of error classes, of the wrong predictions and of all samples. Return False if nothing is wrong."""
    summaries = [e.summary() for e in entries]
    if not any(s.wrong for s in summaries):
        return False
    with chart_style():
        figure = _figure(entries, 2, bottom=0.5)
        left, right = figure.subplots(1, 2, sharey=True)
        places = _name_rows(left, entries)
        for axes, whole in ((left, "of wrong predictions, unsatisfiable apart"), (right, "of all samples")):
            for place, summary in zip(places, summaries, strict=True):
                counts = [summary.errors[c] for c in CLASSES]
                total = summary.classified
                if axes is right:
                    counts += [summary.errors["unsatisfiable"], summary.missing]
                    total = summary.samples
                _stack(axes, place, [100 * n / max(total, 1) for n in counts])
            axes.set_xlim(0, 100)
            axes.set_xlabel(f"per cent {whole}")
            axes.grid(axis="x", color=GRID)
        right.tick_params(axis="y", length=0)
        for name, colour in CLASS_COLOURS.items():
            right.barh(places[0], 0, color=colour, label=name)
        figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=7, fontsize=9)
        figure.suptitle(printable(title))
        save_figure(figure, path)
    return True


def _stack(axes: Axes, place: float, widths: Sequence[float]) -> None:
    start = 0.0
    for width, (name, colour) in zip(widths, CLASS_COLOURS.items(), strict=False):
        axes.barh(place, width, left=start, height=0.72, color=colour, edgecolor="white", linewidth=0.5)
        if width >= 5:
            light = name in ("value", "missing", "key")
            axes.text(
                start + width / 2, place, f"{width:.0f}", ha="center", va="center", fontsize=8,
                color="white" if light else "black",
            )  # fmt: skip
        start += width


def order_limit_chart(title: str, studies: Sequence[ValueErrors], path: Path) -> bool:
    """Draw value errors against the order limit, one line per model. Return False if there are none."""
    if not studies:
        return False
    with chart_style():
        figure = blank_figure(_WIDTH, 4.2)
        axes = figure.add_subplot()
        for number, study in enumerate(studies):
            colour, marker = LINES[number % len(LINES)], MARKERS[number % len(MARKERS)]
            label = wrapped(study.model)
            axes.plot(list(study.by_limit), list(study.by_limit.values()), marker=marker, color=colour, label=label)
        limits = sorted({limit for s in studies for limit in s.by_limit})
        axes.set_xticks(limits, labels=[str(n) for n in limits])
        axes.set_ylim(0, max(1, *(n for s in studies for n in s.by_limit.values())) * 1.1)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("order limit")
        axes.set_ylabel("value errors")
        axes.grid(axis="y", color=GRID)
        figure.legend(loc="outside lower center", ncols=2, fontsize=9)
        figure.suptitle(printable(title))
        save_figure(figure, path)
    return True


def _figure(entries: Sequence[Entry], panels: int, bottom: float = 0.0) -> Figure:
    lines = sum(wrapped(e.label).count("\n") for e in entries) + sum(g.count("\n") + 1 for g in _groups(entries))
    height = 1.5 + bottom + _ROW * len(entries) + _LINE * lines
    return blank_figure(_WIDTH + 2 * (panels - 1), height)


def _groups(entries: Sequence[Entry]) -> list[str]:
    return [wrapped(g) for g in dict.fromkeys(e.group for e in entries)]


def _name_rows(axes: Axes, entries: Sequence[Entry]) -> list[float]:
    """Label the rows from top to bottom, each model above its methods. Return the y positions of the methods."""
    places: list[float] = []
    ticks: list[tuple[float, str, bool]] = []
    place = 0.0
    group = None
    for entry in entries:
        if entry.group != group:
            group = entry.group
            name = wrapped(group)
            place += 0.4 * name.count("\n")
            ticks.append((place, name, True))
            place += 0.8 + 0.3 * name.count("\n")
        label = wrapped(entry.label)
        extra = 0.25 * label.count("\n")
        place += extra
        places.append(place)
        ticks.append((place, label, False))
        place += 1 + extra
    axes.set_yticks([t[0] for t in ticks], labels=[t[1] for t in ticks])
    for label_text, (_, _, heading) in zip(axes.get_yticklabels(), ticks, strict=True):
        label_text.set_fontweight("bold" if heading else "normal")
        label_text.set_fontsize(9)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(place - 0.4, -0.8)
    axes.grid(axis="x", color=GRID)
    return places
