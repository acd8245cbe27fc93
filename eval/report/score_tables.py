"""Tables of scores: accuracy, significance and error classes.

All take ``scores``, a data frame with a row for each verdict: the fields of ``Score``, behind columns that name the run
or file (``heads``).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

from pandas import DataFrame

from eval.benchmarks.samples import ERROR_CLASSES
from eval.report.table import Table, counted, percent, probability, share
from eval.statistics import Accuracy, Estimate, holm, mcnemar, unweighted_mean

AWARENESS_CATEGORIES: Final = frozenset({"live_relevance", "live_irrelevance", "irrelevance"})
"""BFCL's categories that only ask whether a call is made; its totals leave them out."""

CLASSES: Final = tuple(c for c in ERROR_CLASSES if c != "unsatisfiable")
"""The paper's five classes."""

_NOTHING: Final = Accuracy(0, 0)


def score_tables(scores: DataFrame, heads: Sequence[str], categories: Sequence[str]) -> list[Table]:
    """Return all tables that have rows.

    ``categories``: in the order of the columns.
    """
    tables = [
        accuracy_table(scores, heads, categories),
        significance_table(scores, heads),
        error_table(scores, heads),
    ]
    return [table for table in tables if table.rows]


def entries(scores: DataFrame, heads: Sequence[str]) -> Iterator[tuple[tuple[str, ...], DataFrame]]:
    """Yield the names of each run or file, and its scores."""
    yield from scores.groupby(list(heads), sort=False)


def accuracy(scores: DataFrame) -> Accuracy:
    """Return how many of the scores are right."""
    return Accuracy(int(scores["correct"].sum()), len(scores))


def _by(scores: DataFrame, column: str) -> dict[str, Accuracy]:
    return {name: accuracy(own) for name, own in scores.groupby(column)}


def total(scores: DataFrame) -> Estimate | None:
    """Return the paper's "Total" of one run, the unweighted mean of its categories; None without samples."""
    return unweighted_mean(_by(_totalled(scores), "category").values())


def _totalled(scores: DataFrame) -> DataFrame:
    return scores[~scores["category"].isin(AWARENESS_CATEGORIES)]


def accuracy_table(scores: DataFrame, heads: Sequence[str], categories: Sequence[str]) -> Table:
    """Return accuracy by category and in total (the paper's tables 7 and 8)."""
    runs = list(entries(scores, heads))
    columns, cells = _side_by_side(categories, [_by(own, "category") for _, own in runs])
    rows = tuple(
        (*names, *row, percent(total(own)), percent(accuracy(_totalled(own)).estimate))
        for (names, own), row in zip(runs, cells, strict=True)
    )
    notes = [
        "Per cent, with 95 % intervals: Clopper and Pearson's for proportions; for the unweighted total those of the "
        "categories, joined by variance estimates recovery (MOVER). Samples without a prediction count as wrong.",
        "The unweighted total is the mean of the categories, the paper's Total; the count-weighted one is over all "
        "samples, BFCL's Live if all its categories are there. Relevance and irrelevance are in neither.",
    ]
    if (scores.drop_duplicates([*heads, "id"]).groupby("id").size() != len(runs)).any():
        notes.append("The rows cover different samples: compare them by their samples in common, under Significance.")
    second = scores["sample_id"].astype(float) % 2 == 1
    if second.any():
        notes.append(
            f"As in the official evaluator, an API-Bank call that follows another at once is two samples. "
            f"{scores[second]['id'].nunique()} are second ones; the intervals take them for independent."
        )
    columns = [*heads, *columns, "Total, unweighted", "Total, count-weighted"]
    return Table("Accuracy", tuple(columns), rows, len(heads), notes=tuple(notes))


def _side_by_side(names: Sequence[str], rows: Sequence[Mapping[str, Accuracy]]) -> tuple[list[str], list[list[str]]]:
    """Return titles and cells of columns. The number of samples is in the title, or in the cells where rows differ."""
    totals = {name: {row.get(name, _NOTHING).total for row in rows} for name in names}
    titles = [f"{name} ({min(found)})" if len(found) == 1 else name for name, found in totals.items()]
    cells = [[counted(row.get(name, _NOTHING), len(totals[name]) > 1) for name in names] for row in rows]
    return titles, cells


def significance_table(scores: DataFrame, heads: Sequence[str]) -> Table:
    """Return McNemar's test of every two runs of a model, or two files, on the samples of the totals that both have.

    Without rows if no two have samples in common; samples without a total count if there are no others.
    """
    tested = _totalled(scores)
    tested = scores if tested.empty else tested
    verdicts = {
        names: dict(zip(own["id"], own["correct"], strict=True))
        for names, own in entries(tested, heads)
        if own["id"].is_unique
    }
    tests = {(a, b): mcnemar(verdicts[a], verdicts[b]) for a, b in combinations(verdicts, 2) if a[:-1] == b[:-1]}
    tests = {pair: test for pair, test in tests.items() if test.samples}
    adjusted = holm([test.p for test in tests.values()])
    rows = tuple(
        (*first, second[-1], *map(str, test[:-1]), probability(test.p), probability(p))
        for ((first, second), test), p in zip(tests.items(), adjusted, strict=True)
    )
    columns = (*heads[:-1], "first", "second", "samples", "left out", "won", "lost", "both right", "p", "p, Holm")
    note = (
        "Exact McNemar test, two-sided, on the samples of the totals that both have; left out: those only one has. "
        "Won: only the first is right; lost: only the second. The last column is adjusted for the number of pairs."
    )
    return Table("Significance", columns, rows, len(heads) + 1, notes=(note,))


def error_table(scores: DataFrame, heads: Sequence[str]) -> Table:
    """Return error classes as counts and shares (the paper's figures 3 and 6)."""
    rows = []
    for names, own in entries(scores, heads):
        counts = error_counts(own)
        classified = sum(counts[name] for name in CLASSES)
        cells = [f"{counts[name]} ({share(counts[name], classified)})" for name in CLASSES]
        others = (counts["unsatisfiable"], counts["missing"], int(own["structural"].sum()))
        rows.append((*names, str(len(own)), str(len(own) - accuracy(own).right), *cells, *map(str, others)))
    note = (
        "Every wrong sample is of one class, or missing: there is no prediction. In brackets: per cent of the wrong "
        "predictions of the five classes. Unsatisfiable: the official scorer accepts no prediction. Structural, "
        "counted beside the classes: the call names a tool that was not given, is malformed or has a key error."
    )
    columns = (*heads, "samples", "wrong", *CLASSES, "unsatisfiable", "missing", "structural")
    return Table("Errors", columns, tuple(rows), len(heads), notes=(note,))


def error_counts(scores: DataFrame) -> dict[str, int]:
    """Return the number of wrong samples by error class; those without a prediction are ``missing`` alone."""
    found = scores[~scores["missing"]]["error_class"].value_counts()
    counts: dict[str, int] = {name: int(found.get(name, 0)) for name in ERROR_CLASSES}
    return counts | {"missing": int(scores["missing"].sum())}
