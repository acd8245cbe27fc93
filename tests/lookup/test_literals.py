"""Literals: the union of JSON and Python, strict JSON as json reads it, Gemma's bare keys; exact offsets, bounds."""

import ast
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookup import LiteralError, parse_literal, read_literal
from lookup.literals.dialects import JSON, PYTHON_OR_JSON, Dialect, bare_keys
from lookup.literals.literal_reader import MAX_DEPTH, parse_key
from lookup.literals.literal_writer import render_bare, render_json

MARK = "<q>"
BARE = bare_keys(MARK)
NAMES = st.text(st.sampled_from("abé年-_1"), min_size=1, max_size=4)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6).filter(lambda text: MARK[0] not in text)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(PLAIN | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner), max_leaves=12)
PIECES = [*"{}[](),:'\"\\ \n\t\f\x01\x7f012-.eua", "true", "null", "None", "NaN", '"a"', '"b": ', "a:", "\\u00e9", MARK]
SOUP = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
PYTHON_VALUES = st.recursive(
    PLAIN | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.none(), inner)
        | st.sets(st.text() | st.integers(), min_size=1)
    ),
    max_leaves=20,
)


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


def same(left, right):
    """Equal values of equal types: int, float and bool differ."""
    return repr(left) == repr(right) or (isinstance(left, set) and left == right)


@given(PYTHON_VALUES)
def test_reads_what_repr_writes(value):
    text = repr(value)
    found, end = read_literal(f"{text} tail")
    assert found == value
    assert end == len(text)


@given(st.text(alphabet="{}[](),:'\"0123abn\\. "))
@settings(max_examples=500)
@pytest.mark.filterwarnings("ignore")  # Python warns about invalid escapes
def test_agrees_with_ast_where_both_read(text):
    try:
        value = parse_literal(text)
    except LiteralError:
        return
    try:
        expected = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return
    assert value == expected or (math.isnan(expected) if isinstance(expected, float) else False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, 2,]", [1, 2]),
        ('{"a": 1,}', {"a": 1}),
        ("()", ()),
        ("(1)", 1),
        ("(1,)", (1,)),
        ("{}", {}),
        ("{\n    None\n}", {None}),
        ("'it\\'s'", "it's"),
        ('"a\\/b"', "a/b"),
        (r'"\ud83d\ude00 \x41\t\u00f1"', "😀 A\tñ"),
        (r"'\d'", "\\d"),
        ('"""two\nlines"""', "two\nlines"),
        ("-1.5e-3", -0.0015),
        ("true", True),
        ("None", None),
    ],
)
def test_values(text, value):
    assert same(parse_literal(text), value)


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("", 0, "a value"),
        ("foo", 0, "a value"),
        ("Trueish", 0, "a value"),
        ("[1 2]", 3, "',' or ']'"),
        ("[,]", 1, "a value"),
        ("[1", 2, "',' or ']'"),
        ('{"a" 1}', 5, "':'"),
        ('{"a": 1 "b": 2}', 8, "',' or '}'"),
        ('{"a": 1, "b"}', 12, "':'"),
        ('{"a": }', 6, "a value"),
        ('{"a": 1, "a": 2}', 9, "a key that is not there yet"),
        ("{[1]: 2}", 1, "key or set member"),
        ('"abc', 4, 'a closing "'),
        ("'a\nb'", 2, "a closing '"),
        (r'"\u12"', 3, "4 hexadecimal digits"),
        ("NaN", 0, "a finite number"),
        ("[-Infinity]", 1, "a finite number"),
        ("1e999", 0, "a finite number"),
        ("9" * 5000, 0, "640 characters"),
        ("01", 1, "the end of the number"),
        ("12ab", 2, "the end of the number"),
        ("1 2", 2, "the end of the literal"),
        ("[" * 65 + "]" * 65, 64, "at most 64 levels"),
        ('{"a":' * 100_000, 320, "at most 64 levels"),
    ],
)
def test_errors_give_the_offset_and_what_was_expected(text, position, expected):
    with pytest.raises(LiteralError) as caught:
        parse_literal(text)
    assert caught.value.position == position
    assert expected in caught.value.expected


def test_starts_exactly_at_the_position():
    assert read_literal("x='a' y", 2) == ("a", 5)
    with pytest.raises(LiteralError):
        read_literal("x= 'a'", 2)


def test_numbers_of_equal_hash_are_bounded():
    twins = ", ".join(f"{i * (2**61 - 1)}: 0" for i in range(2000))
    with pytest.raises(LiteralError, match="at most 1024 keys"):
        parse_literal(f"{{{twins}}}")
