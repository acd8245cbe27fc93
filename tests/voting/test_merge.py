"""The rules of the majority vote, of the check of types, and of the confidence in what won."""

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookup import ParameterSpec, ValueType
from tools import parameter, tool
from voting import CandidateCall, CandidateValue, TypeCheckError, VotedParameter, check_value, merge

BOOK = tool(
    "Book",
    parameter("city", "str"),
    parameter("days", "int"),
    parameter("price", "float"),
    parameter("note", "str", required=False),
)
GOOD: dict[str, Any] = {"city": "Rome", "days": 3, "price": 1.5}


def candidate(values: dict[str, Any], order: tuple[str, ...] = ("city", "days", "price"), **more: Any) -> CandidateCall:
    logprobs, cut = more.get("logprobs", {}), more.get("truncated", ())
    written = (CandidateValue(k, v, repr(v), logprobs.get(k, -1.0), k in cut) for k, v in values.items())
    return CandidateCall("Book", order, tuple(written))


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


def passes(value: Any, spec: Any) -> bool:
    try:
        check_value(value, spec)
    except TypeCheckError:
        return False
    return True


@given(CANDIDATES, st.integers(1, 12))
def test_copies_of_a_call_give_that_call(candidates: list[CandidateCall], copies: int) -> None:
    one = candidates[0]
    merged = merge([one] * copies, BOOK)
    for key, value in merged.arguments.items():
        assert value == next(v.value for v in one.values if v.key == key)
    assert all(p.votes == copies and p.share == 1.0 for p in merged.parameters)
    assert merged.valid == all(passes(v.value, BOOK.parameter(v.key)) for v in one.values if v.key != "note")


@given(CANDIDATES)
def test_a_valid_call_has_all_required_keys_with_their_types(candidates: list[CandidateCall]) -> None:
    merged = merge(candidates, BOOK)
    assert {"city", "days", "price"} <= set(merged.arguments)
    types = [type(merged.arguments[key]) for key in ("city", "days", "price")]
    assert types == [str, int, float] if merged.valid else merged.errors


def call(**values: Any) -> CandidateCall:
    """A good call with some other values."""
    return candidate(GOOD | values)


TWICE = candidate(GOOD | {"days": 4}, ("price", "days", "city"))
LIKELY = candidate(GOOD | {"days": 4}, ("price", "days", "city"), logprobs={"days": -0.5})
CUT = candidate(GOOD | {"city": "aaaa"}, truncated=("city",))


@pytest.mark.parametrize(
    ("calls", "changed", "votes", "valid", "said"),
    [
        ([call(days=d) for d in (4, 3, "9", "9", "9", 3)], {"days": 3}, 2, True, []),  # wrong types do not vote
        ([call(price=p) for p in (2.5, 1, 1.0)], {"price": 1.0}, 2, True, []),
        ([call(), LIKELY], {"days": 4}, 1, True, []),  # ties go to the likelier value
        ([TWICE, call()], {"days": 3}, 1, True, []),  # then to documentation order
        ([call(note=5)] * 3, {}, 3, True, ["'note'", "most candidates carry it"]),
        ([call(days="many")] * 2, {"days": "many"}, 2, False, ["'days'", "expected int"]),
        ([CUT, CUT, call()], {"city": "Rome"}, 1, True, []),  # a value that ended beats those that were cut off
        ([CUT, CUT], {"city": "aaaa"}, 2, True, ["'city'", "limit of tokens"]),
    ],
)
def test_who_wins(calls: list[CandidateCall], changed: Any, votes: int, valid: bool, said: list[str]) -> None:
    merged = merge(calls, BOOK)
    assert (merged.arguments, merged.valid, len(merged.errors)) == (GOOD | changed, valid, bool(said))
    assert all(word in merged.errors[0] for word in said)
    for winner in merged.parameters:
        if winner.key in changed:
            assert (winner.votes, winner.share) == (votes, votes / len(calls))
            assert winner.truncated == ("limit of tokens" in said)


def test_one_and_true_are_different_votes_where_both_may_stand() -> None:
    book = tool("Book", parameter("city", "any"), parameter("days", "int"))
    merged = merge([candidate({"city": c, "days": 3}) for c in (True, [True], 1, [1], 1)], book)
    assert merged.arguments["city"] == 1 and merged.arguments["city"] is not True and merged.parameters[0].votes == 2


def test_of_equal_values_the_spelling_nearest_to_documentation_order_is_taken() -> None:
    book = tool("Book", parameter("city", "dict"), parameter("days", "int"))
    first = candidate({"city": {"a": 1, "b": 2}, "days": 3}, ("city", "days"))
    second = candidate({"city": {"b": 2, "a": 1}, "days": 3}, ("days", "city"))
    for calls in ([first, second], [second, first]):
        merged = merge(calls, book)
        assert list(merged.arguments["city"]) == ["a", "b"] and merged.parameters[0].votes == 2


def test_what_cannot_be_merged() -> None:
    with pytest.raises(ValueError, match="no candidate"):
        merge([], BOOK)
    with pytest.raises(ValueError, match="'Book'"):
        merge([candidate(GOOD)], tool("Other"))


NUMBER = ParameterSpec("x", ValueType("any", any_of=(ValueType("float"), ValueType("int"))), "", True)


@pytest.mark.parametrize(
    ("spec", "right", "wrong"),
    [
        (parameter("x", "float"), [(5, 5.0), (10**400, 10**400)], [True, "1"]),
        (parameter("x", "int"), [(5, 5)], [True, 1.0, "1"]),
        (parameter("x", "str"), [("a", "a")], [1]),
        (parameter("x", "bool"), [(True, True)], [1, "True"]),
        (parameter("x", "any"), [(None, None), (True, True), ((1,), (1,))], []),
        (parameter("x", "int", enum=("a", "b")), [("b", "b")], ["c", 1]),
        (parameter("x", "int", enum=(1, 2)), [(1, 1)], [True]),
        (NUMBER, [(5, 5), (5.0, 5.0)], [True]),
        (parameter("x", "tuple"), [([1, 2], (1, 2))], [{}]),
        (parameter("x", "list", items="float"), [([1], [1.0])], [[True]]),
        (parameter("x", "list", items="str"), [(["a"], ["a"])], [["a", 1]]),
        (parameter("x", "dict", items="float"), [({"k": 1}, {"k": 1.0})], [{"k": "1"}]),
        (parameter("x", "list", enum=("a", "b")), [(["a"], ["a"])], [["c"]]),
    ],
)
def test_values_and_their_types(spec: Any, right: list[tuple[Any, Any]], wrong: list[Any]) -> None:
    for value, checked in right:
        assert repr(check_value(value, spec)) == repr(checked)
    assert not any(passes(value, spec) for value in wrong)


SHARE = st.floats(0, 1, exclude_min=True)
LOGPROB = st.floats(max_value=0) | st.just(-math.inf)


@given(SHARE, SHARE, LOGPROB, LOGPROB)
def test_more_votes_and_likelier_tokens_are_never_less_sure(one: float, two: float, low: float, high: float) -> None:
    less = VotedParameter("x", "v", 1, min(one, two), min(low, high)).confidence
    more = VotedParameter("x", "v", 1, max(one, two), max(low, high)).confidence
    assert 0 <= less <= more <= 1


@pytest.mark.parametrize(("share", "logprob", "sure"), [(1.0, 0.0, 1.0), (1.0, 1e-7, 1.0), (0.5, math.log(0.5), 0.25)])
def test_confidence_by_hand(share: float, logprob: float, sure: float) -> None:
    assert VotedParameter("x", "v", 1, share, logprob).confidence == pytest.approx(sure, rel=1e-12)
