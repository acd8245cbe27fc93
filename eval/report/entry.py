"""A row of the report's tables and charts: a scored run or a scored file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from eval.metrics.score_row import Score
from eval.metrics.summary import Summary, summarise


@dataclass(frozen=True)
class Entry:
    """A scored run or file.

    Attributes
    ----------
    group : str
        Entries are compared within a group: the model.
    label : str
        The method, or the file.
    categories : tuple of str
    scores : tuple of Score
    greedy : Entry or None
        The greedy run to compare the total with.
    """

    group: str
    label: str
    categories: tuple[str, ...]
    scores: tuple[Score, ...]
    greedy: "Entry | None" = None

    @cached_property
    def ids(self) -> frozenset[str]:
        """Ids of the samples."""
        return frozenset(s.id for s in self.scores)

    @property
    def repeats(self) -> bool:
        """Whether a sample is scored several times. Such an entry cannot be paired with others."""
        return len(self.ids) < len(self.scores)

    def summary(self, categories: Sequence[str] | None = None) -> Summary:
        """Return the counts, by the entry's own categories unless others are given."""
        return summarise(self.scores, self.categories if categories is None else categories)

    def on(self, ids: frozenset[str]) -> "Entry":
        """Return the same entry restricted to some of its samples."""
        kept = tuple(s for s in self.scores if s.id in ids)
        return replace(self, scores=kept, greedy=self.greedy and self.greedy.on(ids))

    def names(self, heads: Sequence[str]) -> tuple[str, ...]:
        """Return the cells that name the entry: its label (one head), or its group and label (two heads)."""
        return (self.group, self.label)[-len(heads) :]


def common_samples(entries: Sequence[Entry]) -> frozenset[str]:
    """Return the ids of the samples in all entries; none if an entry scores a sample several times."""
    if any(e.repeats for e in entries):
        return frozenset()
    return frozenset.intersection(*(e.ids for e in entries))
