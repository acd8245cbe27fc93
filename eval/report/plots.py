"""Charts as PNG: accuracy (paper's figure 5), error classes (figures 3 and 6), value errors (table 4)."""

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

import matplotlib
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ft2font import FT2Font
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator

from eval.errors import EvalError
from eval.metrics.error_class import ERROR_CLASSES
from eval.report.entry import Entry
from eval.report.studies import ValueErrors

# Okabe and Ito's palette, which colour-blind readers can tell apart
METHOD_COLOURS: Final = {"greedy": "#999999", "beam": "#56B4E9", "tooldec": "#E69F00", "tool-decoding": "#0072B2"}
CLASS_COLOURS: Final = {
    "awareness": "#CC79A7",
    "selection": "#E69F00",
    "format": "#F0E442",
    "key": "#009E73",
    "value": "#0072B2",
    "unsatisfiable": "#BBBBBB",
    "missing": "#555555",
}
LINES: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
MARKERS: Final = "osD^vPX*"

_CJK_FONTS = ("Noto Sans CJK SC", "Noto Sans SC", "WenQuanYi Zen Hei", "Microsoft YaHei", "PingFang SC", "SimHei")
_WIDTH = 9.0
_ROW = 0.34
_LINE = 0.2
_LABEL_WIDTH = 44
_LABEL_MOST = 132


def accuracy_chart(title: str, entries: Sequence[Entry], methods: Sequence[str], path: Path) -> bool:
    """Horizontal bars of the unweighted totals with their intervals; False, and no file, if there are none.

    Parameters
    ----------
    methods : sequence of str
        The method of each entry, for its colour.
    """
    totals = [e.summary().unweighted for e in entries]
    if not any(totals):
        return False
    with _style():
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
        axes.set_title(_printable(title))
        _save(figure, path)
    return True


def error_chart(title: str, entries: Sequence[Entry], path: Path) -> bool:
    """Stacked bars of error classes, of the wrong predictions and of all samples; False if nothing is wrong."""
    summaries = [e.summary() for e in entries]
    if not any(s.classified + s.errors["unsatisfiable"] + s.missing for s in summaries):
        return False
    with _style():
        figure = _figure(entries, 2, bottom=0.5)
        left, right = figure.subplots(1, 2, sharey=True)
        places = _name_rows(left, entries)
        for axes, whole in ((left, "of wrong predictions, unsatisfiable apart"), (right, "of all samples")):
            classes = [c for c in ERROR_CLASSES if c != "unsatisfiable"]
            for place, summary in zip(places, summaries, strict=True):
                counts = [summary.errors[c] for c in classes]
                total = summary.classified
                if axes is right:
                    counts += [summary.errors["unsatisfiable"], summary.missing]
                    total = summary.samples
                _stack(axes, place, [100 * n / max(total, 1) for n in counts])
            axes.set_xlim(0, 100)
            axes.set_xlabel(f"per cent {whole}")
            axes.grid(axis="x", color="#DDDDDD")
        right.tick_params(axis="y", length=0)
        for name, colour in CLASS_COLOURS.items():
            right.barh(places[0], 0, color=colour, label=name)
        figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=7, fontsize=9)
        figure.suptitle(_printable(title))
        _save(figure, path)
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
    """Value errors against the order limit, a line for each model; False if there are none."""
    if not studies:
        return False
    with _style():
        figure = _blank(_WIDTH, 4.2)
        axes = figure.add_subplot()
        for number, study in enumerate(studies):
            colour, marker = LINES[number % len(LINES)], MARKERS[number % len(MARKERS)]
            label = _wrapped(study.model)
            axes.plot(list(study.by_limit), list(study.by_limit.values()), marker=marker, color=colour, label=label)
        limits = sorted({limit for s in studies for limit in s.by_limit})
        axes.set_xticks(limits, labels=[str(n) for n in limits])
        axes.set_ylim(0, max(1, *(n for s in studies for n in s.by_limit.values())) * 1.1)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("order limit")
        axes.set_ylabel("value errors")
        axes.grid(axis="y", color="#DDDDDD")
        figure.legend(loc="outside lower center", ncols=2, fontsize=9)
        figure.suptitle(_printable(title))
        _save(figure, path)
    return True


@contextmanager
def _style() -> Iterator[None]:
    """Matplotlib's defaults whatever the user's are, without a meaning to ``$`` in labels."""
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


def _figure(entries: Sequence[Entry], panels: int, bottom: float = 0.0) -> Figure:
    lines = sum(_wrapped(e.label).count("\n") for e in entries) + sum(g.count("\n") + 1 for g in _groups(entries))
    height = 1.5 + bottom + _ROW * len(entries) + _LINE * lines
    return _blank(_WIDTH + 2 * (panels - 1), height)


def _blank(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), dpi=150, layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08))


def _groups(entries: Sequence[Entry]) -> list[str]:
    return [_wrapped(g) for g in dict.fromkeys(e.group for e in entries)]


def _name_rows(axes: Axes, entries: Sequence[Entry]) -> list[float]:
    """Label the rows from top to bottom, each model above its methods; the methods' places."""
    places: list[float] = []
    ticks: list[tuple[float, str, bool]] = []
    place = 0.0
    group = None
    for entry in entries:
        if entry.group != group:
            group = entry.group
            name = _wrapped(group)
            place += 0.4 * name.count("\n")
            ticks.append((place, name, True))
            place += 0.8 + 0.3 * name.count("\n")
        label = _wrapped(entry.label)
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
    axes.grid(axis="x", color="#DDDDDD")
    return places


def _wrapped(text: str) -> str:
    """A label on as many lines as it needs; of a very long one the middle is left out."""
    text = _printable(text)
    if len(text) > _LABEL_MOST:
        text = f"{text[: _LABEL_MOST // 2]}…{text[-_LABEL_MOST // 2 :]}"
    return "\n".join(textwrap.wrap(text, _LABEL_WIDTH)) or "-"


def _printable(text: str) -> str:
    """Characters that no font here has as their escapes, so that labels stay different."""
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


def _save(figure: Figure, path: Path) -> None:
    FigureCanvasAgg(figure)
    try:
        figure.savefig(path)
    except OSError as error:
        raise EvalError(f"{path}: cannot be written: {error.strerror}") from None
