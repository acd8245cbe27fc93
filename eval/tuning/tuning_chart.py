"""``tune.png`` and ``confidence.png``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

from eval.report.drawing import LINES, blank_figure, chart_style, printable, save_figure
from eval.tuning.confidence_metrics import reliability, risk_coverage
from eval.tuning.confidence_study import COMBINED, LOGPROB, SHARE, SINGLE, SINGLE_CALIBRATED, Study
from eval.tuning.results import Tuning

BLUE, ORANGE, GREEN = LINES[0], LINES[1], LINES[2]
FEWEST_KEPT: Final = 20
"""The risk of fewer values than these is noise."""

_GRID: Final = "#DDDDDD"
_STYLES: Final = {
    SINGLE: ("#999999", "-"),
    SINGLE_CALIBRATED: ("#555555", "--"),
    SHARE: (LINES[1], "-"),
    LOGPROB: (LINES[5], "-"),
    COMBINED: (LINES[0], "-"),
}


def tune_picture(title: str, tuning: Tuning, path: Path) -> None:
    """Accuracy (or agreement), latency, and value errors removed, against the order limit."""
    with chart_style():
        panels = 3 if tuning.answers and tuning.base.value_errors else 2
        figure = blank_figure(4.1 * panels, 4.2)
        axes = figure.subplots(1, panels, squeeze=False)[0]
        _accuracy_panel(axes[0], tuning)
        _latency_panel(axes[1], tuning)
        if panels == 3:
            _errors_panel(axes[2], tuning)
        limits = [row.variant.order_limit for row in tuning.limits]
        for panel in axes:
            panel.set_xlabel("order limit")
            panel.xaxis.set_major_locator(FixedLocator(limits))
            panel.xaxis.set_major_formatter(FixedFormatter([str(n) for n in limits]))
            panel.xaxis.set_minor_locator(NullLocator())
            panel.grid(axis="y", color=_GRID)
            if tuning.choice.limit is not None:
                panel.axvline(tuning.choice.limit, color=GREEN, linestyle=":", linewidth=1.5, zorder=0)
        chosen = "no limit fits the budget" if tuning.choice.limit is None else f"limit {tuning.choice.limit} chosen"
        figure.suptitle(f"{printable(title)}: {chosen}")
        save_figure(figure, path)


def _accuracy_panel(axes: Axes, tuning: Tuning) -> None:
    limits = [row.variant.order_limit for row in tuning.limits]
    estimates = [e for row in tuning.limits if (e := row.right.estimate)]
    values = [100 * e.value for e in estimates]
    spread = [[100 * (e.value - e.low) for e in estimates], [100 * (e.high - e.value) for e in estimates]]
    axes.errorbar(limits, values, yerr=spread, color=BLUE, marker="o", capsize=3)
    _mark(axes, tuning, values)
    axes.set_title(
        "right samples" if tuning.answers else f"same calls as at limit {limits[-1]} (not accuracy)", fontsize=10
    )
    axes.set_ylabel("per cent, 95 % interval")


def _latency_panel(axes: Axes, tuning: Tuning) -> None:
    limits = [row.variant.order_limit for row in tuning.limits]
    times = [row.latency for row in tuning.limits]
    values = [t.median_ms for t in times]
    spread = [[t.median_ms - t.low_ms for t in times], [t.high_ms - t.median_ms for t in times]]
    axes.errorbar(limits, values, yerr=spread, color=ORANGE, marker="s", capsize=3)
    _mark(axes, tuning, values)
    budget = tuning.decision.max_latency_ms
    if tuning.decision.max_slowdown is not None:
        budget = tuning.decision.max_slowdown * tuning.base.latency.median_ms
    if budget is not None:
        axes.axhline(budget, color="black", linestyle="--", linewidth=1, label="budget")
        axes.legend(loc="upper left", frameon=False, fontsize=9)
    axes.set_ylim(bottom=0)
    axes.set_title(f"latency of one prompt, {times[0].prompts} prompts", fontsize=10)
    axes.set_ylabel("milliseconds, median and quartiles")


def _errors_panel(axes: Axes, tuning: Tuning) -> None:
    limits = [row.variant.order_limit for row in tuning.limits]
    values = [tuning.reduction(row) or 0.0 for row in tuning.limits]
    axes.plot(limits, values, color=BLUE, marker="o")
    _mark(axes, tuning, values)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_title(f"value errors removed, of {tuning.base.value_errors} at limit 1", fontsize=10)
    axes.set_ylabel("per cent")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


def _mark(axes: Axes, tuning: Tuning, values: Sequence[float]) -> None:
    """A ring around the chosen limit."""
    for row, value in zip(tuning.limits, values, strict=True):
        if row.variant.order_limit == tuning.choice.limit:
            axes.plot(
                [tuning.choice.limit], [value], marker="o", markersize=14, markerfacecolor="none",
                markeredgecolor=GREEN, markeredgewidth=2, linestyle="none",
            )  # fmt: skip


def confidence_picture(title: str, study: Study, path: Path) -> None:
    """Risk against coverage, and how far scores are from the share of right values."""
    with chart_style():
        figure = blank_figure(10.5, 4.8)
        left, right = figure.subplots(1, 2)
        for scored in study.scored:
            colour, line = _STYLES[scored.name]
            curve = risk_coverage(scored.scores, scored.right)
            enough = curve.coverage * study.slots >= FEWEST_KEPT
            left.plot(
                100 * curve.coverage[enough], 100 * curve.risk[enough], color=colour, linestyle=line, label=scored.name
            )
            bins = reliability(scored.scores, scored.right)
            right.plot(100 * bins.score, 100 * bins.right, color=colour, linestyle=line, linewidth=0.8)
            right.scatter(100 * bins.score, 100 * bins.right, color=colour, s=400 * bins.values / study.slots + 4)
        right.plot([0, 100], [0, 100], color="black", linewidth=0.8)
        left.set(xlabel="values kept, per cent", ylabel="of these wrong, per cent", xlim=(0, 101))
        left.set_ylim(bottom=0)
        left.set_title(f"risk against coverage, {study.slots} values", fontsize=10)
        right.set(xlabel="score, per cent (mean of its bin)", ylabel="of these right, per cent")
        right.set(xlim=(-2, 104), ylim=(-2, 104))  # room for the dots at the edges
        right.set_title("calibration, ten bins, areas by their values", fontsize=10)
        for panel in (left, right):
            panel.grid(color=_GRID)
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
        figure.suptitle(printable(title))
        save_figure(figure, path)
