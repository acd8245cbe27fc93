"""A scored run, or a scored file, that tables and charts have a row for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from eval.metrics.metrics import Score, Summary, summarise


@dataclass(frozen=True)
class Entry:
    """One scored run or file.

    Attributes
    ----------
    group : str
        What it is compared within: its model.
    label : str
        Its method, or its file.
    categories : tuple of str
    scores : tuple of Score
    greedy : Entry or None
        The greedy run that its total is compared with.
    """

    group: str
    label: str
    categories: tuple[str, ...]
    scores: tuple[Score, ...]
    greedy: "Entry | None" = None

    @cached_property
    def ids(self) -> frozenset[str]:
        """Ids of its samples."""
        return frozenset(s.id for s in self.scores)

    @property
    def repeats(self) -> bool:
        """Whether a sample is scored several times, so that there is nothing to pair it with."""
        return len(self.ids) < len(self.scores)

    def summary(self, categories: Sequence[str] | None = None) -> Summary:
        """Its counts, by its own categories unless others are given."""
        return summarise(self.scores, self.categories if categories is None else categories)

    def on(self, ids: frozenset[str]) -> "Entry":
        """The same run on some of its samples."""
        kept = tuple(s for s in self.scores if s.id in ids)
        return replace(self, scores=kept, greedy=self.greedy and self.greedy.on(ids))

    def names(self, heads: Sequence[str]) -> tuple[str, ...]:
        """The cells that name it, under one head or two: its label, or its group and its label."""
        return (self.group, self.label)[-len(heads) :]


def common_samples(entries: Sequence[Entry]) -> frozenset[str]:
    """Ids of the samples that all have; none where one scores a sample several times."""
    if any(e.repeats for e in entries):
        return frozenset()
    return frozenset.intersection(*(e.ids for e in entries))
