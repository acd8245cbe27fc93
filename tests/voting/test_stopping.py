"""Early stopping: ``exact`` never changes a vote or asks for too many orders; ``posterior`` follows the Beta rule."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from lookup.dictionary import ToolSpec
from tools import parameter, tool
from voting import CandidateCall, CandidateValue, Stopping, VotedCall, merge, orders_needed

BOOK = tool(
    "Book",
    parameter("city", "str"),
    parameter("price", "float"),
    parameter("place", "any"),
    parameter("note", "str", required=False),
    parameter("where", "dict", required=False),
)
KEYS = ("city", "price", "place")
ABSENT = object()


def candidate(
    values: Any, order: Any = KEYS, logprob: float = -1.0, truncated: bool = False, name: str = "Book"
) -> Any:
    written = [CandidateValue(k, v, repr(v), logprob, truncated) for k, v in values.items() if v is not ABSENT]
    return CandidateCall(name, tuple(order), tuple(written))


COMMON: dict[str, Any] = {"city": "Rome", "price": 1, "place": {"a": 1, "b": 2}, "note": "x"}
EVERY_SHARE = (0.0, 0.25, 1 / 3, 0.5, 0.7, 1.0)
EVERY_LEVEL = (0.0, 0.01, 0.05, 0.0625, 0.2, 0.5)
SHARES, LEVELS = st.sampled_from(EVERY_SHARE), st.sampled_from(EVERY_LEVEL)
EVERY_RULE: tuple[Stopping, ...] = ("none", "exact", "posterior")
RULES = st.sampled_from(EVERY_RULE)


def outcome(call: VotedCall) -> tuple[str, str, bool]:
    """The result of a vote. ``repr`` distinguishes 1 and 1.0, 0.0 and -0.0, and the order of an object's keys."""
    return call.name, repr(call.arguments), call.valid


def needed(calls: Sequence[CandidateCall], total: int, of: ToolSpec = BOOK) -> int:
    return orders_needed(calls, of, total, "exact")


ONE = {
    required: tool("One", parameter("x", "str", required=required), parameter("k", "str")) for required in (True, False)
}


def one(x: Any, truncated: bool = False, logprob: float = -1.0) -> CandidateCall:
    return candidate({"x": x, "k": "v"}, ("k",), logprob, truncated, "One")


BALLOTS = st.builds(one, st.sampled_from(["a", "a", "b", 5, ABSENT]), st.sampled_from([False, False, True]))


@given(st.booleans(), st.lists(BALLOTS, min_size=1, max_size=5), st.integers(1, 3), SHARES)
def test_settled_is_what_no_orders_can_change(required, calls, left, share):
    """Every continuation of the votes on one key, where later orders win every tie."""
    of = ONE[required]
    ways = [one(x, logprob=9.0) for x in ("a", "b", "new", 5, ABSENT)] + [one("a", truncated=True)]
    known = outcome(merge(calls, of, share))
    same = all(outcome(merge([*calls, *rest], of, share)) == known for rest in itertools.product(ways, repeat=left))
    settled = orders_needed(calls, of, len(calls) + left, "exact", optional_share=share) == 0
    complete = [call for call in calls if not any(value.truncated for value in call.values)]
    k_settled = len(complete) > left  # all agree on the other key, but truncated values do not count
    assert settled == (same and k_settled)


@given(st.booleans(), st.lists(BALLOTS, max_size=8), BALLOTS, st.integers(1, 9), RULES, LEVELS, SHARES)
def test_the_orders_asked_for_are_the_fewest(required, calls, further, left, stopping, level, share):
    """One more order reduces the number by at most one, and some continuation needs no more."""
    of, total = ONE[required], len(calls) + left
    none, exact, posterior = (orders_needed(calls, of, total, rule, level, share) for rule in EVERY_RULE)
    assert posterior <= exact <= none == left
    count = orders_needed(calls, of, total, stopping, level, share)
    assert orders_needed([*calls, further], of, total, stopping, level, share) >= count - 1
    ways = [one(x) for x in ("a", "b", "new", *([] if required else [ABSENT]))]
    assert 0 <= count <= left and (calls or count)
    assert any(orders_needed([*calls, *[way] * count], of, total, stopping, level, share) == 0 for way in ways)


@pytest.mark.parametrize("level", EVERY_LEVEL)
def test_a_value_is_settled_by_the_beta_rule(level):
    of = tool("One", parameter("x", "str"))
    for leader, rival, left in itertools.product(range(8), range(8), (1, 3, 30)):
        calls = [one("a")] * leader + [one("b")] * rival
        settled = bool(calls) and orders_needed(calls, of, len(calls) + left, "posterior", level) == 0
        more, fewer = max(leader, rival), min(leader, rival)
        change = round(beta.cdf(0.5, more + 1, fewer + 1), 9)
        assert settled == (more > fewer + left or (more > fewer and change < level))


@pytest.mark.parametrize("share", EVERY_SHARE)
def test_an_optional_key_is_settled_by_the_beta_rule(share):
    of, exact = tool("One", parameter("x", "str", required=False)), Fraction(share).limit_denominator(100)
    counts = ((c, n - c, left) for n in range(1, 9) for c in range(n + 1) for left in (1, 3, 30))
    for (carrying, lacking, left), level in itertools.product(counts, EVERY_LEVEL):
        done = carrying + lacking
        calls = [one("a")] * carrying + [one(ABSENT)] * lacking
        settled = orders_needed(calls, of, done + left, "posterior", level, share) == 0
        change = round(beta.cdf(share, carrying + 1, lacking + 1), 9)
        if Fraction(carrying, done) > exact:
            value = carrying > left or (carrying > 0 and 0.5 ** (carrying + 1) < level)
            assert settled == (value and (Fraction(carrying, done + left) > exact or change < level))
        else:
            assert settled == (Fraction(carrying + left, done + left) <= exact or 1 - change < level)


@pytest.mark.parametrize(
    ("place", "one_spelling"),
    [(v, True) for v in (0, {"a": 1}, [{}, 1.5, None])]
    + [(v, False) for v in (0.0, -0.0, [0.0], (-0.0,), {"b": 2, "a": 1}, {"a": [0.0]}, {0.0: 1}, {"a": {1: 2, 3: 4}})],
)
def test_a_value_of_several_spellings_waits_for_documentation_order(place, one_spelling):
    """The order nearest to documentation order determines the spelling, and it may come last."""
    backwards = candidate(COMMON | {"place": place}, KEYS[::-1])
    assert needed([backwards] * 11, 12) == (0 if one_spelling else 1)
    assert needed([replace(backwards, order=KEYS), *[backwards] * 10], 12) == 0


def test_how_many_orders_are_needed():
    assert [orders_needed([], BOOK, 12, rule) for rule in EVERY_RULE] == [12, 7, 4]
    assert [orders_needed([candidate(COMMON)] * 4, BOOK, 12, rule) for rule in EVERY_RULE] == [8, 3, 0]
    assert needed([candidate(COMMON | {"city": 3})] * 5, 12) == 4  # no valid value: a new one would lead
    assert needed([candidate(COMMON, truncated=True)] * 11, 12) == 1  # a complete value beats all truncated ones
    stop, stopped = tool("Stop"), candidate({}, (), name="Stop")
    assert [needed([stopped] * count, 1, of=stop) for count in range(3)] == [1, 0, 0]


@pytest.mark.parametrize(("carrying", "of"), [(3, 10), (7, 10), (15, 22), (13, 23), (4, 4)])
def test_an_optional_key_needs_more_than_its_share(carrying, of):
    for count in range(of + 1):
        calls = [one("a")] * count + [one(ABSENT)] * (of - count)
        assert ("x" in merge(calls, ONE[False], carrying / of).arguments) == (count > carrying)
