"""The evaluator's reader: same results as its two regular expressions, in linear time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.benchmarks.api_bank.parser import get_api_call, parse_arguments
from growth import assert_linear

# SCORING.md, "parser"
CALL = re.compile(r"\[(\w+)\((.*)\)\]")
ARGUMENT = re.compile(r"(\w+)\s*=\s*['\"](.+?)['\"]|(\w+)\s*=\s*(\[.*\])|(\w+)\s*=\s*(\w+)")

PIECES = st.lists(
    st.sampled_from(["[", "]", "(", ")", ")]", "[F(", "'", '"', "=", ", ", " ", "\n", "\t", "a", "b1", "-"])
)
LINES = st.one_of(PIECES.map("".join), st.text(alphabet="[]()'\"=, \n\tab\x85\u2028é-_"))


def by_regex(arguments: str) -> dict[str, str]:
    found = {}
    for match in ARGUMENT.finditer(arguments):
        key, value = (g for g in match.groups() if g is not None)
        found[key] = value
    return found


@given(LINES)
def test_the_call_is_the_one_that_the_official_expression_finds(text: str) -> None:
    match = CALL.search(text)
    assert get_api_call(text) == (match.groups() if match else None)


@given(LINES.map(lambda text: text.replace("\n", "")))
def test_arguments_are_those_that_the_official_expression_finds(text: str) -> None:
    assert list(parse_arguments(text).items()) == list(by_regex(text).items())


@pytest.mark.parametrize(
    "text",
    ["F(a='1')", "[ F(a='1')]", "[F (a='1')]", "[f.F(a='1')]", "[F(a='1') ]", "[F(a='1',\nb='2')]", "", "[F()"],
)
def test_these_are_no_calls(text: str) -> None:
    assert get_api_call(text) is None


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ("a='it's'", {"a": "it"}),
        ("a='', b='y'", {"a": "', b="}),
        ("a='1', a='2'", {"a": "2"}),
        ("a=1.5, b=2023-01-01, c=-5", {"a": "1", "b": "2023"}),
        ("a=[1],b=[2]", {"a": "[1],b=[2]"}),
        ("a=['x', 'y']", {"a": "['x', 'y']"}),
        ("a='[\"x\"]'", {"a": "["}),
        ("a-b='x', 'positional'", {"b": "x"}),
        ("a={'k': 'v'}, b = 'x'", {"b": "x"}),
    ],
)
def test_values_end_where_the_official_reader_ends_them(arguments: str, found: dict[str, str]) -> None:
    assert parse_arguments(arguments) == found


def test_prose_around_and_a_second_call_on_the_line() -> None:
    assert get_api_call("Sure: [F(a='1')], then [G(b='2')] done") == ("F", "a='1')], then [G(b='2'")


@pytest.mark.parametrize("piece", ["[", "[F(", "[a", "a", "a=", "a='", "a = ", "a=[", ")]", "a=''", " ", "'", "a=[]"])
def test_time_is_linear(piece: str) -> None:
    def read(text: str) -> None:
        get_api_call(text)
        parse_arguments(text)

    assert_linear(read, lambda n: piece * n, 40_000)
