"""Literals: the union of JSON and Python, strict JSON as json reads it, Gemma's bare keys; exact offsets, bounds."""

import ast
import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookup import LiteralError, parse_literal, read_literal
from lookup.literals.literal_reader import MAX_DEPTH, parse_key
from lookup.literals.syntaxes import JSON, PYTHON_OR_JSON, LiteralSyntax, bare_keys, render_bare, render_json

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

    def finite(written: str) -> float:
        return number if math.isfinite(number := float(written)) else refused(written)

    return json.loads(text, object_pairs_hook=unique, parse_constant=refused, parse_float=finite)


@given(VALUES, SOUP, st.integers(0, 60))
@settings(max_examples=150)
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


@pytest.mark.parametrize("syntax", [JSON, BARE, PYTHON_OR_JSON])
@given(SOUP)
@settings(max_examples=200)
@pytest.mark.filterwarnings("ignore")  # Python warns about invalid escapes
def test_any_text_gives_a_value_or_an_error_at_an_offset(syntax: LiteralSyntax, text: str) -> None:
    try:
        value, end = read_literal(text, 0, syntax)
    except LiteralError as error:
        assert 0 <= error.position <= len(text) and error.expected
        return
    assert 0 < end <= len(text)
    assert repr(parse_literal(text[:end], syntax)) == repr(value)
    with contextlib.suppress(ValueError, SyntaxError):
        assert syntax is BARE or value == ast.literal_eval(text[:end].strip())


@given(PYTHON_VALUES)
def test_what_repr_writes_is_read(value: Any) -> None:
    assert read_literal(f"x={value!r} tail", 2) == (value, 2 + len(repr(value)))
    with pytest.raises(LiteralError):
        read_literal(f"x= {value!r}", 2)


@pytest.mark.parametrize(
    ("syntax", "texts"),
    [
        (JSON, ["(1,)", '{"a"}', "{1: 2}", "[1,]", '{"a": 1,}', "True", "'a'", '"""a"""', "+1", ".5", "1.", '"\t"',
                r'"\x41"', r'"\d"', r'"\7"', "[1,\f2]", "NaN", "1e999", '{"a":1,"a":2}']),
        (BARE, ['"a"', "[1, 2]", "{a: 1}", " 1", "{a:1,a:2}", "{a:1,}", "[1,]", "{:1}", "{<q>a<q>:1}", "{a}", "<q>a",
                "-Infinity", "True", "{a b:1}"]),
    ],
)  # fmt: skip
def test_what_a_dialect_refuses(syntax: LiteralSyntax, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(LiteralError):
            parse_literal(text, syntax)


@pytest.mark.parametrize("syntax", [JSON, BARE, PYTHON_OR_JSON])
def test_nesting_and_numbers_are_bounded_and_never_recursive(syntax: LiteralSyntax) -> None:
    for opener, closer in (("[", "]"), ("{a:" if syntax is BARE else '{"a":', "}")):
        assert parse_literal(opener * MAX_DEPTH + "1" + closer * MAX_DEPTH, syntax)
        for depth in (MAX_DEPTH + 1, 100_000):
            with pytest.raises(LiteralError, match="levels of nesting") as caught:
                parse_literal(opener * depth, syntax)
            assert caught.value.position == len(opener) * MAX_DEPTH
    assert parse_literal("9" * 640, syntax)
    with pytest.raises(LiteralError, match="640 characters"):
        parse_literal("9" * 641, syntax)
    with pytest.raises(LiteralError, match="at most 1024 keys"):  # of one hash
        parse_literal(f"{{{', '.join(f'{i * (2**61 - 1)}: 0' for i in range(2000))}}}")


def test_keys() -> None:
    read = [parse_key('"a"', JSON), parse_key("'it\\'s'", PYTHON_OR_JSON), parse_key("é-1:", BARE)]
    assert read == ["a", "it's", "é-1"]
    for text in ("a", ":", "a:b:", "a b:"):
        with pytest.raises(LiteralError):
            parse_key(text, BARE)


@pytest.mark.parametrize(
    "text", ["[1, 2,]", '{"a": 1,}', "(1)", "{\n    None\n}", "['it\\'s', 1]", '"""two\nlines"""', r"'\d\x41'"]
)
@pytest.mark.filterwarnings("ignore")  # Python warns about invalid escapes
def test_a_literal_of_python_is_what_python_evaluates(text: str) -> None:
    assert repr(parse_literal(text)) == repr(ast.literal_eval(text))


def test_both_languages_may_be_mixed() -> None:
    assert parse_literal(r'[true, None, "\ud83d\ude00 \x41\t\u00f1\/"]') == [True, None, "😀 A\tñ/"]


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("", 0, "a value"), ("Trueish", 0, "a value"), ("[1 2]", 3, "',' or ']'"), ("[,]", 1, "a value"),
        ("[1", 2, "',' or ']'"), ('{"a" 1}', 5, "':'"), ('{"a": 1 "b": 2}', 8, "',' or '}'"), ('{"a": }', 6, "a value"),
        ('{"a": 1, "b"}', 12, "':'"), ('{"a": 1, "a": 2}', 9, "a key that is not there yet"),
        ("{[1]: 2}", 1, "key or set member"), ('"abc', 4, 'a closing "'), ("'a\nb'", 2, "a closing '"),
        (r'"\u12"', 3, "4 hexadecimal digits"), ("[-Infinity]", 1, "a finite number"), ("1e999", 0, "a finite number"),
        ("01", 1, "the end of the number"), ("12ab", 2, "the end of the number"), ("1 2", 2, "the end of the literal"),
    ],
)  # fmt: skip
def test_errors_give_the_offset_and_what_was_expected(text: str, position: int, expected: str) -> None:
    with pytest.raises(LiteralError) as caught:
        parse_literal(text)
    assert caught.value.position == position and expected in caught.value.expected
