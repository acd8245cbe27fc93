"""Grammars of schemas allow what jsonschema allows, in every notation, and never write anything else."""

import itertools
import json
import random
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lookup.dictionary import ParameterSpec, ValueType
from lookup.errors import DocumentationError
from lookup.literals.literal_reader import parse_literal
from lookup.schema.check import SchemaError
from lookup.schema.document import Document
from lookup.schema.value_schema import ValueSchema, value_schema
from lookup.values.grammar import ValueGrammar, schema_grammar, value_grammar
from lookup.values.literal_values import read_value
from lookup.values.notations import BareKeys, Notation, RawText
from voting import check_value

NOTATIONS: list[Notation] = [
    "python",
    "quoted",
    "json",
    "python-lists",
    "python-json",
    RawText("\n</parameter>"),
    RawText("</P>", " string=T>", " string=F>"),
    RawText("\U000f0003"),
    BareKeys("<|q|>"),
]
NAMES = ["a", "b", "ab", "x-1", "é"]
Schema = dict[str, Any]

SMALL = st.integers(0, 3)
TEXTS: st.SearchStrategy[Schema] = st.one_of(
    st.fixed_dictionaries({"type": st.just("string")}, optional={"minLength": SMALL, "maxLength": st.integers(2, 6)}),
    st.sampled_from(["^a+b?$", "[0-9]{2}", "^(?:é|x)\\s", "^[^a]*$", "b$|^a"]).map(
        lambda p: {"type": "string", "pattern": p}
    ),
    st.sampled_from(["date", "ipv4", "uuid"]).map(lambda f: {"type": "string", "format": f}),
)
NUMBERS: st.SearchStrategy[Schema] = st.fixed_dictionaries(
    {"type": st.sampled_from(["integer", "number"])},
    optional={
        "minimum": st.integers(-20, 20),
        "exclusiveMaximum": st.integers(0, 300),
        "multipleOf": st.sampled_from([1, 2, 5, 0.5]),
    },
)
_MEMBERS = st.sampled_from(["a", "ab", 1, 2.5, True, None])
ENUMS: st.SearchStrategy[Schema] = st.lists(_MEMBERS, min_size=1, max_size=3).map(lambda members: {"enum": members})


def lists(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner},
        optional={
            "minItems": SMALL,
            "maxItems": st.integers(1, 4),
            "uniqueItems": st.booleans(),
            "prefixItems": st.lists(inner, max_size=2),
        },
    )


def objects(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    names = st.lists(st.sampled_from(NAMES), max_size=2)
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)},
        optional={
            "required": names,
            "additionalProperties": st.one_of(st.booleans(), inner),
            "patternProperties": st.dictionaries(st.sampled_from(["^x-", "b$"]), inner, max_size=1),
            "minProperties": st.integers(0, 2),
            "maxProperties": st.integers(1, 4),
            "propertyNames": st.just({"maxLength": 3}),
            "dependentRequired": st.dictionaries(st.sampled_from(NAMES), names, max_size=1),
        },
    )


def combined(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        several.map(lambda members: {"anyOf": members}),
        several.map(lambda members: {"oneOf": members}),
        several.map(lambda members: {"allOf": members}),
        inner.map(lambda member: {"not": member}),
        st.tuples(inner, inner, inner).map(lambda three: dict(zip(("if", "then", "else"), three, strict=True))),
    )


SCHEMAS = st.recursive(
    st.one_of(TEXTS, NUMBERS, ENUMS, st.just({"type": "boolean"}), st.just({})),
    lambda inner: st.one_of(lists(inner), objects(inner), combined(inner)),
    max_leaves=5,
)
VALUES = st.recursive(
    st.one_of(
        st.sampled_from(["", "a", "ab", "b", "aab", "12", "é x", "2024-02-29", "1.2.3.4"]),
        st.integers(-30, 310),
        st.sampled_from([0.5, 2.5, -1.5]),
        st.booleans(),
        st.none(),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from([*NAMES, "c"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def documented(schema: Schema) -> ValueSchema:
    """A schema as the documentation of a tool."""
    return value_schema(schema, Document(schema, documentation=True))


def judge(schema: Schema) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())


def grammar_of(allowed: ValueSchema, notation: Notation = "json") -> ValueGrammar:
    """The grammar; the example is dropped if the allowed allows nothing that the notation can write."""
    try:
        return schema_grammar(allowed, notation)
    except DocumentationError:
        assume(False)
        raise AssertionError from None


def written(grammar: ValueGrammar, seed: int, letters: str) -> str:
    """A literal that is written at random, then closed."""
    chooser = random.Random(seed)
    text = grammar.opener
    for _ in range(chooser.randrange(40)):
        possible = [c for c in letters if grammar.possible(text + c)]
        if not possible:
            break
        text += chooser.choice(possible)
    return text + grammar.close(text)


@given(SCHEMAS, VALUES)
@settings(max_examples=400)
def test_the_check_agrees_with_jsonschema(schema: Schema, value: Any) -> None:
    try:
        value_schema(schema).check(value)
        allowed = True
    except SchemaError:
        allowed = False
    assert allowed == judge(schema).is_valid(value)


@given(SCHEMAS, VALUES)
@settings(max_examples=400)
def test_the_grammar_agrees_with_jsonschema(schema: Schema, value: Any) -> None:
    allowed = value_schema(schema)
    valid = judge(schema).is_valid(value)
    try:
        grammar = schema_grammar(allowed, "json")
    except DocumentationError:
        assert not valid
        return
    complete = grammar.complete(json.dumps(value, ensure_ascii=False))
    assert complete == valid or (allowed.notes and complete)


@pytest.mark.parametrize("notation", NOTATIONS, ids=str)
@given(schema=SCHEMAS, seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_every_notation_writes_what_the_schema_allows(notation: Notation, schema: Schema, seed: int) -> None:
    allowed = documented(schema)
    assume(not allowed.unsatisfiable)
    spec = ParameterSpec("x", ValueType("any"), "", True, schema=allowed)
    try:
        grammar = value_grammar(spec, notation)
    except DocumentationError:
        assume(False)
        raise
    text = written(grammar, seed, "{}[]()\"', :-.0123456789abx-éNonetruefalslTF<|q>/P=sig\n\\")
    assert grammar.complete(text)
    if isinstance(notation, str) and notation != "quoted" and not allowed.notes:
        value = read_value(text, spec, notation)
        assert judge(schema).is_valid(json.loads(json.dumps(value))), text
        check_value(value, spec)


@pytest.mark.parametrize("notation", NOTATIONS, ids=str)
@pytest.mark.parametrize("pattern", ["^a+b?$", "^x+$", "^[ab]{3}$", "^é|ü+$"])
def test_items_that_must_differ_are_found_in_every_language(notation: Notation, pattern: str) -> None:
    items = {"type": "string", "pattern": pattern}
    allowed = documented({"type": "array", "items": items, "minItems": 5, "uniqueItems": True})
    grammar = schema_grammar(allowed, notation)
    assert grammar.complete(grammar.close("")) and grammar.complete(grammar.opener + grammar.close(grammar.opener))


@given(SCHEMAS, st.integers(0, 2**32))
@settings(max_examples=300)
def test_what_is_written_is_valid_and_every_beginning_of_it_can_be_closed(schema: Schema, seed: int) -> None:
    allowed = value_schema(schema)
    grammar = grammar_of(allowed)
    text = written(grammar, seed, '{}[]", :-.0123456789abx-éntruefalsl\\')
    assert allowed.notes or judge(schema).is_valid(json.loads(text)), text
    for end in range(len(grammar.opener), len(text) + 1):
        assert grammar.possible(text[:end])
        assert grammar.complete(text[:end] + grammar.close(text[:end]))


UNEVALUATED: list[Schema] = [
    schema
    for word, whole, some in (
        ("unevaluatedProperties", "additionalProperties", {"properties": {"a": {"type": "string"}}}),
        ("unevaluatedItems", "items", {"prefixItems": [{"type": "string"}]}),
    )
    for schema in (
        {"allOf": [{word: True}], word: False},
        {"allOf": [{word: {"type": "string"}}], word: False},
        {"allOf": [{"allOf": [{word: True}]}], word: False},
        {"allOf": [{whole: {"type": "string"}}], word: False},
        {"allOf": [some], word: False},
        {"anyOf": [some, {word: True}], word: False},
        {"if": some, "then": {word: True}, word: False},
        {"not": some, word: False},
        {**some, "allOf": [{word: {"type": "integer"}}], word: False},
    )
]
CONTAINS: list[Schema] = [
    {"contains": {"type": "string"}, "unevaluatedItems": False},
    {"contains": {"type": "string"}, "unevaluatedItems": {"type": "integer"}},
    {"contains": {"type": "string"}, "minContains": 0, "unevaluatedItems": False},
    {"allOf": [{"contains": {"type": "string"}}], "prefixItems": [True], "unevaluatedItems": False},
]
SMALL_VALUES: list[Any] = [
    *({key: value for key, value in zip("ab", pair, strict=True) if value is not None}
      for pair in itertools.product(("s", 1, None), repeat=2)),
    *(list(items) for size in range(4) for items in itertools.product(("s", 1, None), repeat=size)),
]  # fmt: skip


@pytest.mark.parametrize("schema", [*UNEVALUATED, *CONTAINS], ids=json.dumps)
def test_what_other_schemas_name_is_evaluated(schema: Schema) -> None:
    allowed = value_schema(schema)
    for value in SMALL_VALUES:
        valid = judge(schema).is_valid(value)
        assert allowed.allows(value) == valid, value
        complete = not allowed.unsatisfiable and schema_grammar(allowed, "json").complete(json.dumps(value))
        assert complete == valid or (complete and allowed.notes), value


NEVER = {"type": "string", "minLength": 5, "maxLength": 2}
WHOLE = {"type": "integer"}


@pytest.mark.parametrize(
    "words",
    [
        {"additionalProperties": NEVER},
        {"additionalProperties": {"type": "object", "additionalProperties": NEVER, "minProperties": 1}},
        {"additionalProperties": NEVER, "properties": {"a": WHOLE}, "minProperties": 1, "maxProperties": 3},
        {"additionalProperties": NEVER, "properties": {"a": WHOLE}, "patternProperties": {"^a": {"type": "string"}}},
        {"additionalProperties": NEVER, "patternProperties": {"^x": WHOLE}, "minProperties": 3},
        {"additionalProperties": WHOLE, "patternProperties": {"^x": NEVER, "0$": {"type": "integer", "minimum": 3}}},
        {"additionalProperties": False, "patternProperties": {"^x": WHOLE, "0$": NEVER}},
        {"additionalProperties": WHOLE, "patternProperties": {"^x": NEVER}, "propertyNames": {"pattern": "^x"}},
        {"additionalProperties": WHOLE, "patternProperties": {"a": NEVER}, "propertyNames": {"enum": ["a", "b"]}},
        {"propertyNames": NEVER},
        {"properties": {"a": {"type": "object", "additionalProperties": NEVER}}, "required": ["a"]},
    ],
    ids=json.dumps,
)
@pytest.mark.parametrize("notation", ["json", "python"])
def test_a_key_is_only_begun_if_its_value_can_be_written(words: Schema, notation: Notation) -> None:
    schema = {"type": "object", **words}
    grammar = schema_grammar(value_schema(schema), notation)
    for seed in range(40):
        text = written(grammar, seed, "{'\"x0ab: }")
        assert judge(schema).is_valid(parse_literal(text)), text


TRUTH: Schema = {"type": "boolean"}
ONE_OR_TWO: Schema = {"enum": [1, 2]}


@pytest.mark.parametrize(
    ("words", "most"),
    [
        ({"items": TRUTH}, 2),
        ({"items": {"enum": [1, 1.0, "a"]}}, 2),
        ({"items": {"const": None}}, 1),
        ({"items": {"type": ["boolean", "null"]}}, 3),
        ({"items": {"type": "number", "minimum": 1, "maximum": 3, "multipleOf": 1}}, 3),
        ({"items": {"type": "string", "pattern": "^[ab]$"}}, 2),
        ({"items": ONE_OR_TWO, "prefixItems": [{"const": 1}]}, 2),
        ({"items": {"enum": [1, 2, 3]}, "prefixItems": [{"const": 1}, ONE_OR_TWO]}, 3),
        ({"items": False, "prefixItems": [ONE_OR_TWO, ONE_OR_TWO, ONE_OR_TWO]}, 2),
    ],
    ids=str,
)
def test_a_list_that_needs_more_different_items_than_there_are_is_refused(words: Schema, most: int) -> None:
    for least in (most, most + 1):
        schema = {"type": "array", **words, "uniqueItems": True, "minItems": least}
        around = {"type": "object", "properties": {"k": schema}, "required": ["k"]}
        assert value_schema(schema).unsatisfiable == value_schema(around).unsatisfiable == (least > most)
    assert not schema_grammar(value_schema({**schema, "minItems": most}), "json").complete("[]")


OBJECTS: list[tuple[Schema, bool]] = [
    ({"additionalProperties": NEVER, "minProperties": 1}, True),
    ({"additionalProperties": NEVER, "minProperties": 2, "properties": {"a": WHOLE}}, True),
    ({"additionalProperties": False, "minProperties": 1, "patternProperties": {"^x": NEVER}}, True),
    ({"minProperties": 1, "propertyNames": NEVER}, True),
    ({"minProperties": 3, "propertyNames": {"enum": ["a", "b"]}}, True),
    ({"minProperties": 2, "propertyNames": {"enum": ["a", "b"]}, "patternProperties": {"a": NEVER}}, True),
    ({"additionalProperties": {"$ref": "#"}, "minProperties": 1}, True),
]
CONTAINED: list[tuple[Schema, bool]] = [
    ({"contains": WHOLE, "items": {"type": "string"}, "minContains": 0}, False),
    ({"contains": WHOLE, "minContains": 2, "maxItems": 1}, True),
    ({"contains": {"const": 1}, "uniqueItems": True}, False),
    ({"contains": WHOLE, "prefixItems": [{"type": "string"}, WHOLE], "items": False}, False),
]


@pytest.mark.parametrize(("kind", "words", "unsatisfiable"), [
    *(("object", *row) for row in OBJECTS), *(("array", *row) for row in CONTAINED)
], ids=str)  # fmt: skip
def test_what_no_value_can_obey_has_no_grammar(kind: str, words: Schema, unsatisfiable: bool) -> None:
    found = value_schema({"type": kind, **words})
    assert found.unsatisfiable == unsatisfiable
    if unsatisfiable:
        with pytest.raises(DocumentationError):
            schema_grammar(found, "json")


@pytest.mark.parametrize("free", [False, {"type": "integer"}], ids=str)
def test_an_object_that_needs_a_key_and_may_contain_itself_has_a_shortest_value(free: Any) -> None:
    own: Schema = {"a": {"$ref": "#"}, "b": {"type": "array", "items": {"$ref": "#"}, "minItems": 2}}
    plain: Schema = {} if free else {"zz": {"type": "integer"}}
    schema = {"type": "object", "properties": {**own, **plain}, "minProperties": 1, "additionalProperties": free}
    text = schema_grammar(value_schema(schema), "json").close("")
    assert judge(schema).is_valid(json.loads(text)) and "a" not in json.loads(text)
