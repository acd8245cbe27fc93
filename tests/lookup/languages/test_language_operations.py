"""Operations on languages are operations on sets of texts; lengths are counted exactly."""

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language_strategies import PATTERNS, Pattern, holds

from lookup.languages.language import ANY_TEXT, Language, any_of, pattern_language
from lookup.languages.limits import TooLarge

SHORT = ["".join(letters) for length in range(5) for letters in product("ab1", repeat=length)]
LENGTHS = st.tuples(st.integers(0, 4), st.none() | st.integers(0, 4))


class Built(NamedTuple):
    """A language, and which texts it should have."""

    language: Language
    has: Callable[[str], bool]


def plain(pattern: Pattern) -> Built:
    return Built(pattern_language(pattern.ecma), pattern.finds)


def counted(built: Built, length: tuple[int, int | None]) -> Built:
    least, most = length
    return Built(
        built.language.with_length(least, most),
        lambda text: built.has(text) and least <= len(text) and (most is None or len(text) <= most),
    )


def both(one: Built, two: Built) -> Built:
    return Built(one.language.both(two.language), lambda text: one.has(text) and two.has(text))


def either(one: Built, two: Built) -> Built:
    return Built(one.language.either(two.language), lambda text: one.has(text) or two.has(text))


def outside(one: Built) -> Built:
    return Built(one.language.outside(), lambda text: not one.has(text))


BUILT = st.recursive(
    PATTERNS.map(plain) | st.sets(st.sampled_from(SHORT)).map(lambda texts: Built(any_of(texts), texts.__contains__)),
    lambda inner: st.one_of(
        st.builds(counted, inner, LENGTHS),
        st.builds(both, inner, inner),
        st.builds(either, inner, inner),
        st.builds(outside, inner),
    ),
    max_leaves=5,
)


@given(BUILT)
def test_operations_are_operations_on_sets(built: Built) -> None:
    language = built.language
    assert [text for text in SHORT if holds(language, text) != built.has(text)] == []
    if language.is_empty:
        assert language.members(1) == ()


@given(BUILT, st.sampled_from(SHORT))
def test_a_live_state_can_end_and_no_other_is_live(built: Built, text: str) -> None:
    language = built.language
    state = language.run(language.start, text) if not language.is_empty else None
    if state is None:
        assert not any(built.has(one) for one in SHORT if one.startswith(text))
        return
    rest = language.rest(state)
    assert holds(language, text + rest)
    assert len(rest) <= language.longest_rest
    assert all(len(one) - len(text) >= len(rest) for one in SHORT if one.startswith(text) and built.has(one))
    assert {one for one in "ab1" if language.step(state, one) is not None} == set(language.letters(state)) & set("ab1")


@given(BUILT)
def test_members_are_all_texts(built: Built) -> None:
    members = built.language.members(30)
    if members is None:
        return
    assert len(set(members)) == len(members) <= 30
    assert {text for text in members if text in SHORT} == {text for text in SHORT if built.has(text)}
    assert all(holds(built.language, text) for text in members)
    assert built.language.members(len(members)) == members
    if members:
        assert built.language.members(len(members) - 1) is None


@given(st.sets(st.text(max_size=4), max_size=8))
def test_any_of_has_its_texts(texts: set[str]) -> None:
    clean = {text for text in texts if not any("\ud800" <= one <= "\udfff" for one in text)}
    assert set(any_of(texts).members(20) or ()) == clean


@pytest.mark.parametrize("pattern", ["", "^[a-z]", "^(?:ab)*$", "^(?:aa|bbbbb)*c$", "^(?:a{7}|b{11})+$"])
@pytest.mark.parametrize("most", [40, 5_000, 1_000_000])
def test_lengths_are_counted(pattern: str, most: int) -> None:
    limited = pattern_language(pattern).with_length(33, most)
    rest = limited.rest(limited.start)
    assert 33 <= len(rest) <= min(most, limited.longest_rest)
    assert holds(limited, rest)


def test_a_counted_prefix_is_live_only_if_a_length_fits() -> None:
    assert pattern_language("^a{2,3}$").with_length(1, 5).members(5) == ("aa", "aaa")
    assert ANY_TEXT.with_length(3, 2).is_empty
    language = pattern_language("^(?:aaaa|bbbbbb)*$").with_length(9, 9)
    assert language.is_empty
    language = pattern_language("^(?:aaaa|bbbbbbb)*$").with_length(9, 11)
    assert language.members(5) == ("aaaabbbbbbb", "bbbbbbbaaaa")
    assert language.run(language.start, "aaaaa") is None


def test_an_intersection_that_is_too_much_work_is_refused() -> None:
    one, two = (pattern_language(f"^(?:[ab]*{letter}[ab]{{12}}|c)$") for letter in "ab")
    with pytest.raises(TooLarge):
        one.outside().both(two.outside()).both(pattern_language("^[ab]{97}c?$")).outside().both(one.either(two))
        pattern_language("^(?:[ab]{7})*$").both(pattern_language("^(?:[ab]{11})*c$")).both(one).both(two)
