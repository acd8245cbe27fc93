"""Tables of what a benchmark counts beside right and wrong, and of accuracy by the type of the values."""

from collections.abc import Iterable, Sequence
from math import fsum
from typing import Final

from eval.metrics.accuracy import Accuracy
from eval.metrics.score_row import Score
from eval.metrics.value_types import VALUE_TYPES
from eval.report.entry import Entry
from eval.report.table import NONE, Table, counted, percent

_NOTE: Final = (
    "Per cent of what there was to get, over all samples; with a 95 % interval where each sample has one point."
)


def figure_table(entries: Sequence[Entry], heads: Sequence[str]) -> Table:
    """Return the benchmark's further figures; without rows if it has none."""
    names = list(dict.fromkeys(name for e in entries for score in e.scores for name in score.figures))
    rows = tuple((*e.names(heads), *(_figure(e.scores, name) for name in names)) for e in entries) if names else ()
    return Table("Further figures", (*heads, *names), rows, len(heads), notes=(_NOTE,))


def _figure(scores: Sequence[Score], name: str) -> str:
    points = [score.figures[name] for score in scores if name in score.figures]
    whole = fsum(total for _, total in points)
    if not whole:
        return NONE
    got = fsum(part for part, _ in points)
    if all(total == 1 and part in (0, 1) for part, total in points):
        return percent(Accuracy(int(got), int(whole)).estimate)
    return f"{100 * got / whole:.1f}"


def value_type_table(entries: Sequence[Entry], heads: Sequence[str]) -> Table:
    """Return accuracy by the documented types of the values that the reference calls have; without rows if none has."""
    present = {name for e in entries for score in e.scores for name in score.value_types}
    names = [name for name in VALUE_TYPES if name in present]
    slices = [[_accuracy(e.scores, name) for name in names] for e in entries]
    counts = [{accuracy.total for accuracy in column} for column in zip(*slices, strict=True)]
    rows = [(*e.names(heads), *map(_cell, row, counts)) for e, row in zip(entries, slices, strict=True)]
    columns = [f"{name} ({min(n)})" if len(n) == 1 else name for name, n in zip(names, counts, strict=True)]
    return Table(
        "Accuracy by type of the values",
        (*heads, *columns),
        tuple(rows) if names else (),
        len(heads),
        notes=(
            "Per cent of right samples, with 95 % intervals, among those whose reference calls have a value of that "
            "documented type; a sample may be in several columns. Deep objects hold objects within objects.",
        ),
    )


def _cell(accuracy: Accuracy, counts: set[int]) -> str:
    """Return per cent and interval; also the number of samples where the entries differ in it."""
    return percent(accuracy.estimate) if len(counts) == 1 else counted(accuracy)


def _accuracy(scores: Iterable[Score], name: str) -> Accuracy:
    verdicts = [score.correct for score in scores if name in score.value_types]
    return Accuracy(sum(verdicts), len(verdicts))
