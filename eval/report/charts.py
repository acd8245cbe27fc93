"""Charts of the report: accuracy against what it costs, error classes (the paper's figures 3 and 6), and what is wrong
of the surest answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from pandas import DataFrame, Series

from eval.errors import writing
from eval.report.score_tables import entries, error_counts, total

_LINES: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe and Ito's palette, which colour-blind readers can tell apart."""

_GRID: Final = "#DDDDDD"

_MOST: Final = 88


def pass_chart(benchmark: str, scores: DataFrame, heads: Sequence[str], path: Path) -> bool:
    """Draw the unweighted totals against ``passes`` (logarithmic). Return False, without a file, if there are none."""
    runs = [(names, own["passes"].iloc[0], total(own)) for names, own in entries(scores, heads)]
    if not any(passes > 0 and found for _, passes, found in runs):
        return False
    with _chart(benchmark, path, 8.0, 5.0, 2) as figure:
        axes = figure.add_subplot(xlabel="forward passes a sample, mean", ylabel="per cent right, 95 % interval")
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
        labels = _labels([names for names, *_ in runs])
        for number, (label, (_, passes, found)) in enumerate(zip(labels, runs, strict=True)):
            if passes > 0 and found is not None:
                value, low, high = 100 * found.value, 100 * found.low, 100 * found.high
                colour, form = _LINES[number % len(_LINES)], "o^sv"[number // len(_LINES) % 4] + "-"
                axes.errorbar(passes, value, [[value - low], [high - value]], color=colour, fmt=form, label=label)
        axes.grid(color=_GRID)
    return True


def error_chart(benchmark: str, scores: DataFrame, heads: Sequence[str], path: Path) -> bool:
    """Draw the share of each error class of all samples, stacked. Return False, without a file, if nothing is wrong."""
    if scores["correct"].all():
        return False
    shares = {names: 100 * Series(error_counts(own)) / len(own) for names, own in entries(scores, heads)}
    widths = DataFrame(list(shares.values()))
    with _chart(benchmark, path, 9.0, 1.9 + 0.34 * len(shares), len(widths.columns)) as figure:
        axes = figure.add_subplot()
        axes.set_yticks(range(len(shares)), _labels(list(shares)), fontsize=9)
        axes.invert_yaxis()
        axes.grid(axis="x", color=_GRID)
        starts = widths.cumsum(axis=1) - widths
        for name, colour in zip(widths, _LINES, strict=False):
            axes.barh(widths.index, widths[name], left=starts[name], color=colour, label=name)
        axes.set_xlim(0, 100)
        axes.set_xlabel("per cent of all samples")
    return True


def coverage_chart(benchmark: str, answers: Mapping[tuple[str, ...], Sequence[bool]], path: Path) -> bool:
    """Draw the share of wrong answers among the surest ones (risk against coverage). False, without a file, if none.

    ``answers``: names of a run -> whether each answer is right, the surest first.
    """
    if not answers:
        return False
    with _chart(benchmark, path, 8.0, 5.0, 2) as figure:
        axes = figure.add_subplot(xlabel="surest answers, per cent", ylabel="of them wrong, per cent")
        for number, (label, right) in enumerate(zip(_labels(list(answers)), answers.values(), strict=True)):
            counts = Series(range(1, len(right) + 1))
            wrong = Series([not each for each in right]).cumsum()
            axes.plot(100 * counts / len(right), 100 * wrong / counts, color=_LINES[number % len(_LINES)], label=label)
        axes.grid(color=_GRID)
    return True


def _labels(names: Sequence[Sequence[str]]) -> list[str]:
    """Return what the runs are called; their models are named if there are several."""
    several = len({first for first, *_ in names}) > 1
    return [_printable(": ".join(each if several else each[-1:])) for each in names]


@contextmanager
def _chart(title: str, path: Path, width: float, height: float, columns: int) -> Iterator[Figure]:
    """Write what is drawn on an empty figure as PNG, with a legend of so many columns; EvalError if that fails.

    Width and height are in inches. The style is Matplotlib's own, not the user's, with ``$`` as a plain character.
    """
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"text.parse_math": False, "axes.axisbelow": True})
        matplotlib.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
        figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
        yield figure
        figure.legend(loc="outside lower center", ncols=columns, fontsize=9)
        figure.suptitle(_printable(title))
        FigureCanvasAgg(figure)
        with writing(path):
            figure.savefig(path)


def _printable(text: str) -> str:
    """Return a label: characters that are not Western letters are escapes, and a very long one loses its middle."""
    label = " ".join(text.split()).encode("latin-1", "backslashreplace").decode("latin-1")
    label = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in label)
    return label if len(label) <= _MOST else f"{label[: _MOST // 2]}…{label[-_MOST // 2 :]}"
