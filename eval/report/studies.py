"""Runs that differ in one setting: order limit (paper's table 4), orders (table 2), in-context examples (table 3), and
how much of the documentation prompts print (TOOLDEC v3, section 3.2)."""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from eval.metrics.summary import summarise
from eval.report.finished_run import Run
from eval.report.table import NONE, Table, percent

ORDERS = ("documented", "reversed", "shuffled-once", "aggregated", "shuffled")
"""Columns of the table of orders; the last is the method itself, with its order limit."""

DETAILS = ("full", "signatures", "names")
"""How much of the documentation prompts print; runs of earlier versions printed it in full."""

_WITHOUT_EFFECT = {"batch_size", "strategy", "device", "limit"}
"""Settings that change no prediction."""


@dataclass(frozen=True)
class ValueErrors:
    """Value errors of one model at several order limits, on the samples that all its runs have.

    Attributes
    ----------
    model : str
    samples : int
    by_limit : dict
        Order limit -> value errors, in ascending order.
    """

    model: str
    samples: int
    by_limit: Mapping[int, int]


def value_errors(runs: Sequence[Run]) -> list[ValueErrors]:
    """Return the studies of the order limit among the runs of one benchmark, each of at least two limits."""
    limited = [r for r in runs if _orders(r) == "shuffled" and "order_limit" in r.settings]
    found = []
    for study in _studies(limited, "order_limit"):
        ids = _common(study)
        counts = {
            run.settings["order_limit"]: summarise(
                (s for i, s in run.scores.items() if i in ids), run.categories
            ).errors["value"]
            for run in sorted(study, key=lambda r: int(r.settings["order_limit"]))
        }
        found.append(ValueErrors(study[0].model, len(ids), counts))
    return found


def order_limit_table(studies: Sequence[ValueErrors]) -> Table:
    """Return value errors and their reduction against limit 1, by order limit."""
    limits = sorted({limit for s in studies for limit in s.by_limit})
    rows = []
    for study in studies:
        base = study.by_limit.get(1)
        rows.append((study.model, str(study.samples), *(_reduction(study.by_limit.get(n), base, n) for n in limits)))
    return Table(
        "Value errors against the order limit",
        ("model", "samples", *(f"limit {n}" for n in limits)),
        tuple(rows),
        1,
        notes=(
            "Value errors of tool-decoding and, in brackets, their reduction in per cent against order limit 1 "
            "(without order consistency; negative where there are more), on the samples that all runs of the row have.",
        ),
    )


def _reduction(errors: int | None, base: int | None, limit: int) -> str:
    if errors is None:
        return NONE
    return f"{errors} ({100 * (base - errors) / base:+.1f})" if base and limit != 1 else str(errors)


def study_tables(runs: Sequence[Run]) -> list[Table]:
    """Return accuracy by order of the required keys, by number of in-context examples, and by how much of the
    documentation prompts print; each only if runs of one model and method differ in it alone."""
    ours = [run for run in runs if _orders(run)]
    shuffled_once = [s for s in _studies(ours, "orders", "order_limit") if len({_orders(run) for run in s}) > 1]
    shots = _studies([run for run in runs if "shots" in run.settings], "shots")
    found = [
        _study_table("Accuracy by order of the required keys", shuffled_once, _order_column),
        _study_table("Accuracy by number of in-context examples", shots, lambda run: (run.settings["shots"], "")),
        _study_table("Accuracy by documentation in the prompt", _studies(runs, "documentation"), _detail_column),
    ]
    return [table for table in found if table.rows]


def _orders(run: Run) -> str | None:
    orders = run.settings.get("orders")
    return orders if run.method == "tool-decoding" and orders in ORDERS else None


def _order_column(run: Run) -> tuple[int, str]:
    """Return what sorts and names the column of a run."""
    orders = _orders(run) or ""
    limit = run.settings.get("order_limit")
    return ORDERS.index(orders), f"{orders}, up to {limit}" if orders == "shuffled" and limit else orders


def _detail_column(run: Run) -> tuple[int, str]:
    detail = str(run.settings.get("documentation") or DETAILS[0])
    return DETAILS.index(detail) if detail in DETAILS else len(DETAILS), detail


def _study_table(title: str, studies: Sequence[Sequence[Run]], column: Callable[[Run], tuple[int, str]]) -> Table:
    """Return a table with a row for each study and a column for each value of the setting studied."""
    columns = sorted({column(run) for study in studies for run in study})
    rows = []
    for study in studies:
        ids, cells = _common(study), {column(run): run for run in reversed(study)}
        accuracies = []
        for place in columns:
            run = cells.get(place)
            scores = [s for i, s in run.scores.items() if i in ids] if run else []
            accuracies.append(percent(summarise(scores, run.categories).unweighted if run else None))
        rows.append((study[0].model, study[0].method, str(len(ids)), *accuracies))
    return Table(
        title,
        ("model", "method", "samples", *(name or str(place) for place, name in columns)),
        tuple(rows),
        2,
        notes=(
            "Per cent of right samples, mean of the categories, with 95 % intervals; on the samples that all runs of "
            "the row have. Of runs that are set alike the first counts.",
        ),
    )


def _studies(runs: Sequence[Run], *studied: str) -> list[list[Run]]:
    """Group runs of one model and method whose settings differ only in ``studied``; groups of two runs or more."""
    groups: dict[Hashable, dict[Hashable, Run]] = {}
    for run in runs:
        rest = {k: v for k, v in run.settings.items() if k not in {*studied, *_WITHOUT_EFFECT}}
        key = (run.model, run.method, json.dumps(rest, sort_keys=True, default=str))
        value = tuple(str(run.settings.get(k)) for k in studied)
        groups.setdefault(key, {}).setdefault(value, run)  # of repetitions the first
    return [list(group.values()) for group in groups.values() if len(group) > 1 and _common(list(group.values()))]


def _common(runs: Sequence[Run]) -> set[str]:
    return set.intersection(*(set(r.scores) for r in runs))
