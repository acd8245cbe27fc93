"""The rules of the majority vote."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools import parameter, tool
from voting import CandidateCall, CandidateValue, TypeCheckError, check_value, merge

BOOK = tool(
    "Book",
    parameter("city", "str"),
    parameter("days", "int"),
    parameter("price", "float"),
    parameter("note", "str", required=False),
)
GOOD: dict[str, Any] = {"city": "Rome", "days": 3, "price": 1.5}


def candidate(values: dict[str, Any], order: tuple[str, ...] = ("city", "days", "price"), **more: Any) -> CandidateCall:
    logprobs = more.get("logprobs", {})
    cut = more.get("truncated", ())
    return CandidateCall(
        "Book",
        order,
        tuple(CandidateValue(k, v, repr(v), logprobs.get(k, -1.0), k in cut) for k, v in values.items()),
    )


VALUES = st.fixed_dictionaries(
    {
        "city": st.sampled_from(["Rome", "Paris", 3]),
        "days": st.sampled_from([1, 2, True, "2"]),
        "price": st.sampled_from([1, 1.0, 2.5, "x"]),
    },
    optional={"note": st.sampled_from(["a", "b", None])},
)
CANDIDATES = st.lists(
    st.tuples(VALUES, st.permutations(["city", "days", "price"]), st.floats(-3, 0)), min_size=1, max_size=12
).map(lambda rows: [candidate(v, tuple(o), logprobs=dict.fromkeys(v, p)) for v, o, p in rows])


@given(CANDIDATES, st.randoms(use_true_random=False))
def test_the_sequence_of_candidates_changes_nothing(candidates: list[CandidateCall], shuffler: random.Random) -> None:
    shuffled = list(candidates)
    shuffler.shuffle(shuffled)
    assert merge(shuffled, BOOK) == merge(candidates, BOOK)


@given(CANDIDATES, st.integers(1, 12))
def test_copies_of_a_call_give_that_call(candidates: list[CandidateCall], copies: int) -> None:
    one = candidates[0]
    merged = merge([one] * copies, BOOK)
    for key, value in merged.arguments.items():
        assert value == next(v.value for v in one.values if v.key == key)
    assert all(p.votes == copies and p.share == 1.0 for p in merged.parameters)
    assert merged.valid == all(_passes(v) for v in one.values if v.key != "note")


def _passes(value: CandidateValue) -> bool:
    try:
        check_value(value.value, BOOK.parameter(value.key))
    except TypeCheckError:
        return False
    return True


@given(CANDIDATES)
def test_a_valid_call_has_all_required_keys_with_their_types(candidates: list[CandidateCall]) -> None:
    merged = merge(candidates, BOOK)
    assert {"city", "days", "price"} <= set(merged.arguments)
    if merged.valid:
        assert type(merged.arguments["city"]) is str
        assert type(merged.arguments["days"]) is int
        assert type(merged.arguments["price"]) is float
    else:
        assert merged.errors


def test_one_and_one_point_zero_are_one_vote_for_a_float() -> None:
    merged = merge([candidate(GOOD | {"price": p}) for p in (2.5, 1, 1.0)], BOOK)
    assert merged.arguments["price"] == 1.0 and merged.parameters[2].votes == 2


def test_one_and_true_are_different_votes_where_both_may_stand() -> None:
    book = tool("Book", parameter("city", "any"), parameter("days", "int"))
    merged = merge([candidate({"city": c, "days": 3}) for c in (True, [True], 1, [1], 1)], book)
    assert merged.arguments["city"] == 1 and merged.arguments["city"] is not True and merged.parameters[0].votes == 2


def test_of_equal_values_the_spelling_nearest_to_documentation_order_is_taken() -> None:
    book = tool("Book", parameter("city", "dict"), parameter("days", "int"))
    orders: list[tuple[str, ...]] = [("city", "days"), ("days", "city")]
    spelled = [{"a": 1, "b": 2}, {"b": 2, "a": 1}]
    calls = [candidate({"city": v, "days": 3}, o) for v, o in zip(spelled, orders, strict=True)]
    for some in (calls, calls[::-1]):
        merged = merge(some, book)
        assert list(merged.arguments["city"]) == ["a", "b"] and merged.parameters[0].votes == 2


def test_the_majority_wins_and_wrong_types_do_not_vote() -> None:
    calls = [candidate(GOOD | {"days": d}) for d in (4, 3, "9", "9", "9", 3)]
    merged = merge(calls, BOOK)
    [days] = [p for p in merged.parameters if p.key == "days"]
    assert (days.value, days.votes, days.share) == (3, 2, 2 / 6)
    assert merged.valid and not merged.errors


def test_ties_go_to_the_likelier_value_then_to_documentation_order() -> None:
    likely = candidate(GOOD | {"days": 4}, ("price", "days", "city"), logprobs={"days": -0.5})
    assert merge([candidate(GOOD), likely], BOOK).arguments["days"] == 4
    equal = candidate(GOOD | {"days": 4}, ("price", "days", "city"))
    assert merge([equal, candidate(GOOD)], BOOK).arguments["days"] == 3


def test_an_optional_key_without_valid_values_is_left_out_and_named() -> None:
    merged = merge([candidate(GOOD | {"note": 5})] * 3, BOOK)
    assert "note" not in merged.arguments and merged.valid
    assert "'note'" in merged.errors[0]


def test_a_required_key_without_valid_values_makes_the_call_invalid() -> None:
    merged = merge([candidate(GOOD | {"days": "many"})] * 2, BOOK)
    assert not merged.valid
    assert merged.arguments["days"] == "many"
    assert "'days'" in merged.errors[0] and "expected int" in merged.errors[0]


def test_a_value_that_was_cut_off_loses_to_one_that_ended() -> None:
    cut = candidate(GOOD | {"city": "aaaa"}, truncated=("city",))
    merged = merge([cut, cut, candidate(GOOD)], BOOK)
    assert merged.arguments["city"] == "Rome" and not merged.errors
    only = merge([cut, cut], BOOK)
    assert only.valid and only.parameters[0].truncated and "limit of tokens" in only.errors[0]


def test_what_cannot_be_merged() -> None:
    with pytest.raises(ValueError, match="no candidate"):
        merge([], BOOK)
    with pytest.raises(ValueError, match="'Book'"):
        merge([candidate(GOOD)], tool("Other"))


@pytest.mark.parametrize(
    ("value", "spec", "checked"),
    [
        (5, parameter("x", "float"), 5.0),
        ([1, 2], parameter("x", "tuple"), (1, 2)),
        ([1], parameter("x", "list", items="float"), [1.0]),
        ("b", parameter("x", "int", enum=("a", "b")), "b"),
        (["a"], parameter("x", "list", enum=("a", "b")), ["a"]),
        (None, parameter("x", "any"), None),
    ],
)
def test_values_in_their_documented_type(value: Any, spec: Any, checked: Any) -> None:
    assert check_value(value, spec) == checked and type(check_value(value, spec)) is type(checked)


@pytest.mark.parametrize(
    ("value", "spec"),
    [
        (True, parameter("x", "int")),
        (1.0, parameter("x", "int")),
        ("1", parameter("x", "int")),
        (1, parameter("x", "str")),
        (["a", 1], parameter("x", "list", items="str")),
        (1, parameter("x", "bool")),
        ("c", parameter("x", "str", enum=("a", "b"))),
        (True, parameter("x", "int", enum=(1, 2))),
        (["c"], parameter("x", "list", enum=("a", "b"))),
    ],
)
def test_values_of_another_type(value: Any, spec: Any) -> None:
    with pytest.raises(TypeCheckError):
        check_value(value, spec)
