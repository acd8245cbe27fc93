"""Orders are distinct and seeded, begin with documentation order, and a smaller limit gives a prefix."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookup.errors import ToolDecodingError
from voting import draw_orders

KEYS = st.integers(0, 9).map(lambda n: [f"k{i}" for i in range(n)])


@given(KEYS, st.integers(1, 40), st.integers(0, 5))
def test_shuffled_orders(keys: list[str], limit: int, seed: int) -> None:
    orders = draw_orders(keys, limit, "shuffled", seed)
    assert len(orders) == min(limit, math.factorial(len(keys)))
    assert len(set(orders)) == len(orders)
    assert all(sorted(o) == sorted(keys) for o in orders)
    assert orders[0] == tuple(keys)
    assert draw_orders(keys, limit, "shuffled", seed) == orders
    assert draw_orders(keys, limit + 3, "shuffled", seed)[: len(orders)] == orders


def test_seeds_differ() -> None:
    assert draw_orders("abcde", 12, seed=0) != draw_orders("abcde", 12, seed=1)


def test_fixed_strategies() -> None:
    assert draw_orders("abc", 12, "documented") == (("a", "b", "c"),)
    assert draw_orders("abc", 12, "reversed") == (("c", "b", "a"),)


@given(KEYS, st.integers(1, 5), st.integers(0, 5))
def test_orders_of_table_2(keys: list[str], limit: int, seed: int) -> None:
    """``shuffled-once`` is another order if there is one; ``aggregated`` has all three without repetition."""
    documented, backwards = tuple(keys), tuple(reversed(keys))
    [once] = draw_orders(keys, limit, "shuffled-once", seed)
    assert sorted(once) == sorted(keys)
    assert (once == documented) == (len(keys) < 2)
    assert draw_orders(keys, limit, "aggregated", seed) == tuple(dict.fromkeys([documented, backwards, once]))[:limit]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one(limit: int) -> None:
    with pytest.raises(ToolDecodingError, match="order_limit must be 1 or more"):
        draw_orders("abc", limit)


def test_an_unknown_scheme() -> None:
    with pytest.raises(ToolDecodingError, match="known: shuffled"):
        draw_orders("abc", 3, "sorted")  # type: ignore[arg-type]
