"""Dialects of literals: strict JSON is json's, bare keys are Gemma's, and both keep the bounds of every literal."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookup.errors import LiteralError
from lookup.literals.dialects import JSON, PYTHON_OR_JSON, Dialect, bare_keys
from lookup.literals.literal_reader import MAX_DEPTH, parse_key, parse_literal, read_literal
from lookup.literals.literal_writer import render_bare, render_json

MARK = "<q>"
BARE = bare_keys(MARK)
NAMES = st.text(st.sampled_from("abé年-_1"), min_size=1, max_size=4)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6).filter(lambda text: MARK[0] not in text)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner), max_leaves=12)
PIECES = [*"{}[](),:'\"\\ \n\t\f\x01\x7f012-.eua", "true", "null", "None", "NaN", '"a"', '"b": ', "a:", "\\u00e9", MARK]
SOUP = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def reference(text: str) -> Any:
    """What json makes of a text with unique keys and finite numbers; ValueError otherwise."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError(pairs)
        return dict(pairs)

    def refused(name: str) -> None:
        raise ValueError(name)

    return json.loads(text, object_pairs_hook=unique, parse_constant=refused)


@given(VALUES, SOUP, st.integers(0, 60))
@settings(max_examples=500)
def test_strict_json_is_what_json_reads(value: Any, soup: str, place: int) -> None:
    text = render_json(value)
    for written in (text, soup, text[:place] + soup + text[place:]):
        try:
            expected = reference(written.strip())
        except ValueError:
            with pytest.raises(LiteralError):
                parse_literal(written, JSON)
            continue
        assert repr(parse_literal(written, JSON)) == repr(parse_literal(written)) == repr(expected)


@given(VALUES)
def test_bare_keys_read_what_their_writer_writes(value: Any) -> None:
    text = render_bare(value, MARK)
    assert parse_literal(text, BARE) == value
    assert read_literal(f"x{text},", 1, BARE) == (value, 1 + len(text))


@pytest.mark.parametrize("dialect", [JSON, BARE, PYTHON_OR_JSON])
@given(SOUP)
@settings(max_examples=300)
def test_any_text_gives_a_value_or_an_error_at_an_offset(dialect: Dialect, text: str) -> None:
    try:
        value, end = read_literal(text, 0, dialect)
    except LiteralError as error:
        assert 0 <= error.position <= len(text) and error.expected
    else:
        assert 0 < end <= len(text)
        assert repr(parse_literal(text[:end], dialect)) == repr(value)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (JSON, "(1,)"), (JSON, '{"a"}'), (JSON, "{1: 2}"), (JSON, "[1,]"), (JSON, '{"a": 1,}'), (JSON, "True"),
        (JSON, "'a'"), (JSON, '"""a"""'), (JSON, "+1"), (JSON, ".5"), (JSON, "1."), (JSON, '"\t"'), (JSON, r'"\x41"'),
        (JSON, r'"\d"'), (JSON, r'"\7"'), (JSON, "[1,\f2]"), (JSON, "NaN"), (JSON, "1e999"), (JSON, '{"a":1,"a":2}'),
        (BARE, '"a"'), (BARE, "[1, 2]"), (BARE, "{a: 1}"), (BARE, " 1"), (BARE, "{a:1,a:2}"), (BARE, "{a:1,}"),
        (BARE, "[1,]"), (BARE, "{:1}"), (BARE, "{<q>a<q>:1}"), (BARE, "{a}"), (BARE, "<q>a"), (BARE, "-Infinity"),
        (BARE, "True"), (BARE, "{a b:1}"),
    ],
)  # fmt: skip
def test_what_a_dialect_refuses(dialect: Dialect, text: str) -> None:
    with pytest.raises(LiteralError):
        parse_literal(text, dialect)


@pytest.mark.parametrize(("dialect", "opener"), [(JSON, "["), (JSON, '{"a":'), (BARE, "["), (BARE, "{a:")])
def test_nesting_is_bounded_and_never_recursive(dialect: Dialect, opener: str) -> None:
    closer = "]" if opener == "[" else "}"
    assert parse_literal(opener * MAX_DEPTH + "1" + closer * MAX_DEPTH, dialect)
    with pytest.raises(LiteralError, match="levels of nesting"):
        parse_literal(opener * 100_000, dialect)


@pytest.mark.parametrize("dialect", [JSON, BARE])
def test_numbers_are_bounded(dialect: Dialect) -> None:
    assert parse_literal("9" * 640, dialect)
    with pytest.raises(LiteralError, match="640 characters"):
        parse_literal("9" * 641, dialect)


def test_keys() -> None:
    assert [parse_key('"a"', JSON), parse_key("'it\\'s'", PYTHON_OR_JSON), parse_key("é-1:", BARE)] == [
        "a",
        "it's",
        "é-1",
    ]
    for text in ("a", ":", "a:b:", "a b:"):
        with pytest.raises(LiteralError):
            parse_key(text, BARE)
