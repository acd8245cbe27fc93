"""read_literal: the union of JSON and Python literals, exact error offsets, no crash on any text."""

import ast
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookup import LiteralError, parse_literal, read_literal

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON_VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)
PYTHON_VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.none(), inner)
        | st.sets(st.text() | st.integers(), min_size=1)
    ),
    max_leaves=20,
)


def same(left, right):
    """Equal values of equal types: int, float and bool differ."""
    return repr(left) == repr(right) or (isinstance(left, set) and left == right)


@given(PYTHON_VALUES)
def test_reads_what_repr_writes(value):
    text = repr(value)
    found, end = read_literal(f"{text} tail")
    assert found == value
    assert end == len(text)


@given(JSON_VALUES, st.sampled_from([None, 4]), st.booleans())
def test_reads_what_json_writes(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert same(parse_literal(f" {text}\n"), json.loads(text))


@given(st.text() | st.text(alphabet="{}[](),:'\"\\ntrueNoe01.-x \n"))
@settings(max_examples=500)
def test_any_text_gives_a_value_or_a_literal_error(text):
    try:
        value, end = read_literal(text)
    except LiteralError as error:
        assert 0 <= error.position <= len(text)
        assert error.expected
    else:
        assert 0 < end <= len(text)
        assert same(parse_literal(text[:end]), value)


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


def test_depth_limit_itself_is_allowed():
    assert parse_literal("[" * 64 + "]" * 64)


def test_starts_exactly_at_the_position():
    assert read_literal("x='a' y", 2) == ("a", 5)
    with pytest.raises(LiteralError):
        read_literal("x= 'a'", 2)


def test_numbers_of_equal_hash_are_bounded():
    twins = ", ".join(f"{i * (2**61 - 1)}: 0" for i in range(2000))
    with pytest.raises(LiteralError, match="at most 1024 keys"):
        parse_literal(f"{{{twins}}}")
