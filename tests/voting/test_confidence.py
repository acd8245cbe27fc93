"""Confidence: a number in [0, 1] that grows with the share of the votes and with the log-probability."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voting import Calibration, VotedParameter, confidence

SHARE = st.floats(0, 1, exclude_min=True)
LOGPROB = st.floats(max_value=0) | st.just(-math.inf)
WEIGHT = st.floats(0, 1e6)
CALIBRATION = st.none() | st.builds(Calibration, st.floats(-1e6, 1e6), WEIGHT, WEIGHT)


def voted(share: float, logprob: float) -> VotedParameter:
    return VotedParameter("x", "v", 1, share, logprob)


@given(SHARE, SHARE, LOGPROB, LOGPROB, CALIBRATION)
def test_more_votes_and_likelier_tokens_are_never_less_sure(
    share: float, other: float, logprob: float, another: float, calibration: Calibration | None
) -> None:
    low = confidence(voted(min(share, other), min(logprob, another)), calibration)
    high = confidence(voted(max(share, other), max(logprob, another)), calibration)
    assert 0 <= low <= high <= 1


@given(SHARE, st.floats(-5, 0), st.floats(-5, 5), st.floats(-5, 5), st.floats(-5, 5))
def test_a_calibration_is_a_logistic_regression(
    share: float, logprob: float, intercept: float, by_share: float, by_logprob: float
) -> None:
    sure = confidence(voted(share, logprob), Calibration(intercept, by_share, by_logprob))
    assert math.log(sure / (1 - sure)) == pytest.approx(intercept + by_share * share + by_logprob * logprob, abs=1e-5)


def test_without_a_calibration() -> None:
    assert confidence(voted(1.0, 0.0)) == 1.0
    assert confidence(voted(1.0, 1e-7)) == 1.0  # rounding of log-probabilities
    assert confidence(voted(0.5, math.log(0.5))) == pytest.approx(0.25)
