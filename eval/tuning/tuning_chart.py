"""``tune.png``."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

from eval.report.drawing import GRID, LINES, blank_figure, chart_style, printable, save_figure
from eval.tuning.results import Tuning

BLUE, ORANGE, GREEN = LINES[0], LINES[1], LINES[2]


def tuning_chart(title: str, tuning: Tuning, path: Path) -> None:
    """Draw accuracy (or agreement), latency, and value errors removed, against the order limit."""
    with chart_style():
        panels = 3 if tuning.answers and tuning.base.value_errors else 2
        figure = blank_figure(4.1 * panels, 4.2)
        axes = figure.subplots(1, panels, squeeze=False)[0]
        _accuracy_panel(axes[0], tuning)
        _latency_panel(axes[1], tuning)
        if panels == 3:
            _errors_panel(axes[2], tuning)
        limits = [row.options.order_limit for row in tuning.limits]
        for panel in axes:
            panel.set_xlabel("order limit")
            panel.xaxis.set_major_locator(FixedLocator(limits))
            panel.xaxis.set_major_formatter(FixedFormatter([str(n) for n in limits]))
            panel.xaxis.set_minor_locator(NullLocator())
            panel.grid(axis="y", color=GRID)
            if tuning.choice.limit is not None:
                panel.axvline(tuning.choice.limit, color=GREEN, linestyle=":", linewidth=1.5, zorder=0)
        chosen = "no limit fits the budget" if tuning.choice.limit is None else f"limit {tuning.choice.limit} chosen"
        figure.suptitle(f"{printable(title)}: {chosen}")
        save_figure(figure, path)


def _accuracy_panel(axes: Axes, tuning: Tuning) -> None:
    limits = [row.options.order_limit for row in tuning.limits]
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
    limits = [row.options.order_limit for row in tuning.limits]
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
    limits = [row.options.order_limit for row in tuning.limits]
    values = [tuning.reduction(row) or 0.0 for row in tuning.limits]
    axes.plot(limits, values, color=BLUE, marker="o")
    _mark(axes, tuning, values)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_title(f"value errors removed, of {tuning.base.value_errors} at limit 1", fontsize=10)
    axes.set_ylabel("per cent")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


def _mark(axes: Axes, tuning: Tuning, values: Sequence[float]) -> None:
    """Draw a ring around the chosen limit."""
    for row, value in zip(tuning.limits, values, strict=True):
        if row.options.order_limit == tuning.choice.limit:
            axes.plot(
                [tuning.choice.limit], [value], marker="o", markersize=14, markerfacecolor="none",
                markeredgecolor=GREEN, markeredgewidth=2, linestyle="none",
            )  # fmt: skip
