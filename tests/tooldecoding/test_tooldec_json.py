"""The JSON notation of values: what is rendered reads back, what is admitted is JSON of the type."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookup.dictionary import ParameterSpec, ValueType
from lookup.values.grammar import value_grammar
from lookup.values.literal_values import read_value, render_value
from voting import check_value

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
FLOATS = st.floats(-1e15, 1e15).map(lambda x: round(x, 6))
SCALARS = st.one_of(TEXT, st.integers(-(10**15), 10**15), FLOATS, st.booleans(), st.none())
NESTED = st.recursive(SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(TEXT, v, max_size=3), max_leaves=6)
PAIRS = ValueType("tuple", ValueType("tuple", ValueType("int")))
OBJECT = ValueType(
    "dict",
    properties=(
        ParameterSpec('it\'s "a" key\x01', ValueType("int"), "int", True),
        ParameterSpec("城市", ValueType("str"), "str", False, enum=("a/b", "\x7f")),
        ParameterSpec("both", PAIRS, "tuple", False),
    ),
)
INTEGERS = st.integers(-99, 99)
PAIR_VALUES = st.lists(st.lists(INTEGERS, max_size=2).map(tuple), max_size=3).map(tuple)
TYPED: list[tuple[ValueType, st.SearchStrategy[Any]]] = [
    (ValueType("str"), TEXT),
    (ValueType("int"), st.integers(-(10**17), 10**17)),
    (ValueType("float"), FLOATS),
    (ValueType("bool"), st.booleans()),
    (ValueType("any"), NESTED),
    (ValueType("list", ValueType("any")), st.lists(NESTED, max_size=3)),
    (ValueType("dict"), st.dictionaries(TEXT, NESTED, max_size=3)),
    (PAIRS, PAIR_VALUES),
    (ValueType("any", any_of=(ValueType("int"), PAIRS)), INTEGERS | PAIR_VALUES),
    (
        OBJECT,
        st.fixed_dictionaries(
            {OBJECT.properties[0].name: INTEGERS},  # type: ignore[index]
            optional={"城市": st.sampled_from(["a/b", "\x7f"]), "both": PAIR_VALUES},
        ),
    ),
]
PIECES = st.text('{}[]":, \\u0123456789deab.-+/tfnrlE', max_size=3) | st.sampled_from(
    ['"', '": ', "null", "true", "\\ud83d", "\\ude00", "a/b", "it's \\", '"城市', '"both', "é", "'"]
)


def spec(value_type: ValueType, **fields: Any) -> ParameterSpec:
    return ParameterSpec("x", value_type, "", True, **fields)


@pytest.mark.parametrize(("value_type", "values"), TYPED)
@given(data=st.data())
def test_what_is_rendered_is_json_and_reads_back(
    value_type: ValueType, values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    value = data.draw(values)
    text = render_value(value, "json")
    assert json.loads(text) == json.loads(json.dumps(value))
    assert repr(read_value(text, spec(value_type), "json")) == repr(value)


@pytest.mark.parametrize(("value_type", "values"), TYPED)
@given(data=st.data())
def test_every_value_can_be_written(value_type: ValueType, values: st.SearchStrategy[Any], data: st.DataObject) -> None:
    value = data.draw(values)
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    if value_type is OBJECT:  # its keys have one spelling
        text = render_value(value, "json")
    grammar = value_grammar(spec(value_type), "json")
    assert grammar.complete(text) and all(grammar.possible(text[:end]) for end in range(len(text) + 1))


@pytest.mark.parametrize(("value_type", "values"), TYPED)
@given(data=st.data())
def test_what_the_grammar_admits_is_json_of_the_type(value_type: ValueType, values: Any, data: st.DataObject) -> None:
    grammar = value_grammar(spec(value_type), "json")
    text = ""
    for piece in data.draw(st.lists(PIECES, max_size=12)):
        if grammar.possible(text + piece):
            text += piece
    text += grammar.close(text)
    read = read_value(text, spec(value_type), "json")
    assert json.loads(json.dumps(read)) == json.loads(text)
    json.dumps(read, ensure_ascii=False).encode()  # no half of a surrogate pair
    assert check_value(read, spec(value_type)) == read


def test_members_and_defaults_keep_their_python_type() -> None:
    pair = spec(ValueType("any"), enum=((1, 2), "None", None, True))
    grammar = value_grammar(pair, "json")
    assert grammar.choices == ("[1, 2]", '"None"', "null", "true")
    assert [read_value(text, pair, "json") for text in grammar.choices] == [(1, 2), "None", None, True]
    default = spec(ValueType("int"), default=(1, 2))
    assert value_grammar(default, "json").complete("[1, 2]") and read_value("[1, 2]", default, "json") == (1, 2)
    nullable = spec(replace(ValueType("int"), nullable=True))
    assert value_grammar(nullable, "json").complete("null") and read_value("null", nullable, "json") is None


@pytest.mark.parametrize(
    ("value_type", "text"),
    [
        (ValueType("str"), "'a'"), (ValueType("str"), '"\\x41"'), (ValueType("str"), '"\\\'"'),
        (ValueType("str"), '"\\ud800"'), (ValueType("str"), '"\\udc00"'), (ValueType("str"), '"a\nb"'),
        (ValueType("bool"), "True"), (ValueType("any"), "None"), (ValueType("any"), "(1, 2)"),
        (ValueType("int"), "01"), (ValueType("float"), "1."), (ValueType("float"), "NaN"), (ValueType("list"), "[1,]"),
        (ValueType("dict"), "{1: 2}"),
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused(value_type: ValueType, text: str) -> None:
    assert not value_grammar(spec(value_type), "json").complete(text)


def test_objects_in_a_tuple_have_their_keys() -> None:
    grammar = value_grammar(spec(ValueType("tuple", OBJECT)), "json")
    assert grammar.possible("[{") and not grammar.possible("[{}")
