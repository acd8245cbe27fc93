"""Accuracy, intervals and paired tests: laws, hand-computed cases, and coverage by simulation."""

import itertools
import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.errors import EvalError
from eval.metrics.accuracy import Accuracy, unweighted_mean
from eval.metrics.score_row import Score, read_score
from eval.metrics.significance import clustered, holm, mcnemar, sign_flips
from eval.metrics.summary import summarise
from made_up_runs import CLASSES, score_row

counts = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
verdicts = st.dictionaries(st.integers(0, 60).map(str), st.booleans())


def scores_of(rows: list[dict]) -> list[Score]:
    return [read_score(row, "test") for row in rows]


@given(counts)
def test_the_interval_holds_the_proportion(count: tuple[int, int]) -> None:
    estimate = Accuracy(*count).estimate
    assert estimate is not None
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.value == count[0] / count[1]
    assert estimate.low < estimate.high


def test_interval_of_a_textbook_case() -> None:
    """Clopper and Pearson's limits solve P(X >= 7) = 0.025 and P(X <= 7) = 0.025 for X ~ Binomial(20, p)."""
    estimate = Accuracy(7, 20).estimate
    assert estimate is not None

    def mass(p: float, numbers: range) -> float:
        return sum(math.comb(20, k) * p**k * (1 - p) ** (20 - k) for k in numbers)

    assert mass(estimate.low, range(7, 21)) == pytest.approx(0.025)
    assert mass(estimate.high, range(8)) == pytest.approx(0.025)


@given(st.lists(counts, min_size=1, max_size=6))
def test_the_mean_of_categories_lies_in_its_interval(parts: list[tuple[int, int]]) -> None:
    accuracies = [Accuracy(*part) for part in parts]
    mean = unweighted_mean(accuracies)
    assert mean is not None
    assert mean.value == pytest.approx(sum(r / n for r, n in parts) / len(parts))
    assert 0 <= mean.low <= mean.value <= mean.high <= 1
    widest = max(e.high - e.low for a in accuracies if (e := a.estimate))
    assert 0 < mean.high - mean.low <= widest + 1e-12


def test_the_mean_of_one_category_is_the_category() -> None:
    mean, alone = unweighted_mean([Accuracy(3, 16)]), Accuracy(3, 16).estimate
    assert mean is not None and alone is not None
    assert (mean.value, mean.low, mean.high) == pytest.approx((alone.value, alone.low, alone.high))


LIVE = (258, 1053, 16, 24)


@pytest.mark.parametrize(
    ("sizes", "chances"),
    [
        (LIVE, (0.57, 0.42, 0.44, 0.42)),
        (LIVE, (0.02, 0.01, 0.02, 0.02)),
        (LIVE, (0.0, 0.0, 0.03, 0.0)),
        (LIVE, (0.95, 0.97, 0.95, 0.9)),
        ((399, 135), (0.66, 0.5)),
        ((10, 10), (0.1, 0.1)),
    ],
)
def test_the_interval_of_the_mean_covers_it(sizes: tuple[int, ...], chances: tuple[float, ...]) -> None:
    """In 1,500 runs 95 % or more cover; 0.935 is 2.7 standard errors below 0.95."""
    random = np.random.default_rng(0)
    truth = sum(chances) / len(chances)
    drawn = [random.binomial(n, p, 1500) for n, p in zip(sizes, chances, strict=True)]
    covered = 0
    for right in zip(*drawn, strict=True):
        mean = unweighted_mean([Accuracy(int(r), n) for r, n in zip(right, sizes, strict=True)])
        assert mean is not None
        covered += mean.low <= truth <= mean.high
    assert covered / 1500 >= 0.935


def test_totals_by_hand() -> None:
    rows = [score_row("a1", "live_simple"), score_row("a2", "live_simple", "value")]
    rows += [score_row(f"b{n}", "live_parallel", "format") for n in range(5)] + [score_row("b5", "live_parallel")]
    rows += [score_row("c1", "live_relevance"), score_row("c2", "live_irrelevance", "awareness")]
    categories = ("live_simple", "live_parallel", "live_relevance", "live_irrelevance")
    summary = summarise(scores_of(rows), categories)
    assert summary.unweighted is not None
    assert summary.unweighted.value == pytest.approx((1 / 2 + 1 / 6) / 2)
    assert summary.count_weighted == Accuracy(2, 8)
    assert summary.categories["live_relevance"] == Accuracy(1, 1)
    assert summary.samples == 10
    assert summary.structural == 5
    assert summary.errors == dict.fromkeys(CLASSES, 0) | {"value": 1, "format": 5, "awareness": 1}


def test_a_missing_prediction_is_wrong_and_of_no_class() -> None:
    rows = [score_row("a", "seen"), score_row("b", "seen", "awareness", missing=True), score_row("c", "seen", "key")]
    summary = summarise(scores_of(rows), ("seen",))
    assert summary.categories["seen"] == Accuracy(1, 3)
    assert (summary.missing, summary.classified, summary.errors["awareness"]) == (1, 1, 0)


def test_an_empty_category_has_no_part_in_the_mean() -> None:
    summary = summarise(scores_of([score_row("a", "seen")]), ("seen", "unseen"))
    assert summary.categories["unseen"].estimate is None
    assert summary.unweighted is not None and summary.unweighted.value == 1
    assert summarise([], ("seen",)).unweighted is None


def test_only_awareness_categories_have_no_totals() -> None:
    summary = summarise(scores_of([score_row("a", "live_relevance")]), ("live_relevance",))
    assert summary.unweighted is None and summary.count_weighted == Accuracy(0, 0)


def test_repeated_samples_of_api_bank_are_counted() -> None:
    rows = [score_row(f"x/{n}", "level-1-given-desc", sample_id=n, file="x", level="level-1") for n in (0, 1, 2, 4)]
    summary = summarise(scores_of(rows), ("level-1-given-desc",))
    assert (summary.repeated, summary.samples) == (1, 4)


@given(st.lists(st.tuples(st.sampled_from(["seen", "unseen"]), st.sampled_from([None, *CLASSES]))), st.randoms())
def test_the_sequence_of_rows_changes_nothing(kinds: list[tuple[str, str | None]], random: Random) -> None:
    rows = scores_of([score_row(str(n), category, kind) for n, (category, kind) in enumerate(kinds)])
    shuffled = random.sample(rows, len(rows))
    assert summarise(shuffled, ("seen", "unseen")) == summarise(rows, ("seen", "unseen"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": 3}, "'id' to be a valid string, found 3"),
        ({"correct": "yes"}, "'correct' to be a valid boolean, found 'yes'"),
        ({"error_class": "spelling"}, "found 'spelling'"),
        ({"error_class": None}, "exactly where 'correct' is false"),
    ],
)
def test_malformed_rows(change: dict, message: str) -> None:
    row = score_row("a", "seen", "value") | change
    with pytest.raises(EvalError, match=message) as error:
        read_score(row, "f:1")
    assert str(error.value).startswith("f:1: ")


def test_a_row_without_its_columns_and_a_contradiction() -> None:
    with pytest.raises(EvalError, match="expected 'structural', found none"):
        read_score({"id": "a", "category": "b", "correct": True}, "f:1")
    with pytest.raises(EvalError, match="a correct sample to have a prediction"):
        read_score(score_row("a", "b", missing=True), "f:1")
    with pytest.raises(EvalError, match="'other'"):
        summarise(scores_of([score_row("a", "other")]), ("seen",))


@given(verdicts, verdicts)
def test_mcnemar_is_symmetric(first: dict[str, bool], second: dict[str, bool]) -> None:
    forth, back = mcnemar(first, second), mcnemar(second, first)
    assert (forth.won, forth.lost, forth.p) == (back.lost, back.won, back.p)
    assert forth.samples == len(first.keys() & second.keys())
    assert forth.left_out + 2 * forth.samples == len(first) + len(second)
    assert 0 < forth.p <= 1


@given(verdicts)
def test_a_run_does_not_differ_from_itself(run: dict[str, bool]) -> None:
    paired = mcnemar(run, run)
    assert (paired.won, paired.lost, paired.left_out, paired.p) == (0, 0, 0, 1.0)
    assert paired.both_right == sum(run.values())


def test_mcnemar_by_hand() -> None:
    """9 against 1: 2 * (1 + 10) / 2**10."""
    first = {str(n): n != 0 for n in range(14)} | {"alone": True}
    second = {str(n): n == 0 or n >= 10 for n in range(14)}
    paired = mcnemar(first, second)
    assert (paired.won, paired.lost, paired.both_right, paired.left_out) == (9, 1, 4, 1)
    assert paired.p == pytest.approx(22 / 1024)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1)))
def test_holm_keeps_the_sequence_and_never_lowers(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(a >= v and a <= 1 for a, v in zip(adjusted, values, strict=True))
    by_value = [a for _, a in sorted(zip(values, adjusted, strict=True))]
    assert by_value == sorted(by_value)


def test_sign_flips_by_hand() -> None:
    """Of 2 ** n sign changes of n clusters, those that are as far from 0 as what was found."""
    assert sign_flips([1, 1, 1], "abc") == 2 / 8
    assert sign_flips([1, 1, 1], "aab") == 2 / 4  # 2 and 1: only 3 and -3 are as far
    assert sign_flips([1, 1, -1], "abc") == 1  # every sum of three odd numbers is as far as 1
    assert sign_flips([1, -1, 0], "aab") == 1  # no cluster differs
    assert sign_flips([], "") == 1


@given(st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.integers(0, 5)), max_size=12))
def test_sign_flips_count_all_sign_changes(pairs: list[tuple[int, int]]) -> None:
    differences, clusters = [d for d, _ in pairs], [c for _, c in pairs]
    sums = [sum(d for d, c in pairs if c == cluster) for cluster in set(clusters)]
    flipped = [
        sum(s * x for s, x in zip(sums, signs, strict=True)) for signs in itertools.product([1, -1], repeat=len(sums))
    ]
    as_far = sum(abs(f) >= abs(sum(differences)) for f in flipped) / len(flipped)
    assert sign_flips(differences, clusters) == pytest.approx(as_far)
    assert sign_flips([-d for d in differences], clusters) == sign_flips(differences, clusters)


def test_what_belongs_to_a_cluster_is_one_draw() -> None:
    """Ten copies of each of 40 values say no more than the 40: the interval is as wide, not a third of it."""
    random = Random(1)
    values = [random.choice([-1, 0, 1]) for _ in range(40)]
    alone = clustered(values, range(40))
    copied = clustered([v for v in values for _ in range(10)], [n for n in range(40) for _ in range(10)])
    assert (copied.low, copied.high) == pytest.approx((alone.low, alone.high), abs=0.02)
    independent = clustered([v for v in values for _ in range(10)], range(400))
    assert independent.high - independent.low < 0.5 * (copied.high - copied.low)
    assert alone.low < alone.value == sum(values) / 40 < alone.high


def test_an_interval_without_variation() -> None:
    estimate = clustered([1, 1, 1], "aab")
    assert (estimate.low, estimate.value, estimate.high) == (1, 1, 1)
