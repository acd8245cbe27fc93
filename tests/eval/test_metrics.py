"""Accuracy, intervals, paired tests and types of values: laws, hand-computed cases, and coverage by simulation."""

import itertools
import math
from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.statistics import Accuracy, clustered, holm, mcnemar, sign_flips, unweighted_mean

counts = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
verdicts = st.dictionaries(st.integers(0, 60).map(str), st.booleans())


@given(st.lists(counts, min_size=1, max_size=6))
def test_the_mean_of_categories_lies_in_its_interval(parts: list[tuple[int, int]]) -> None:
    """A category without samples has no part in it; the mean of one category is the category."""
    accuracies = [Accuracy(*part) for part in parts]
    mean, alone = unweighted_mean([*accuracies, Accuracy(0, 0)]), unweighted_mean(accuracies[:1])
    assert mean is not None and alone is not None and (first := accuracies[0].estimate) is not None
    assert mean.value == pytest.approx(sum(r / n for r, n in parts) / len(parts))
    assert 0 <= mean.low <= mean.value <= mean.high <= 1
    assert 0 < mean.high - mean.low <= max(e.high - e.low for a in accuracies if (e := a.estimate)) + 1e-12
    assert (alone.value, alone.low, alone.high) == pytest.approx((first.value, first.low, first.high))


@pytest.mark.parametrize(
    "chances", [(0.57, 0.42, 0.44, 0.42), (0.0, 0.0, 0.03, 0.0), (0.95, 0.97, 0.95, 0.9)], ids=["middle", "low", "high"]
)
def test_the_interval_of_the_mean_covers_it(chances: tuple[float, ...]) -> None:
    """In 1,500 runs 95 % or more cover; 0.935 is 2.7 standard errors below 0.95. The sizes are BFCL live's."""
    sizes = (258, 1053, 16, 24)
    random = np.random.default_rng(0)
    truth = sum(chances) / len(chances)
    drawn = [random.binomial(n, p, 1500) for n, p in zip(sizes, chances, strict=True)]
    means = [
        unweighted_mean([Accuracy(int(r), n) for r, n in zip(right, sizes, strict=True)])
        for right in zip(*drawn, strict=True)
    ]
    assert sum(mean is not None and mean.low <= truth <= mean.high for mean in means) / 1500 >= 0.935


@given(verdicts, verdicts)
def test_mcnemar_counts_as_many_wins_or_more(first: dict[str, bool], second: dict[str, bool]) -> None:
    common, found = first.keys() & second.keys(), mcnemar(first, second)
    pairs = Counter((first[i], second[i]) for i in common)
    assert (found.samples, found.left_out) == (len(common), len(first.keys() ^ second.keys()))
    assert (found.won, found.lost, found.both_right) == (pairs[True, False], pairs[False, True], pairs[True, True])
    total, apart = found.won + found.lost, abs(found.won - found.lost)
    as_far = sum(math.comb(total, k) for k in range(total + 1) if abs(2 * k - total) >= apart)
    assert found.p == mcnemar(second, first).p == pytest.approx(as_far / 2**total)


@given(st.lists(st.floats(0, 1)))
def test_holm_keeps_the_sequence_and_never_lowers(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(a >= v and a <= 1 for a, v in zip(adjusted, values, strict=True))
    by_value = [a for _, a in sorted(zip(values, adjusted, strict=True))]
    assert by_value == sorted(by_value)
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


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
    constant = clustered([1, 1, 1], "aab")
    assert (constant.low, constant.value, constant.high) == (1, 1, 1)
