"""Value grammars: complete and possible agree, literals can be read, and unfinished ones can be closed."""

import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookup.dictionary import MISSING, ParameterSpec, ValueType
from lookup.errors import LiteralError
from lookup.parameters.unions import united
from lookup.values.grammar import ValueGrammar, value_grammar
from lookup.values.literal_values import read_value, render_value
from lookup.values.notations import Notation
from voting import check_value

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "str": TEXT,
    "int": st.integers(-(10**17), 10**17),
    "float": st.floats(-1e15, 1e15).map(lambda x: round(x, 6)),
    "bool": st.booleans(),
}
ANY = st.recursive(
    st.one_of(*SCALARS.values(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3), st.lists(inner, max_size=3).map(tuple)
    ),
    max_leaves=6,
)
VALUES = SCALARS | {
    "list": st.lists(TEXT, max_size=3),
    "dict": st.dictionaries(TEXT, ANY, max_size=3),
    "tuple": st.lists(st.integers(-99, 99), max_size=3).map(tuple),
    "any": ANY,
}
ITEMS = {"list": ValueType("str"), "tuple": ValueType("int")}
NOTATIONS: list[Notation] = ["python", "quoted", "json"]


def with_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: with_lists(item) for key, item in value.items()}
    return [with_lists(item) for item in value] if isinstance(value, list | tuple) else value


def spec(kind: Any, enum: tuple[Any, ...] | None = None) -> ParameterSpec:
    return ParameterSpec("x", ValueType(kind, ITEMS.get(kind)), kind, True, enum=enum)


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data())
def test_what_is_rendered_reads_back(kind: str, notation: Notation, data: st.DataObject) -> None:
    value = data.draw(VALUES[kind])
    if notation == "quoted" and kind == "any":
        value = str(value)
    if notation == "json" and kind in ("any", "dict"):
        value = with_lists(value)  # JSON has no tuples, and none are documented here
    text = render_value(value, notation)
    assert check_value(read_value(text, spec(kind), notation), spec(kind)) == value


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data())
@settings(max_examples=60)
def test_what_the_grammar_admits_is_a_literal_of_the_type(kind: str, notation: Notation, data: st.DataObject) -> None:
    grammar = value_grammar(spec(kind), notation)
    text = grammar.opener
    pieces = st.sampled_from(
        ["a", "'", '"', "\\", "1", "0", "-", ".", "e", ",", " ", ":", "[", "]", "{", "}", "(", ")", "True", "None", "é"]
    )
    for piece in data.draw(st.lists(pieces, max_size=25)):
        if grammar.possible(text + piece):
            text += piece
        assert grammar.possible(text)
        if grammar.complete(text):
            break
    try:
        text += grammar.close(text)
        value = read_value(text, spec(kind), notation)
    except LiteralError as error:
        assert "not there yet" in error.expected or "beginning" in error.expected  # a repeated key in a dict
        return
    assert grammar.complete(text)
    checked = check_value(value, spec(kind))
    assert read_value(render_value(checked, notation), spec(kind), notation) == checked


@pytest.mark.parametrize(
    ("kind", "notation", "beginning"),
    [
        ("str", "python", "'it\\"),
        ("str", "quoted", "'"),
        ("int", "python", "-"),
        ("float", "quoted", "'1e"),
        ("list", "python", "['a', "),
        ("list", "quoted", "'[\"a"),
        ("tuple", "python", "(1"),
        ("dict", "python", "{'a': [1, {'b"),
        ("dict", "quoted", '\'{"a": {'),
        ("any", "python", "Tr"),
        ("any", "python", "\"it's {["),
        ("dict", "python", "{'a': 1, 'a"),
    ],
)
def test_unfinished_literals_can_be_closed(kind: str, notation: Notation, beginning: str) -> None:
    grammar = value_grammar(spec(kind), notation)
    whole = beginning + grammar.close(beginning)
    assert grammar.complete(whole)
    check_value(read_value(whole, spec(kind), notation), spec(kind))


def test_text_that_begins_no_literal_cannot_be_closed() -> None:
    with pytest.raises(LiteralError):
        value_grammar(spec("list"), "python").close("[}")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("int", "1.5"), ("int", "01"), ("int", "'1'"), ("int", "True"), ("int", "1" * 30),
        ("float", "1e999"), ("float", "nan"), ("float", ".5"),
        ("str", "'a\nb'"), ("str", "'\\x41'"), ("str", "'a'b"), ("str", '"a"'),
        ("list", "[1]"), ("list", "['a',]"), ("list", "['a'  , 'b']"), ("tuple", "(1)"),
        ("dict", "{1: 2}"), ("any", "[" * 9 + "]" * 9), ("any", "nul"), ("bool", "true"),
    ],
)  # fmt: skip
def test_refused(kind: str, text: str) -> None:
    assert not value_grammar(spec(kind), "python").complete(text)


def test_enums_decide_alone() -> None:
    strings = value_grammar(spec("bool", ("True", "dontcare")), "python")
    assert strings.choices == ("'True'", "'dontcare'")
    numbers = value_grammar(spec("int", (1, 13)), "python")
    assert numbers.choices is None and numbers.complete("1") and numbers.extendable("1") and not numbers.possible("2")
    assert value_grammar(spec("int", (1, 13)), "quoted").choices == ("'1'", "'13'")
    elements = value_grammar(spec("list", ("a", "b")), "python")
    assert elements.complete("['a', 'b']") and not elements.possible("['c")


def test_free_values_may_have_any_type() -> None:
    free = value_grammar(spec("int", (1, 2)), "python", "free")
    assert free.complete("'many'") and free.complete("7") and free.complete("{'a': None}")


def grow(grammar: ValueGrammar, piece: str, count: int) -> float:
    text = grammar.opener + piece * count
    start = time.process_time()
    grammar.possible(text)
    grammar.complete(text)
    return time.process_time() - start


@pytest.mark.parametrize("piece", ["\\'", "\\\\", "'a', ", "{'a': [1, ", "(1, ", "-", "1", "['', ", "{'a': 1, "])
@pytest.mark.parametrize("kind", ["str", "list", "dict", "tuple", "any", "float"])
def test_matching_takes_linear_time(kind: str, piece: str) -> None:
    grammar = value_grammar(spec(kind), "python")
    grow(grammar, piece, 10)
    short, long = (min(grow(grammar, piece, n) for _ in range(3)) for n in (1500, 6000))
    assert long < 8 * short + 0.02  # quadratic time would give 16


def test_digits_are_ascii() -> None:
    assert not value_grammar(spec("int"), "python").possible("٣")


def keys(inner: st.SearchStrategy[ValueType]) -> st.SearchStrategy[tuple[ParameterSpec, ...]]:
    names = st.sampled_from(["a", "ab", "b", "it's", 'say "a"', "a\\b", "年"])
    enums = st.none() | st.just(("a", 1, "ab"))
    defaults = st.sampled_from([MISSING, None, 0, "a", "ab"])
    spec = st.builds(ParameterSpec, names, inner, st.just(""), st.booleans(), st.just(""), enums, defaults)
    return st.lists(spec, min_size=1, max_size=3, unique_by=lambda p: p.name).map(tuple)


TYPES = st.recursive(
    st.sampled_from([ValueType(k) for k in ("str", "int", "float", "bool", "dict", "any", "list", "tuple")]),
    lambda inner: st.one_of(
        st.builds(ValueType, st.sampled_from(["list", "tuple", "dict"]), inner),
        st.builds(ValueType, st.just("dict"), properties=keys(inner)),
        st.lists(inner, min_size=1, max_size=3).map(united),
        inner.map(lambda t: replace(t, nullable=True)),
    ),
    max_leaves=4,
)
PIECES = [*"ab'\"\\10-.e,: []{}()", "True", "None", "'a': ", '"a": ', "年"]


@pytest.mark.parametrize("notation", NOTATIONS)
@given(value_type=TYPES, enum=st.none() | st.just(("a", None, 2)), default=ANY | st.just(MISSING), data=st.data())
@settings(max_examples=150)
def test_every_beginning_can_be_closed(
    notation: Notation, value_type: ValueType, enum: Any, default: Any, data: st.DataObject
) -> None:
    nested = ParameterSpec("x", value_type, "", True, "", enum, default)
    grammar = value_grammar(nested, notation)
    text = grammar.opener
    for piece in data.draw(st.lists(st.sampled_from(PIECES), max_size=30)):
        if grammar.possible(text + piece):
            text += piece
            whole = text + grammar.close(text)
            assert grammar.complete(whole)
            check_value(read_value(whole, nested, notation), nested)


@pytest.mark.parametrize("notation", NOTATIONS)
@given(members=st.lists(st.one_of(TEXT, st.integers(-9, 99), st.booleans(), st.none()), min_size=1, max_size=4))
def test_every_member_of_an_enum_can_be_written(notation: Notation, members: list[Any]) -> None:
    scalar = spec("str", tuple(members))
    elements = spec("list", tuple(members))
    for member in members:
        text = render_value(member, notation)
        assert value_grammar(scalar, notation).complete(text)
        listed = render_value([member], notation)
        assert value_grammar(elements, notation).complete(listed)
        assert check_value(read_value(listed, elements, notation), elements) == [member]


def object_of(*keys: str, required: tuple[str, ...] = ()) -> ParameterSpec:
    properties = tuple(ParameterSpec(key, ValueType("int"), "int", key in required) for key in keys)
    return ParameterSpec("x", ValueType("dict", properties=properties), "dict", True)


@pytest.mark.parametrize(
    ("keys", "required", "text", "possible"),
    [
        ("a", "", "{}", True), ("a", "a", "{}", False), ("a b", "b", "{'a': 1}", False), ("a b", "b", '{"b": 1}', True),
        ("a", "", "{'a': 1,", False), ("a b", "", "{'a': 1,", True), ("a", "", "{'c", False),
        ("a ab", "", "{'a': 1, 'a", True), ("a ab", "", "{'a': 1, 'a'", False), ("a b", "", "{'a': 1, 'a", False),
        ("a", "", "{'a': 'x'", False), ("a b", "a b", "{'b': 1, 'a': 2}", True),
    ],
)  # fmt: skip
def test_objects_have_their_documented_keys(keys: str, required: str, text: str, possible: bool) -> None:
    spec = object_of(*keys.split(), required=tuple(required.split()))
    assert value_grammar(spec, "python").possible(text) is possible
    quoted = "'" + text.replace("'", '"')
    assert value_grammar(spec, "quoted").possible(quoted) is possible


def test_defaults_and_null_are_written_where_they_are_documented() -> None:
    count = ParameterSpec("x", ValueType("int", nullable=True), "int", False, default="many")
    for value in ("many", None, 3):
        assert value_grammar(count, "python").complete(render_value(value, "python"))
        assert check_value(read_value(render_value(value, "quoted"), count, "quoted"), count) == value
    assert not value_grammar(count, "python").possible("'few")
    assert value_grammar(replace(count, enum=(1, 2)), "python").choices == ("1", "2", "'many'", "None")


@pytest.mark.parametrize(("notation", "beginning"), [("python", "{'i"), ("python", '{"i'), ("quoted", "'{\"it\\")])
def test_a_key_that_is_under_way_is_completed(notation: Notation, beginning: str) -> None:
    spec = object_of("it's", required=("it's",))
    whole = beginning + value_grammar(spec, notation).close(beginning)
    assert check_value(read_value(whole, spec, notation), spec) == {"it's": 0}


def test_a_quoted_null_beside_an_enum_of_texts() -> None:
    unit = ParameterSpec("x", ValueType("str", nullable=True), "str", True, enum=("m",))
    assert value_grammar(unit, "quoted").choices == ("'m'", "'None'")
    assert check_value(read_value("'None'", unit, "quoted"), unit) is None
