"""Accuracy per category and in total with 95 % intervals, and counts of errors, from rows of scores."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from scipy.stats import binomtest

from eval.errors import EvalError
from eval.metrics.error_class import ERROR_CLASSES

CONFIDENCE: Final = 0.95
"""Confidence level of every interval."""

AWARENESS_CATEGORIES: Final = frozenset({"live_relevance", "live_irrelevance", "irrelevance"})
"""BFCL's categories that ask only whether a call is made; its totals of calls leave them out."""

LIVE_CATEGORIES: Final = frozenset({"live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"})
"""The four categories of the leaderboard's "Live"."""


@dataclass(frozen=True)
class Score:
    """A row of scores.

    Attributes
    ----------
    id, category : str
    correct : bool
    error_class : str or None
        One of ``ERROR_CLASSES``; None where it is correct.
    structural : bool
        Wrong by its structure alone: a tool that was not given, a malformed call or a key error.
    missing : bool
        There was no prediction; it counts as wrong.
    repeated : bool
        API-Bank's evaluator takes a call that follows a call at once for a sample a second time (odd ``sample_id``).
    """

    id: str
    category: str
    correct: bool
    error_class: str | None
    structural: bool
    missing: bool
    repeated: bool


def read_score(row: Mapping[str, Any], place: str) -> Score:
    """A row of ``scores.jsonl`` or of the ``score`` command.

    Parameters
    ----------
    place : str
        File and line, for messages.

    Raises
    ------
    EvalError
        If a column is missing or of another type, or the error class is unknown or contradicts ``correct``.
    """
    for column, kind in (("id", str), ("category", str), ("correct", bool), ("structural", bool), ("missing", bool)):
        if not isinstance(row.get(column), kind):
            raise EvalError(
                f"{place}: expected a row of scores with {column!r} as {kind.__name__}, found "
                f"{type(row[column]).__name__ if column in row else 'none'}; make the file with `tooldecoding score`"
            )
    error_class = row.get("error_class")
    if (error_class is None) != row["correct"] or error_class not in (None, *ERROR_CLASSES):
        raise EvalError(
            f"{place}: expected an error class exactly where 'correct' is false, one of {', '.join(ERROR_CLASSES)}; "
            f"found {error_class!r} and 'correct' {str(row['correct']).lower()}"
        )
    if row["correct"] and (row["missing"] or row["structural"]):
        raise EvalError(f"{place}: a correct sample cannot be missing or structurally wrong; score it again")
    number = row.get("sample_id")
    return Score(
        id=row["id"],
        category=row["category"],
        correct=row["correct"],
        error_class=error_class,
        structural=row["structural"],
        missing=row["missing"],
        repeated=isinstance(number, int) and number % 2 == 1,
    )


@dataclass(frozen=True)
class Estimate:
    """A proportion between 0 and 1 and the limits of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Accuracy:
    """How many of how many samples are right."""

    right: int
    total: int

    @property
    def estimate(self) -> Estimate | None:
        """The proportion with its exact interval (Clopper and Pearson 1934); None without samples."""
        if not self.total:
            return None
        low, high = _clopper_pearson(self.right, self.total)
        return Estimate(self.right / self.total, low, high)


@lru_cache(maxsize=4096)
def _clopper_pearson(right: int, total: int) -> tuple[float, float]:
    interval = binomtest(right, total).proportion_ci(CONFIDENCE, method="exact")
    return float(interval.low), float(interval.high)


def unweighted_mean(accuracies: Iterable[Accuracy]) -> Estimate | None:
    """The mean of the categories' proportions, each counting the same (the paper's "Total", tables 7 and 8).

    The interval joins the categories' exact ones by the method of variance estimates recovery (MOVER; Zou, Huang and
    Zhang 2009, *A note on confidence interval estimation for a linear function of binomial proportions*): the distance
    to each limit is the root of the summed squares of the categories' distances, over their number. Simulated on BFCL
    live's sizes it holds the true mean in 95 to 99 % of runs, also near 0 and 1 where a normal approximation holds it
    in 38 to 87 % (``tests/eval/test_metrics.py``).

    Categories without samples are left out; None if all are.
    """
    estimates = [e for a in accuracies if (e := a.estimate)]
    if not estimates:
        return None
    mean = math.fsum(e.value for e in estimates) / len(estimates)
    below = math.hypot(*(e.value - e.low for e in estimates)) / len(estimates)
    above = math.hypot(*(e.high - e.value for e in estimates)) / len(estimates)
    return Estimate(mean, max(0.0, mean - below), min(1.0, mean + above))


@dataclass(frozen=True)
class Summary:
    """What a run reached.

    Attributes
    ----------
    categories : dict
        Accuracy by category, in the sequence asked for.
    errors : dict
        Wrong predictions by error class, in the sequence of ``ERROR_CLASSES``.
    missing : int
        Samples without a prediction. They count as wrong, and have no part in ``errors``.
    structural : int
        Wrong predictions whose structure alone is wrong.
    repeated : int
        Samples that API-Bank's evaluator counts a second time; they are among the samples, as officially.
    """

    categories: dict[str, Accuracy]
    errors: dict[str, int]
    missing: int
    structural: int
    repeated: int

    @property
    def totalled(self) -> dict[str, Accuracy]:
        """The categories that the totals are over: all but BFCL's relevance and irrelevance."""
        return {c: a for c, a in self.categories.items() if c not in AWARENESS_CATEGORIES}

    @property
    def unweighted(self) -> Estimate | None:
        """The paper's "Total": the mean of the categories; None without samples."""
        return unweighted_mean(self.totalled.values())

    @property
    def count_weighted(self) -> Accuracy:
        """All samples alike: BFCL's "Live" on its four categories."""
        return _sum(self.totalled.values())

    @property
    def samples(self) -> int:
        """Samples of all categories."""
        return _sum(self.categories.values()).total

    @property
    def classified(self) -> int:
        """Wrong predictions for samples that some prediction would have got right: the five classes of the paper."""
        return sum(self.errors.values()) - self.errors["unsatisfiable"]


def _sum(accuracies: Iterable[Accuracy]) -> Accuracy:
    both = [(a.right, a.total) for a in accuracies]
    return Accuracy(sum(right for right, _ in both), sum(total for _, total in both))


def summarise(scores: Iterable[Score], categories: Sequence[str]) -> Summary:
    """Count scores.

    Parameters
    ----------
    categories : sequence of str
        The sequence of categories; one without scores has the accuracy 0 of 0.

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
