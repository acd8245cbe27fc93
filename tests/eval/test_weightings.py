"""Weighted votes over stored orders."""

import pandas as pd
import pytest

from eval.votes.weightings import MAJORITY, WEIGHTINGS, held_out_gains, right_by


def values(*rows: tuple[str, float, int, bool]) -> pd.DataFrame:
    """One slot, an order a row: text, log-probability, place, right."""
    found = [("s", n, text, logprob, logprob, place, right) for n, (text, logprob, place, right) in enumerate(rows)]
    names = ["slot", "order", "text", "logprob", "order_logprob", "place", "right"]
    return pd.DataFrame(found, columns=names).set_index("slot")


SURE = values(("a", -2.0, 0, False), ("a", -2.5, 0, False), ("b", -0.1, 2, True))


@pytest.mark.parametrize(
    ("weighting", "right"),
    [(MAJORITY, False), ("probability of the value", True), ("the likelier half of the orders", True),
     ("place from the front", True), ("place from the back", False)],
)  # fmt: skip
def test_the_text_of_the_largest_weight_is_taken(weighting, right):
    assert right_by(SURE, WEIGHTINGS[weighting](SURE)).tolist() == [right]


def test_of_equal_weights_the_likelier_text_is_taken():
    even = values(("a", -2.0, 0, False), ("b", -0.1, 1, True))
    assert right_by(even, WEIGHTINGS[MAJORITY](even)).tolist() == [True]


def test_only_a_weighting_that_is_better_gains_on_the_other_half():
    slots = range(40)
    dialogues = pd.Series([str(n // 2) for n in slots])
    right = pd.DataFrame({MAJORITY: [n % 2 == 0 for n in slots], "never": False})
    assert held_out_gains(right, dialogues) == pytest.approx(0.0)
    assert held_out_gains(right.assign(always=True), dialogues) == pytest.approx(50.0)
