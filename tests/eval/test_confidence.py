"""Confidence that is tuned: a probability, and a limit below which so many are wrong as a risk allows."""

import math
from random import Random

import numpy as np
import pytest

from eval.statistics import auroc, auroc_gain
from eval.tuning.confidence import LabelledCall, calibrated, limit_of, study
from tooldecoding.decoding.calibration import USUAL, Calibration

TRUE = Calibration(5.0, 6.0)


def drawn(count: int, seed: int, truth: Calibration = TRUE) -> list[LabelledCall]:
    """Calls whose chances are known."""
    rng = Random(seed)
    scores = [math.exp(-rng.expovariate(2.0)) for _ in range(count)]
    return [LabelledCall(s, rng.random() < truth.probability(s), f"d{n // 2}") for n, s in enumerate(scores)]


@pytest.mark.parametrize("truth", [TRUE, Calibration(0.0, 0.5), Calibration(1.5, 3.0)])
def test_the_calibration_is_found_again(truth: Calibration) -> None:
    found = calibrated(drawn(4000, 1, truth))
    for score in (0.05, 0.3, 0.7, 1.0):
        assert found.probability(score) == pytest.approx(truth.probability(score), abs=0.06)


def test_few_calls_stay_near_the_default() -> None:
    assert calibrated([]) == USUAL
    right = calibrated([LabelledCall(0.9, True, "d")] * 5)
    assert USUAL.probability(0.9) < right.probability(0.9) < 0.99
    assert calibrated([LabelledCall(n / 40, n < 20, "d") for n in range(40)]).slope >= 0  # never the wrong way round


@pytest.mark.parametrize("risk", [0.05, 0.2])
def test_a_risk_holds_for_other_calls(risk: float) -> None:
    broken, none, unseen = 0, 0, drawn(20_000, 0)
    for seed in range(1, 41):
        calls = drawn(600, seed)
        found = calibrated(calls)
        limit = limit_of(calls, found, risk)
        passing = [call for call in unseen if limit is not None and found.probability(call.score) >= limit]
        none += not passing
        broken += bool(passing) and sum(not call.right for call in passing) / len(passing) > risk
    assert broken <= 5 and none < 20  # one in twenty is expected to


def test_too_few_calls_show_no_risk() -> None:
    perfect = [LabelledCall(0.9, True, "d")]
    assert limit_of(perfect * 89, USUAL, 0.05) is None
    assert limit_of([LabelledCall(0.95, False, "d"), *perfect * 4], USUAL, 0.05) is None, "none is right at the start"
    limit = limit_of(perfect * 90, USUAL, 0.05)
    assert limit is not None and USUAL.probability(0.9) - 1e-5 < limit <= USUAL.probability(0.9)
    assert limit_of([*perfect * 90, LabelledCall(0.9, False, "d")], USUAL, 0.05) is None, "equal calls pass together"


def test_whether_one_score_ranks_better_than_another() -> None:
    """The difference of two AUROCs; of two scores that are alike, one in twenty is found to be better."""
    random, found = np.random.default_rng(0), []
    for _ in range(60):
        right = random.random(120) < 0.5
        first, second = ([*zip(right + random.normal(size=120), right, strict=True)] for _ in range(2))
        gain, p = auroc_gain(first, second, range(120)) or (None, 0.0)
        ranks = [auroc([score for score, _ in each], list(right)) or 0 for each in (first, second)]
        assert (
            gain is not None and gain.value == pytest.approx(ranks[0] - ranks[1]) and gain.low < gain.value < gain.high
        )
        found.append(p)
    assert sum(p < 0.05 for p in found) <= 8 and min(p for p in found) < 0.3 < max(found)
    answers = [(0.9, True), (0.2, False), (0.4, True)]
    assert (auroc_gain(answers, answers, "abc") or [None, 0])[1] == 1
    assert auroc_gain(answers, [(0.5, True)] * 3, "abc") is None and auroc_gain([], [], []) is None


def test_the_record() -> None:
    record = study(drawn(800, 3), 0.1, 0)
    assert record["calls"] == 800 and record["held_out"]["calibration_error"] < 0.08
    assert 0 < record["passing"] < 800 and record["held_out"]["wrong"] <= 0.2 * record["held_out"]["passing"]
    assert "min_confidence" not in study(drawn(800, 3), None, 0)
    nothing = study([], 0.1, 0)
    assert (nothing["auroc"], nothing["min_confidence"], nothing["passing"]) == (None, None, 0)
    assert auroc([3, 2, 1, 1], [True, False, True, False]) == pytest.approx((1 + 1 + 0 + 0.5) / 4)
