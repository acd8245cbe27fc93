"""Counts of a run: accuracy per category and in total, error classes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from eval.errors import EvalError
from eval.metrics.accuracy import Accuracy, Estimate, unweighted_mean
from eval.metrics.error_class import ERROR_CLASSES
from eval.metrics.score_row import Score

AWARENESS_CATEGORIES: Final = frozenset({"live_relevance", "live_irrelevance", "irrelevance"})
"""BFCL's categories that only ask whether a call is made; its totals leave them out."""

LIVE_CATEGORIES: Final = frozenset({"live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"})
"""The four categories of the leaderboard's "Live"."""


@dataclass(frozen=True)
class Summary:
    """The counts of a run.

    Attributes
    ----------
    categories : dict
        Accuracy by category, in the order asked for.
    errors : dict
        Wrong predictions by error class, in the order of ``ERROR_CLASSES``.
    missing : int
        Samples without a prediction. They count as wrong, and are not in ``errors``.
    structural : int
        Wrong predictions with a structural error.
    repeated : int
        Samples that API-Bank's evaluator counts a second time. They are counted here too.
    """

    categories: dict[str, Accuracy]
    errors: dict[str, int]
    missing: int
    structural: int
    repeated: int

    @property
    def totalled(self) -> dict[str, Accuracy]:
        """The categories behind the totals: all but BFCL's relevance and irrelevance."""
        return {c: a for c, a in self.categories.items() if c not in AWARENESS_CATEGORIES}

    @property
    def unweighted(self) -> Estimate | None:
        """The paper's "Total": the mean of the categories; None without samples."""
        return unweighted_mean(self.totalled.values())

    @property
    def count_weighted(self) -> Accuracy:
        """Accuracy over all samples of ``totalled``: BFCL's "Live" on its four categories."""
        return _sum(self.totalled.values())

    @property
    def samples(self) -> int:
        """Samples of all categories."""
        return _sum(self.categories.values()).total

    @property
    def classified(self) -> int:
        """Wrong predictions of the paper's five classes: some prediction for their samples would have been right."""
        return sum(self.errors.values()) - self.errors["unsatisfiable"]

    @property
    def wrong(self) -> int:
        """Samples that are not right, with or without a prediction."""
        return sum(self.errors.values()) + self.missing


def _sum(accuracies: Iterable[Accuracy]) -> Accuracy:
    both = [(a.right, a.total) for a in accuracies]
    return Accuracy(sum(right for right, _ in both), sum(total for _, total in both))


def summarise(scores: Iterable[Score], categories: Sequence[str]) -> Summary:
    """Count scores.

    Parameters
    ----------
    categories : sequence of str
        The categories in order; one without scores has the accuracy 0 of 0.

    Raises
    ------
    EvalError
        If a score is of another category.
    """
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    missing = structural = repeated = 0
    for score in scores:
        if score.category not in categories:
            raise EvalError(f"{score.id}: expected one of the categories {list(categories)}, found {score.category!r}")
        total[score.category] += 1
        right[score.category] += score.correct
        missing += score.missing
        structural += score.structural
        repeated += score.repeated
        if score.error_class and not score.missing:
            errors[score.error_class] += 1
    return Summary(
        categories={c: Accuracy(right[c], total[c]) for c in categories},
        errors={c: errors[c] for c in ERROR_CLASSES},
        missing=missing,
        structural=structural,
        repeated=repeated,
    )
