"""Tables of accuracy."""

from collections.abc import Sequence
from dataclasses import replace

from eval.metrics.accuracy import Accuracy
from eval.metrics.summary import LIVE_CATEGORIES, Summary
from eval.report.entry import Entry, common_samples
from eval.report.table import NONE, Table, counted, percent, times


def accuracy_tables(entries: Sequence[Entry], heads: Sequence[str]) -> list[Table]:
    """Return accuracy per category and in total (the paper's tables 7 and 8).

    Parameters
    ----------
    heads : sequence of str
        Titles of the columns that name an entry: label, or group and label.

    Returns
    -------
    list of Table
        One table if all entries have the same samples. Otherwise one with each entry on its own samples and, if there
        are any, one on the samples that all share. Only entries with the same samples are compared (best in bold,
        ratio to greedy).
    """
    common = common_samples(entries)
    largest = max(len(e.scores) for e in entries)
    if len(entries) == 1 or all(len(e.scores) == len(common) for e in entries):
        return [_accuracy_table("Accuracy", entries, heads, compared=True)]
    own = _accuracy_table("Accuracy, each on its own samples", entries, heads, compared=False)
    warning = f"These cover different samples: {len(common)} are in all of them, the largest has {largest}."
    if not common:
        return [replace(own, notes=(f"{warning} Their figures cannot be compared.", *own.notes))]
    own = replace(own, notes=(f"{warning} Compare only in the next table.", *own.notes))
    shared = [e.on(common) for e in entries]
    return [own, _accuracy_table(f"Accuracy on the {len(common)} samples in common", shared, heads, compared=True)]


def _accuracy_table(title: str, entries: Sequence[Entry], heads: Sequence[str], compared: bool) -> Table:
    categories = list(dict.fromkeys(c for e in entries for c in e.categories))
    summaries = [e.summary(categories) for e in entries]
    ratios = compared and any(e.greedy for e in entries)
    live = LIVE_CATEGORIES.issuperset(summaries[0].totalled)
    counts = [{s.categories[c].total for s in summaries} for c in categories]
    columns = [
        *heads,
        *(f"{c} ({min(n)})" if len(n) == 1 else c for c, n in zip(categories, counts, strict=True)),
        "Total, unweighted",
        "Live, count-weighted" if live else "Total, count-weighted",
        *(["total ÷ greedy"] if ratios else []),
    ]
    rows, values = [], []
    for entry, summary in zip(entries, summaries, strict=True):
        cells = [
            *(_accuracy(a, same=len(n) == 1) for a, n in zip(summary.categories.values(), counts, strict=True)),
            percent(summary.unweighted),
            percent(summary.count_weighted.estimate),
        ]
        rows.append((*entry.names(heads), *cells, *([_over_greedy(entry, summary)] if ratios else [])))
        estimates = [a.estimate for a in (*summary.categories.values(), summary.count_weighted)]
        estimates.insert(-1, summary.unweighted)
        values.append([e.value if e else 0.0 for e in estimates])
    best = _best(entries, values, len(heads)) if compared else frozenset()
    return Table(title, tuple(columns), tuple(rows), len(heads), best, tuple(_accuracy_notes(summaries, live)))


def _accuracy(accuracy: Accuracy, same: bool) -> str:
    return percent(accuracy.estimate) if same else counted(accuracy)


def _over_greedy(entry: Entry, summary: Summary) -> str:
    base = entry.greedy and entry.greedy.summary(tuple(summary.categories)).unweighted
    return times(summary.unweighted.value, base.value) if base and summary.unweighted else NONE


def _best(entries: Sequence[Entry], values: Sequence[Sequence[float]], offset: int) -> frozenset[tuple[int, int]]:
    """Return the cells with the highest value of their column and group, unless the whole group has it."""
    best = set()
    for group in {e.group for e in entries}:
        rows = [number for number, entry in enumerate(entries) if entry.group == group]
        for column in range(len(values[0])):
            cells = {row: values[row][column] for row in rows}
            highest = max(cells.values())
            if highest > min(cells.values()):
                best |= {(row, column + offset) for row, value in cells.items() if value == highest}
    return frozenset(best)


def _accuracy_notes(summaries: Sequence[Summary], live: bool) -> list[str]:
    totalled = list(summaries[0].totalled)
    notes = [
        "Per cent, with 95 % intervals: Clopper and Pearson's for proportions; for the unweighted total those of the "
        "categories, joined by variance estimates recovery (MOVER).",
        f"The unweighted total is the mean of the categories, the paper's Total; the count-weighted one is over all "
        f"samples{', the Live of BFCL' if live else ''}. Both are over {', '.join(totalled) or 'no category'}.",
    ]
    if live and set(totalled) != LIVE_CATEGORIES:
        missing = ", ".join(sorted(LIVE_CATEGORIES.difference(totalled)))
        notes.append(f"The official Live and the paper's Total have {missing} as well.")
    if empty := [c for c in summaries[0].categories if not any(s.categories[c].total for s in summaries)]:
        notes.append(f"Without samples, and without part in the totals: {', '.join(empty)}.")
    if any(s.missing for s in summaries):
        notes.append(f"Samples without a prediction, which count as wrong: {_each([s.missing for s in summaries])}.")
    if any(s.repeated for s in summaries):
        notes.append(
            "As in the official evaluator, an API-Bank call that follows another at once is two samples. Second ones: "
            f"{_each([s.repeated for s in summaries])}. The intervals take them for independent."
        )
    return notes


def _each(numbers: Sequence[int]) -> str:
    """Return one number per row, as text."""
    return f"{numbers[0]} in each row" if len(set(numbers)) == 1 else f"row by row {', '.join(map(str, numbers))}"
