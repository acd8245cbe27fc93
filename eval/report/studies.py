"""Runs that differ in one setting: order limit (paper's table 4), orders (table 2), in-context examples (table 3), and
how much of the documentation prompts print (TOOLDEC v3, section 3.2)."""

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from eval.metrics.significance import Paired, holm, mcnemar
from eval.metrics.summary import summarise
from eval.report.finished_run import Run
from eval.report.table import NONE, Table, percent, probability

ORDERS = ("documented", "reversed", "shuffled-once", "aggregated", "shuffled")
"""Columns of the table of orders; the last is the method itself, with its order limit."""

DETAILS = ("full", "signatures", "names")
"""How much of the documentation prompts print; runs of earlier versions printed it in full."""

_SAVINGS = ("samples", "prompt tokens", "saved %", "accuracy", "won", "lost", "p, Holm")

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


def orders_table(runs: Sequence[Run]) -> Table:
    """Return accuracy by order of the required keys; empty unless runs of a model differ in it."""
    studies = [s for s in _studies([r for r in runs if _orders(r)], "orders", "order_limit") if _varied(s)]
    columns = sorted({_column(r) for s in studies for r in s}, key=lambda c: (ORDERS.index(c[0]), c[1]))
    return _matrix(
        "Accuracy by order of the required keys",
        ("model",),
        [name if not limit else f"{name}, up to {limit}" for name, limit in columns],
        (((s[0].model,), s, {columns.index(_column(r)): r for r in s}) for s in studies),
    )


def _varied(study: Sequence[Run]) -> bool:
    return len({_orders(r) for r in study}) > 1


def _column(run: Run) -> tuple[str, int]:
    orders = _orders(run) or ""
    return orders, (run.settings.get("order_limit") or 0) if orders == "shuffled" else 0


def _orders(run: Run) -> str | None:
    orders = run.settings.get("orders")
    return orders if run.method == "tool-decoding" and orders in ORDERS else None


def shots_table(runs: Sequence[Run]) -> Table:
    """Return accuracy by number of in-context examples; empty unless runs of a model and method differ in it."""
    studies = _studies([r for r in runs if "shots" in r.settings], "shots")
    numbers = sorted({r.settings["shots"] for s in studies for r in s})
    return _matrix(
        "Accuracy by number of in-context examples",
        ("model", "method"),
        [str(n) for n in numbers],
        (((s[0].model, s[0].label), s, {numbers.index(r.settings["shots"]): r for r in s}) for s in studies),
    )


def documentation_table(runs: Sequence[Run]) -> Table:
    """Return what shorter documentation saves and costs; empty unless runs of a model and method differ in it."""
    studies = [study for study in _studies(runs, "documentation") if any(_detail(run) == "full" for run in study)]
    compared = [(run, study, _against_full(run, study)) for study in studies for run in sorted(study, key=_rank)]
    adjusted = iter(holm([paired.p for _, _, paired in compared if paired is not None]))
    rows = []
    for run, study, paired in compared:
        ids = _common(study)
        summary = summarise((s for i, s in run.scores.items() if i in ids), run.categories)
        differences = [NONE] * 3
        if paired is not None:
            differences = [str(paired.won), str(paired.lost), probability(next(adjusted))]
        names = (run.model, run.label, _detail(run))
        rows.append((*names, str(len(ids)), *_saved(run, study), percent(summary.unweighted), *differences))
    return Table(
        "Accuracy by documentation in the prompt",
        ("model", "method", "documentation", *_SAVINGS),
        tuple(rows),
        3,
        notes=(
            "Tokens: mean of the whole prompt, and what is saved. Accuracy: per cent of right samples, mean of the "
            "categories, with 95 % intervals, on the samples that all runs of the row's method have. Won: samples of "
            "the totals that are right with this documentation alone; lost: with the full one alone; exact McNemar "
            "test, adjusted by Holm's method.",
        ),
    )


def _detail(run: Run) -> str:
    return str(run.settings.get("documentation") or DETAILS[0])


def _rank(run: Run) -> int:
    return DETAILS.index(_detail(run)) if _detail(run) in DETAILS else len(DETAILS)


def _full(study: Sequence[Run]) -> Run:
    return next(run for run in study if _detail(run) == DETAILS[0])


def _against_full(run: Run, study: Sequence[Run]) -> Paired | None:
    if run is _full(study):
        return None
    first, second = (_totalled(each, _common(study)) for each in (run, _full(study)))
    return mcnemar(first, second)


def _totalled(run: Run, ids: Set[str]) -> dict[str, bool]:
    """Return the verdicts on the samples of the totals; on all samples if the totals have none."""
    scores = {i: score for i, score in run.scores.items() if i in ids}
    categories = summarise(scores.values(), run.categories).totalled or run.categories
    return {i: score.correct for i, score in scores.items() if score.category in categories}


def _saved(run: Run, study: Sequence[Run]) -> tuple[str, str]:
    """Return the mean tokens of a prompt, and the per cent that are saved, on the samples that all runs decoded."""
    decoded = set.intersection(*({i for i, c in r.costs.items() if c.prompt_tokens} for r in study))
    own, full = (sum(r.costs[i].prompt_tokens or 0 for i in decoded) for r in (run, _full(study)))
    if not decoded:
        return NONE, NONE
    return f"{own / len(decoded):,.1f}", f"{100 * (1 - own / full):.1f}"


def _matrix(
    title: str,
    heads: tuple[str, ...],
    columns: Sequence[str],
    studies: Iterable[tuple[tuple[str, ...], Sequence[Run], Mapping[int, Run]]],
) -> Table:
    """Return a table with a row for each study and a column for each value of the setting studied."""
    rows = []
    for names, study, cells in studies:
        ids = _common(study)
        accuracies = []
        for index in range(len(columns)):
            run = cells.get(index)
            scores = [s for i, s in run.scores.items() if i in ids] if run else []
            accuracies.append(percent(summarise(scores, run.categories).unweighted if run else None))
        rows.append((*names, str(len(ids)), *accuracies))
    return Table(
        title,
        (*heads, "samples", *columns),
        tuple(rows),
        len(heads),
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
