"""What ``tune`` prints and writes: a table, ``deployment.yaml``; all from the record in ``tune.json``."""

from collections.abc import Mapping
from typing import Any, Final

import yaml

from eval.report.table import NONE, Table, percent, probability
from eval.statistics import Estimate
from tooldecoding.cli.console import shown
from tooldecoding.options.model_options import ModelOptions
from tooldecoding.options.option import options_of

_NAMES: Final = {option.name for option in options_of(ModelOptions) if option.only != "command line"}
Record = Mapping[str, Any]


def limit_table(record: Record) -> Table:
    """Return accuracy, value errors and latency by order limit."""
    limits = record["limits"]
    rows = [_limit_cells(row, record["chosen"]["order_limit"]) for row in limits]
    columns = ["limit", "accuracy", f"p, loss against {record['chosen']['best']}", "value errors", "removed"]
    notes = [
        f"Over {record['samples']} samples.",
        "Accuracy with 95 % intervals; value errors removed, in %, of those of limit 1 (paper, table 4).",
        "AUROC: how well confidence tells right answers from wrong ones; 0.5 is by chance.",
        f"Milliseconds of one prompt decoded alone: median (quartiles) over {limits[0]['latency']['prompts']} prompts, "
        "interleaved; times 1: median ratio to limit 1 with its 95 % interval.",
    ]
    if not limits[0]["candidate"]:
        notes.append("Limit 1 is the base; it was not asked for and is no candidate.")
    if again := [f"{row['again']} at limit {row['limit']}" for row in limits if row["again"]]:
        notes.append(f"Decoded again, because a call before another one was voted otherwise: {', '.join(again)}.")
    if failures := record["failures"]:
        notes.append(f"Could not be decoded, and count as wrong: {len(failures)}; the first: {failures[0]}.")
    return Table("Order limit", (*columns, "AUROC", "ms", "times 1", "passes"), tuple(rows), 0, tuple(notes))


def _limit_cells(row: Record, chosen: int | None) -> tuple[str, ...]:
    removed, latency = row["value_errors_removed_percent"], row["latency"]
    return (
        f"{row['limit']} (chosen)" if row["limit"] == chosen else str(row["limit"]),
        _percent(row),
        NONE if row["p"] is None else probability(row["p"]),
        str(row["value_errors"]),
        NONE if removed is None or row["limit"] == 1 else f"{removed:.1f}",
        NONE if row["auroc"] is None else f"{row['auroc']:.3f}",
        f"{latency['median_ms']:.0f} ({latency['low_ms']:.0f}-{latency['high_ms']:.0f})",
        f"{latency['ratio']:.2f} ({latency['ratio_low']:.2f}-{latency['ratio_high']:.2f})",
        f"{latency['passes']:.1f}",
    )


def _percent(row: Record) -> str:
    return percent(row["interval"] and Estimate(row["accuracy"], *row["interval"]))


def deployment_text(record: Record, settings: ModelOptions) -> str:
    """Return ``deployment.yaml``: every setting that affects how calls are decoded, after comments.

    ``settings``: the settings before tuning; what was tuned takes precedence.
    """
    values = {name: value for name, value in vars(settings).items() if name in _NAMES} | record["chosen"]["settings"]
    comments = (*_comments(record), *record["chosen"]["reasons"])
    lines = [f"# {' '.join(shown(line).split())}" for line in comments]
    # a list stays on its line
    written = yaml.safe_dump(values, default_flow_style=None, sort_keys=False, allow_unicode=True, width=10**6)
    return "\n".join([*lines, "", written])


def _comments(record: Record) -> list[str]:
    row = next(row for row in record["limits"] if row["limit"] == record["chosen"]["order_limit"])
    template, latency = record["settings"].get("template"), row["latency"]
    comments = [
        f"Written by `tooldecoding tune {record['benchmark']}` on {record['date']}.",
        f"Machine: {record['machine']}; branches {record['strategy']}.",
        f"Order limit {row['limit']}: {_percent(row)} % of {row['total']} right",
        f"Latency: {latency['median_ms']:.0f} ms (median of {latency['prompts']} prompts), {latency['ratio']:.2f} "
        "times limit 1",
    ]
    if template not in (None, "auto"):
        comments.append(
            f"Prompts had the template {template}, which is not set here: it is another one for each input."
        )
    return comments
