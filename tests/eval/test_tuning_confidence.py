"""Confidence scores: AUROC, calibration error, logistic regression; presence of optional keys."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.benchmarks.bfcl.benchmark import BFCL_LIVE
from eval.benchmarks.bfcl.data import BfclAnswer
from eval.benchmarks.samples import Sample
from eval.tuning.confidence_metrics import auroc, calibration_error
from eval.tuning.confidence_study import COMBINED, SHARE, SINGLE, SINGLE_CALIBRATED, Slot, calibrate, study
from eval.tuning.logistic_regression import cross_validated, fit, predict
from eval.tuning.optional_keys import count_presence
from lookup import extract
from tooldecoding.formats.call_format import Call
from voting import VotedCall, VotedParameter, confidence

SCORED = st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.3, 0.5, 1.0]), st.booleans()), min_size=1, max_size=30)


def arrays(pairs: list[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([s for s, _ in pairs]), np.array([r for _, r in pairs])


@given(SCORED)
def test_auroc_is_a_share_of_pairs(pairs: list[tuple[float, bool]]) -> None:
    right, wrong = ([s for s, r in pairs if r is kind] for kind in (True, False))
    found = auroc(*arrays(pairs))
    if not right or not wrong:
        assert found is None
        return
    won = sum((a > b) + (a == b) / 2 for a, b in product(right, wrong))
    assert found == pytest.approx(won / (len(right) * len(wrong)))


@given(SCORED)
def test_calibration_error_sums_the_gaps(pairs: list[tuple[float, bool]]) -> None:
    bins: dict[int, list[float]] = {}
    for score, right in pairs:
        bins.setdefault(min(int(10 * score), 9), []).append(score - right)
    gaps = sum(abs(sum(gap)) for gap in bins.values())
    assert calibration_error(*arrays(pairs)) == pytest.approx(gaps / len(pairs))


def test_calibration_error_by_hand() -> None:
    assert calibration_error(np.array([0.9, 0.9, 0.1, 0.1]), np.array([1, 1, 0, 0], bool)) == pytest.approx(0.1)
    assert calibration_error(np.ones(4), np.zeros(4, bool)) == 1.0


def test_the_regression_finds_what_made_the_labels() -> None:
    generator = np.random.default_rng(1)
    features = generator.uniform(-2, 2, size=(4000, 2))
    true = np.array([0.5, 2.0, -1.0])
    right = generator.uniform(size=4000) < predict(true, features)
    weights = fit(features, right)
    assert weights == pytest.approx(true, abs=0.2)
    assert predict(weights, features).mean() == pytest.approx(right.mean(), abs=1e-3)


def test_features_that_separate_without_a_fault_have_finite_weights() -> None:
    features = np.array([[-1.0], [-0.5], [0.5], [1.0]])
    assert np.all(np.abs(fit(features, features[:, 0] > 0)) < 5)
    assert fit(np.ones((4, 1)), np.array([1, 0, 1, 0], bool))[1] == pytest.approx(0, abs=1e-4)


def test_predictions_never_see_their_own_dialogue() -> None:
    """Labels that only the dialogue tells cannot be predicted."""
    groups = [f"d{n // 10}" for n in range(200)]
    right = np.array([n // 10 % 2 == 0 for n in range(200)])
    features = np.array([[float(n // 10)] for n in range(200)])
    one = cross_validated(features, right, groups, 0)
    changed = right.copy()
    changed[:10] = ~changed[:10]
    two = cross_validated(features, changed, groups, 0)
    assert np.array_equal(one[:10], two[:10])
    assert not np.array_equal(one, two)


def slots(seed: int, telling: bool) -> dict[tuple[str, str], Slot]:
    """The share tells right from wrong values, or nothing does."""
    generator = np.random.default_rng(seed)
    found = {}
    for n in range(300):
        right = bool(generator.uniform() < 0.5)
        share = 0.5 + 0.4 * right + 0.1 * generator.uniform() if telling else generator.uniform()
        found[f"{n}", "key"] = Slot(f"d{n % 40}", share, -generator.uniform(), right)
    return found


def test_a_study_finds_what_tells() -> None:
    single = {key: slot._replace(share=1.0) for key, slot in slots(0, True).items()}
    found = study(single, slots(0, True), 0)
    assert found is not None
    assert found[SHARE].auroc.value == 1.0
    assert found[COMBINED].gain.low > 0
    assert found[SINGLE].gain == pytest.approx((0, 0, 0)) or found[SINGLE].gain.value == 0
    assert found[COMBINED].calibration_error.value < found[SINGLE].calibration_error.value
    assert found[SINGLE_CALIBRATED].calibration_error.value < found[SINGLE].calibration_error.value


def test_a_study_of_noise_finds_no_gain() -> None:
    found = study({k: s._replace(share=1.0) for k, s in slots(2, False).items()}, slots(2, False), 0)
    assert found is not None
    assert found[COMBINED].gain.low < 0 < found[COMBINED].gain.high
    assert found.changed == 0


def test_too_few_values() -> None:
    few = dict(list(slots(0, True).items())[:15])
    assert study(few, few, 0) is None
    assert calibrate(few) is None
    assert study({}, {}, 0) is None


def test_the_calibration_is_the_decoders() -> None:
    """``voting.confidence`` gives the probability that the regression has."""
    values = slots(0, True)
    found = calibrate(values)
    assert found is not None
    slot = next(iter(values.values()))
    parameter = VotedParameter("key", "v", 1, slot.share, slot.logprob)
    weights = np.array([found.intercept, found.share, found.logprob])
    expected = predict(weights, np.array([[slot.share, slot.logprob]]))[0]
    assert confidence(parameter, found) == pytest.approx(expected)


KEYS = {key: {"type": "string", "description": ""} for key in "abcd"}
[TOOL] = extract([{"name": "f", "description": "", "parameters": {"properties": KEYS, "required": ["a"]}}]).tools


def sample(answer: object, **arguments: str) -> Sample:
    return Sample("i", "c", "d", (), None, (Call("f", arguments),), answer)  # type: ignore[arg-type]


def voted(*keys: str) -> VotedCall:
    return VotedCall("f", tuple(VotedParameter(k, "v", 1, 1.0, 0.0) for k in keys), True, (), 1)


def test_presence() -> None:
    found = count_presence([(sample(None, a="v", b="v", c="v"), TOOL, voted("a", "b", "d"), frozenset())])
    assert (found.right, found.surplus, found.missing, found.slots, found.calls) == (1, 1, 1, 3, 1)
    assert found.precision == found.recall == found.f1 == 0.5
    none = count_presence([])
    assert none.precision is none.recall is none.f1 is None


def test_keys_that_bfcl_leaves_open_do_not_count() -> None:
    open_one = sample(BfclAnswer([], [{"f": {"a": ["v"], "b": ["v", ""], "c": ["v"]}}]), a="v", c="v")
    assert BFCL_LIVE.open_keys(open_one) == {"b"}
    found = count_presence([(open_one, TOOL, voted("a", "b"), BFCL_LIVE.open_keys(open_one))])
    assert (found.right, found.surplus, found.missing, found.slots) == (0, 0, 1, 2)
