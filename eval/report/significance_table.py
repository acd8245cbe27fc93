"""Table of significance tests: do two runs differ?"""

from collections.abc import Sequence
from itertools import combinations, groupby

from eval.metrics.significance import holm, mcnemar
from eval.report.entry import Entry
from eval.report.table import Table, probability


def significance_table(entries: Sequence[Entry], heads: Sequence[str]) -> Table:
    """Return McNemar's test of every pair of a group, on the samples of the totals that both have.

    Empty if no group has two entries with samples in common.
    """
    pairs = []
    for _, group in groupby((e for e in entries if not e.repeats), key=lambda e: e.group):
        for first, second in combinations(group, 2):
            paired = mcnemar(_verdicts(first), _verdicts(second))
            if paired.samples:
                pairs.append((first, second, paired))
    rows = tuple(
        (
            *first.names(heads),
            second.label,
            str(paired.samples),
            str(paired.left_out),
            str(paired.won),
            str(paired.lost),
            str(paired.both_right),
            probability(paired.p),
            probability(adjusted),
        )
        for (first, second, paired), adjusted in zip(pairs, holm([p.p for _, _, p in pairs]), strict=True)
    )
    columns = (*heads[:-1], "first", "second", "samples", "left out", "won", "lost", "both right", "p", "p, Holm")
    notes = (
        "Exact McNemar test, two-sided, on the samples of the totals that both have; left out: those only one has. "
        "Won: only the first is right; lost: only the second. The last column is adjusted for the number of pairs.",
    )
    return Table("Significance", columns, rows, len(heads) + 1, notes=notes)


def _verdicts(entry: Entry) -> dict[str, bool]:
    """Return the verdicts on the samples of the totals; on all samples if the totals have none."""
    totalled = entry.summary().totalled or entry.categories
    return {s.id: s.correct for s in entry.scores if s.category in totalled}
