"""What ``tune`` prints and writes: tables, ``tune.json``, ``tune.png``, ``deployment.yaml``."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import yaml
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from eval.errors import EvalError
from eval.metrics.accuracy import Accuracy
from eval.report.drawing import GRID, LINES, blank_figure, chart_style, printable, save_figure
from eval.report.table import NONE, Table, percent, probability
from eval.tuning.decodes import Latency
from eval.tuning.reasons import reasons
from eval.tuning.tuner import LimitRow, Tuning
from tooldecoding.cli.console import shown
from tooldecoding.options.model_options import ModelOptions
from tooldecoding.options.option import options_of

DEPLOYMENT: Final = "deployment.yaml"

_NAMES: Final = {option.name for option in options_of(ModelOptions) if option.only != "command line"}
_BLUE, _ORANGE, _GREEN = LINES[:3]


def tables(tuning: Tuning) -> list[Table]:
    """Return all tables that have rows."""
    return [
        limit_table(tuning),
        *([_share_table(tuning)] if len({row.right.right for row in tuning.shares}) > 1 else []),
        _stopping_table(tuning),
    ]


def limit_table(tuning: Tuning) -> Table:
    """Return accuracy, value errors and latency by order limit."""
    chosen, prompts = tuning.choice.limit, tuning.limits[0].latency.prompts
    rows = [_limit_cells(tuning, row) for row in tuning.limits]
    numbers = [number for number, row in enumerate(tuning.limits) if row.limit == chosen]
    bold = frozenset((number, column) for number in numbers for column in range(len(rows[number])))
    notes = [f"The chosen limit is bold. Over {tuning.samples} {'samples' if tuning.answers else 'prompts'}."]
    if tuning.answers:
        columns = ["limit", "accuracy", f"p, loss against {tuning.choice.best}", "value errors", "removed"]
        notes.append("Accuracy with 95 % intervals; value errors removed, in %, of those of limit 1 (paper, table 4).")
    else:
        columns = ["limit", "agreement", f"p, below {tuning.wanted.margin:g} % other"]
        notes.append(
            f"There are no answers: agreement is the share of prompts with the same calls as at limit "
            f"{tuning.limits[-1].limit}, and this is not accuracy."
        )
    notes.append(
        f"Milliseconds of one prompt decoded alone: median (quartiles) over {prompts} prompts, interleaved; times 1: "
        "median ratio to limit 1 with its 95 % interval."
    )
    if not tuning.limits[0].candidate:
        notes.append("Limit 1 is the base; it was not asked for and is no candidate.")
    if again := [f"{row.again} at limit {row.limit}" for row in tuning.limits if row.again]:
        notes.append(f"Decoded again, because a call before another one was voted otherwise: {', '.join(again)}.")
    if tuning.failures:
        fate = "count as wrong" if tuning.answers else "have no part in any figure"
        notes.append(f"Could not be decoded, and {fate}: {len(tuning.failures)}; the first: {tuning.failures[0]}.")
    return Table("Order limit", (*columns, "ms", "times 1", "passes"), tuple(rows), 0, bold, tuple(notes))


def _limit_cells(tuning: Tuning, row: LimitRow) -> tuple[str, ...]:
    p, reduction = tuning.choice.p.get(row.limit), tuning.reduction(row)
    cells = [str(row.limit), percent(row.right.estimate), NONE if p is None else probability(p)]
    if tuning.answers:
        cells += [str(row.value_errors), NONE if reduction is None or row.limit == 1 else f"{reduction:.1f}"]
    return (*cells, *_latency_cells(row.latency), f"{row.latency.passes:.1f}")


def _share_table(tuning: Tuning) -> Table:
    rows = [
        (f"{row.share:g}", percent(row.right.estimate), NONE if row.p is None else probability(row.p))
        for row in tuning.shares
    ]
    chosen = [number for number, row in enumerate(tuning.shares) if row.share == tuning.optional_share]
    bold = frozenset((number, column) for number in chosen for column in range(3))
    notes = (
        f"At limit {tuning.limits[-1].limit}; an optional key is kept if more than this share of the candidates carry "
        "it, so at 1 never. p: gain over the default, adjusted for all comparisons (Holm).",
    )
    return Table("Optional keys", ("optional_share", "accuracy", "p, gain"), tuple(rows), 0, bold, notes)


def _stopping_table(tuning: Tuning) -> Table:
    measure = "accuracy" if tuning.answers else "agreement"
    rows = [
        (
            row.stopping,
            f"{row.orders_used:.2f} of {row.orders_possible:.2f}",
            str(row.changed),
            percent(row.right.estimate),
            *_latency_cells(row.latency),
        )
        for row in tuning.stopping
    ]
    limit = tuning.choice.limit if (tuning.choice.limit or 1) > 1 else tuning.limits[-1].limit
    notes = (
        f"At limit {limit}. Orders saved say nothing of time, since orders run side by side. Changed: prompts with "
        "other calls than without the rule.",
    )
    columns = ("stopping", "orders of a prompt", "changed", measure, "ms", "times none")
    return Table("Adaptive stopping", columns, tuple(rows), 1, notes=notes)


def _latency_cells(latency: Latency) -> tuple[str, str]:
    return (
        f"{latency.median_ms:.0f} ({latency.low_ms:.0f}-{latency.high_ms:.0f})",
        f"{latency.ratio:.2f} ({latency.ratio_low:.2f}-{latency.ratio_high:.2f})",
    )


def to_json(tuning: Tuning) -> dict[str, Any]:
    """Return ``tune.json``: the whole result. Proportions lie between 0 and 1; ``p`` is as in the tables."""
    return {
        **tuning.about,
        "measure": "accuracy" if tuning.answers else "agreement with the largest limit, which is not accuracy",
        "samples": tuning.samples,
        "failed": len(tuning.failures),
        "decision": tuning.wanted.to_json(),
        "chosen": {
            "order_limit": tuning.choice.limit,
            "best": tuning.choice.best,
            "settings": asdict(tuning.deployed) if tuning.deployed else None,
            "reasons": reasons(tuning),
        },
        "limits": [
            asdict(row)
            | _accuracy(row.right)
            | {"p": tuning.choice.p.get(row.limit), "value_errors_removed_percent": tuning.reduction(row)}
            for row in tuning.limits
        ],
        "optional_shares": [asdict(row) | _accuracy(row.right) for row in tuning.shares],
        "stopping": [asdict(row) | _accuracy(row.right) for row in tuning.stopping],
    }


def _accuracy(of: Accuracy) -> dict[str, Any]:
    found = of.estimate
    interval = found and [found.low, found.high]
    return {"right": of.right, "total": of.total, "accuracy": found and found.value, "interval": interval}


def draw_chart(title: str, tuning: Tuning, path: Path) -> None:
    """Draw accuracy (or agreement) and latency against the order limit."""
    estimates = [estimate for row in tuning.limits if (estimate := row.right.estimate)]
    right = [(100 * e.value, 100 * e.low, 100 * e.high) for e in estimates]
    times = [(row.latency.median_ms, row.latency.low_ms, row.latency.high_ms) for row in tuning.limits]
    budget = tuning.wanted.max_latency_ms
    if tuning.wanted.max_slowdown is not None:
        budget = tuning.wanted.max_slowdown * tuning.limits[0].latency.median_ms
    with chart_style():
        figure = blank_figure(8.2, 4.2)
        left, other = figure.subplots(1, 2)
        _draw_panel(left, tuning, right, _BLUE, "per cent, 95 % interval")
        left.set_title("right samples" if tuning.answers else "same calls as at the largest limit", fontsize=10)
        _draw_panel(other, tuning, times, _ORANGE, "milliseconds, median and quartiles")
        other.set_title(f"latency of one prompt, {tuning.limits[0].latency.prompts} prompts", fontsize=10)
        other.set_ylim(bottom=0)
        if budget is not None:
            other.axhline(budget, color="black", linestyle="--", linewidth=1, label="budget")
            other.legend(loc="upper left", frameon=False, fontsize=9)
        chosen = "no limit fits the budget" if tuning.choice.limit is None else f"limit {tuning.choice.limit} chosen"
        figure.suptitle(f"{printable(title)}: {chosen}")
        save_figure(figure, path)


def _draw_panel(
    axes: Axes, tuning: Tuning, values: Sequence[tuple[float, float, float]], color: str, label: str
) -> None:
    """Draw values with their limits, and a line at the chosen order limit."""
    limits = [row.limit for row in tuning.limits]
    spread = [[middle - low for middle, low, _ in values], [high - middle for middle, _, high in values]]
    axes.errorbar(limits, [middle for middle, _, _ in values], yerr=spread, color=color, marker="o", capsize=3)
    if tuning.choice.limit is not None:
        axes.axvline(tuning.choice.limit, color=_GREEN, linestyle=":", linewidth=1.5, zorder=0)
    axes.set(xlabel="order limit", ylabel=label)
    axes.xaxis.set_major_locator(FixedLocator(limits))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y", color=GRID)


def deployment_text(tuning: Tuning, settings: ModelOptions) -> str:
    """Return ``deployment.yaml``: every setting that affects how calls are decoded, after comments.

    Parameters
    ----------
    tuning : Tuning
        One with ``deployed`` set.
    settings : ModelOptions
        The settings before tuning; what was tuned takes precedence.
    """
    if tuning.deployed is None:
        raise ValueError("no limit was chosen")
    values = {name: value for name, value in vars(settings).items() if name in _NAMES} | vars(tuning.deployed)
    lines = [f"# {' '.join(shown(line).split())}" for line in (*_comments(tuning), *reasons(tuning))]
    return "\n".join([*lines, "", *(_setting(name, value) for name, value in values.items())]) + "\n"


def _comments(tuning: Tuning) -> list[str]:
    about = tuning.about
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    chosen = next(row for row in tuning.limits if row.limit == tuning.choice.limit)
    measure = "right" if tuning.answers else f"as at limit {tuning.limits[-1].limit} (not accuracy)"
    template, latency = about["settings"].get("template"), chosen.latency
    comments = [
        f"Written by `tooldecoding tune {about['benchmark']}` on {about['date']} with {versions}.",
        f"Machine: {about['machine']}; branches {about['strategy']}.",
        f"Order limit {chosen.limit}: {percent(chosen.right.estimate)} % of {chosen.right.total} {measure}",
        f"Latency: {latency.median_ms:.0f} ms (median of {latency.prompts} prompts), {latency.ratio:.2f} times limit 1",
    ]
    if template not in (None, "auto"):
        comments.append(
            f"Prompts had the template {template}, which is not set here: it is another one for each input."
        )
    return comments


def _setting(name: str, value: Any) -> str:
    # as a flow mapping, so that a list stays on its line
    return str(yaml.safe_dump({name: value}, default_flow_style=True, allow_unicode=True, width=10**6)).strip()[1:-1]


def write_text(path: Path, text: str) -> None:
    """Write a file, all or nothing; EvalError if that fails."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise EvalError(f"{path}: cannot be written: {error.strerror}") from None
