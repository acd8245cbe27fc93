"""The orders that vote, the rules of the majority, the check of types, and the confidence in what won."""

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookup import ParameterSpec, ValueType
from lookup.errors import ToolDecodingError
from tools import accepts, parameter, tool
from voting import CandidateCall, CandidateValue, VotedParameter, check_value, draw_orders, merge
from voting.merge import is_settled

KEYS = ("city", "days", "price")
NOTE = parameter("note", "str", required=False)
BOOK = tool("Book", parameter("city", "str"), parameter("days", "int"), parameter("price", "float"), NOTE)
GOOD: dict[str, Any] = {"city": "Rome", "days": 3, "price": 1.5}


def candidate(values: dict[str, Any], order: tuple[str, ...] = KEYS, **more: Any) -> CandidateCall:
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
CANDIDATES = st.lists(st.tuples(VALUES, st.permutations(KEYS), st.floats(-3, 0)), min_size=1, max_size=12).map(
    lambda rows: [candidate(v, tuple(o), logprobs=dict.fromkeys(v, p)) for v, o, p in rows]
)


@given(CANDIDATES, st.integers(1, 12), st.randoms(use_true_random=False))
def test_laws_of_every_vote(candidates: list[CandidateCall], copies: int, shuffler: random.Random) -> None:
    """The sequence of candidates changes nothing, copies of a call give that call, and a valid one has its types."""
    merged = merge(candidates, BOOK)
    assert merge(shuffler.sample(candidates, len(candidates)), BOOK) == merged
    types = [type(merged.arguments[key]) for key in KEYS]
    assert types in ([str, int, float], [str, int, int]) if merged.valid else merged.errors  # a number may stay 1
    one = {v.key: v.value for v in candidates[0].values}
    merged = merge([candidates[0]] * copies, BOOK)
    assert merged.arguments.items() <= one.items()
    assert all(p.votes == copies and p.share == 1.0 for p in merged.parameters)
    assert merged.valid == all(accepts(BOOK.parameter(key), one[key]) for key in KEYS)


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
        # free texts that differ in case and white space are one value, in its most frequent, then its likelier spelling
        (
            [call(city=c) for c in ("Paris", "Paris", "St  Ives", "st ives", "st ives")],
            {"city": "st ives"},
            3,
            True,
            [],
        ),
        ([call(city=c) for c in ("Paris", "ROME", "Rome")], {"city": "ROME"}, 2, True, []),
        ([CUT, CUT, call()], {"city": "Rome"}, 1, True, []),  # a value that ended beats those that were cut off
        ([CUT, CUT], {"city": "aaaa"}, 2, False, ["'city'", "limit of tokens"]),
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


@given(st.lists(st.integers(1, 4), min_size=1, max_size=9))
def test_the_runner_up_would_win_without_the_winner(days: list[int]) -> None:
    first = next(p for p in merge([call(days=d) for d in days], BOOK).parameters if p.key == "days")
    others = [call(days=d) for d in days if d != first.value]
    assert (first.runner_up is None) == (not others)
    if first.runner_up is not None:
        second = next(p for p in merge(others, BOOK).parameters if p.key == "days")
        assert (first.runner_up.value, first.runner_up.votes) == (second.value, second.votes)
        assert first.runner_up.share == second.votes / len(days) and first.runner_up.runner_up is None


@pytest.mark.parametrize(("carrying", "of"), [(3, 10), (7, 10), (15, 22), (13, 23), (4, 4)])
def test_an_optional_key_needs_more_than_its_share(carrying: int, of: int) -> None:
    for count in range(of + 1):
        calls = [call(note="a")] * count + [call()] * (of - count)
        assert ("note" in merge(calls, BOOK, carrying / of).arguments) == (count > carrying)


SPELLED = st.lists(
    st.sampled_from(["Rome", "rome", "ROME ", "Paris"]).map(lambda city: call(city=city)), min_size=1, max_size=9
)


@given(SPELLED, SPELLED)
def test_what_is_settled_no_further_candidate_changes(calls: list[CandidateCall], further: list[CandidateCall]) -> None:
    if is_settled(calls, len(further), BOOK):
        assert merge([*calls, *further], BOOK).arguments == merge(calls, BOOK).arguments


def test_members_of_an_enum_are_not_spelled_otherwise() -> None:
    level = tool("Book", parameter("level", "str", enum=("a", "A")))
    merged = merge([candidate({"level": c}, ("level",)) for c in ("a", "A", "A")], level)
    assert (merged.arguments, merged.parameters[0].votes) == ({"level": "A"}, 2)


ANY = tool("Book", parameter("city", "any"), parameter("days", "int"))
FORTH, BACK = ({"a": 1, "b": 2}, KEYS[:2]), ({"b": 2, "a": 1}, KEYS[1::-1])


@pytest.mark.parametrize(
    ("cities", "city"),
    [
        ([(c, KEYS[:2]) for c in (True, [True], 1, [1], 1)], 1),  # true is another vote than 1
        ([FORTH, BACK], FORTH[0]),  # of equal values the spelling nearest to documentation order
        ([BACK, FORTH], FORTH[0]),
    ],
)
def test_equal_values_where_any_may_stand(cities: list[Any], city: Any) -> None:
    merged = merge([candidate({"city": c, "days": 3}, order) for c, order in cities], ANY)
    assert repr(merged.arguments["city"]) == repr(city) and merged.parameters[0].votes == 2


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
    assert not any(accepts(spec, value) for value in wrong)


@pytest.mark.parametrize(
    ("share", "logprob", "tokens", "sure"),
    [
        (1.0, 0.0, 9, 1.0),
        (1.0, 1e-7, 1, 1.0),
        (0.5, math.log(0.5), 1, 0.25),
        (0.5, math.log(0.5), 4, 0.125),
        (1.0, -math.inf, 1, 0.0),
    ],
)
def test_confidence_by_hand(share: float, logprob: float, tokens: float, sure: float) -> None:
    assert VotedParameter("x", "v", 1, share, logprob, tokens=tokens).score == pytest.approx(sure, rel=1e-12)


@given(st.integers(0, 9).map(lambda n: [f"k{i}" for i in range(n)]), st.integers(1, 40), st.integers(0, 5))
def test_every_scheme(keys: list[str], limit: int, seed: int) -> None:
    orders = draw_orders(keys, limit, seed=seed)
    assert len(orders) == len(set(orders)) == min(limit, math.factorial(len(keys)))
    assert all(sorted(o) == sorted(keys) for o in orders)
    assert draw_orders(keys, limit + 3, "shuffled", seed)[: len(orders)] == orders
    assert len(keys) < 5 or limit < 5 or draw_orders(keys, limit, seed=seed + 1) != orders
    [documented], [backwards], [once] = (
        draw_orders(keys, limit, scheme, seed) for scheme in ("documented", "reversed", "shuffled-once")
    )
    assert orders[0] == documented == tuple(keys) and backwards == documented[::-1]
    assert sorted(once) == sorted(keys) and (once == documented) == (len(keys) < 2)
    assert draw_orders(keys, limit, "aggregated", seed) == tuple(dict.fromkeys([documented, backwards, once]))[:limit]


@pytest.mark.parametrize(
    ("limit", "scheme", "said"),
    [(0, "shuffled", "order_limit must be 1 or more"), (3, "sorted", "known: shuffled")],
)
def test_what_cannot_be_drawn(limit: int, scheme: Any, said: str) -> None:
    with pytest.raises(ToolDecodingError, match=said):
        draw_orders("abc", limit, scheme)
