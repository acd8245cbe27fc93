"""Confidence: a number in [0, 1] that grows with the share of the votes and with the log-probability."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voting import VotedParameter, confidence

SHARE = st.floats(0, 1, exclude_min=True)
LOGPROB = st.floats(max_value=0) | st.just(-math.inf)


def voted(share: float, logprob: float) -> VotedParameter:
    return VotedParameter("x", "v", 1, share, logprob)


@given(SHARE, SHARE, LOGPROB, LOGPROB)
def test_more_votes_and_likelier_tokens_are_never_less_sure(
    share: float, other: float, logprob: float, another: float
) -> None:
    low = confidence(voted(min(share, other), min(logprob, another)))
    high = confidence(voted(max(share, other), max(logprob, another)))
    assert 0 <= low <= high <= 1


def test_by_hand() -> None:
    assert confidence(voted(1.0, 0.0)) == 1.0
    assert confidence(voted(1.0, 1e-7)) == 1.0  # rounding of log-probabilities
    assert confidence(voted(0.5, math.log(0.5))) == pytest.approx(0.25)
