"""Early stopping: ``exact`` never changes a vote, and never asks for too many orders."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookup.dictionary import ToolSpec
from tools import parameter, tool
from voting import CandidateCall, CandidateValue, VotedCall, merge, orders_needed

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
SHARES = st.sampled_from((0.0, 0.25, 1 / 3, 0.5, 0.7, 1.0))


def outcome(call: VotedCall) -> tuple[str, str, bool]:
    """The result of a vote. ``repr`` distinguishes 1 and 1.0, 0.0 and -0.0, and the order of an object's keys."""
    return call.name, repr(call.arguments), call.valid


def needed(calls: Sequence[CandidateCall], total: int, of: ToolSpec = BOOK, share: float = 0.5) -> int:
    return orders_needed(calls, of, total, "exact", share)


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
    settled = needed(calls, len(calls) + left, of, share) == 0
    complete = [call for call in calls if not any(value.truncated for value in call.values)]
    k_settled = len(complete) > left  # all agree on the other key, but truncated values do not count
    assert settled == (same and k_settled)


@given(st.booleans(), st.lists(BALLOTS, max_size=8), BALLOTS, st.integers(1, 9), SHARES)
def test_the_orders_asked_for_are_the_fewest(required, calls, further, left, share):
    """One more order reduces the number by at most one, and some continuation needs no more."""
    of, total = ONE[required], len(calls) + left
    count = needed(calls, total, of, share)
    assert count <= orders_needed(calls, of, total, "none", share) == left
    assert needed([*calls, further], total, of, share) >= count - 1
    ways = [one(x) for x in ("a", "b", "new", *([] if required else [ABSENT]))]
    assert count >= 0 and (calls or count)
    assert any(needed([*calls, *[way] * count], total, of, share) == 0 for way in ways)


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
    assert [needed([candidate(COMMON)] * count, 12) for count in (0, 4, 7)] == [7, 3, 0]
    assert needed([candidate(COMMON | {"city": 3})] * 5, 12) == 4  # no valid value: a new one would lead
    assert needed([candidate(COMMON, truncated=True)] * 11, 12) == 1  # a complete value beats all truncated ones
    assert needed([candidate({}, (), name="Stop")], 1, of=tool("Stop")) == 0


@pytest.mark.parametrize(("carrying", "of"), [(3, 10), (7, 10), (15, 22), (13, 23), (4, 4)])
def test_an_optional_key_needs_more_than_its_share(carrying, of):
    for count in range(of + 1):
        calls = [one("a")] * count + [one(ABSENT)] * (of - count)
        assert ("x" in merge(calls, ONE[False], carrying / of).arguments) == (count > carrying)
