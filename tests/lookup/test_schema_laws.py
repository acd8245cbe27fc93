"""Grammars of schemas allow what jsonschema allows, in every notation, and never write anything else."""

import contextlib
import itertools
import json
import random
from typing import Any

import jsonschema
import pytest
from drawn_schemas import SCHEMAS, VALUES
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from seams import Schema, documented, grammar_of, keyed

from lookup import DocumentationError, extract, parse_literal
from lookup.grammar.value_grammar import ValueGrammar, schema_grammar
from lookup.schema.value_schema import value_schema
from synthetic import decode, likes
from tooldecoding.result import DecodeResult
from tools import sound


def judge(schema: Schema) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())


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
def test_check_and_grammar_agree_with_jsonschema(schema: Schema, value: Any) -> None:
    allowed, valid = value_schema(schema), judge(schema).is_valid(value)
    assert allowed.allows(value) == valid
    grammar = grammar_of(allowed)
    complete = grammar is not None and grammar.complete(json.dumps(value, ensure_ascii=False))
    assert complete == valid or (allowed.notes and complete)


@given(SCHEMAS, st.integers(0, 2**32), st.booleans())
@settings(max_examples=300)
def test_what_is_written_is_valid_and_every_beginning_of_it_can_be_closed(
    schema: Schema, seed: int, documentation: bool
) -> None:
    allowed = documented(schema) if documentation else value_schema(schema)
    grammar = grammar_of(allowed)
    assume(grammar)
    text = written(grammar, seed, '{}[]", :-.0123456789abx-éntruefalsl\\')
    assert allowed.notes or judge(schema).is_valid(json.loads(text)), text
    assert allowed.notes or allowed.allows(json.loads(text)), text
    for end in range(len(grammar.opener), len(text) + 1):
        assert grammar.possible(text[:end])
        assert grammar.complete(text[:end] + grammar.close(text[:end]))


NEVER: Schema = {"type": "string", "minLength": 5, "maxLength": 2}
WHOLE: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string"}
PAIR: Schema = {"enum": ["a", "b"]}
ONE_OR_TWO: Schema = {"enum": [1, 2]}
UNEVALUATED: list[Schema] = [
    schema
    for word, whole, some in (
        ("unevaluatedProperties", "additionalProperties", {"properties": {"a": TEXT}}),
        ("unevaluatedItems", "items", {"prefixItems": [TEXT]}),
    )
    for schema in (
        {"allOf": [{word: True}], word: False},
        {"allOf": [{word: TEXT}], word: False},
        {"allOf": [{whole: TEXT}], word: False},
        {"allOf": [some], word: False},
        {"anyOf": [some, {word: True}], word: False},
        {"if": some, "then": {word: True}, word: False},
        {"not": some, word: False},
        {**some, "allOf": [{word: WHOLE}], word: False},
    )
]
OBJECTS: list[Schema] = [
    {"additionalProperties": NEVER},
    {"additionalProperties": {"type": "object", "additionalProperties": NEVER, "minProperties": 1}},
    {"additionalProperties": NEVER, "properties": {"a": WHOLE}, "minProperties": 1, "maxProperties": 3},
    {"additionalProperties": NEVER, "properties": {"a": WHOLE}, "patternProperties": {"^a": TEXT}},
    {"additionalProperties": NEVER, "patternProperties": {"^x": WHOLE}, "minProperties": 3},
    {"additionalProperties": WHOLE, "patternProperties": {"^x": NEVER, "0$": {"type": "integer", "minimum": 3}}},
    {"additionalProperties": False, "patternProperties": {"^x": WHOLE, "0$": NEVER}},
    {"additionalProperties": WHOLE, "patternProperties": {"^x": NEVER}, "propertyNames": {"pattern": "^x"}},
    {"additionalProperties": WHOLE, "patternProperties": {"a": NEVER}, "propertyNames": PAIR},
    {"properties": {"a": {"type": "object", "additionalProperties": NEVER}}, "required": ["a"]},
    {"additionalProperties": NEVER, "minProperties": 2, "properties": {"a": WHOLE}},
    {"minProperties": 1, "propertyNames": NEVER},
    {"minProperties": 3, "propertyNames": PAIR},
    {"minProperties": 2, "propertyNames": PAIR, "patternProperties": {"a": NEVER}},
    {"additionalProperties": {"$ref": "#"}, "minProperties": 1},
    {"additionalProperties": NEVER, "properties": {"b": TEXT}, "patternProperties": {"^[a-c]$": {"type": "object"}}},
]
LISTS: list[Schema] = [
    {"contains": TEXT, "unevaluatedItems": WHOLE},
    {"contains": TEXT, "minContains": 0, "unevaluatedItems": False},
    {"allOf": [{"contains": TEXT}], "prefixItems": [True], "unevaluatedItems": False},
    {"contains": WHOLE, "items": TEXT, "minContains": 0},
    {"contains": WHOLE, "minContains": 2, "maxItems": 1},
    {"contains": {"const": 1}, "uniqueItems": True},
    {"contains": WHOLE, "prefixItems": [TEXT, WHOLE], "items": False},
    *(
        {**words, "uniqueItems": True, "minItems": least}
        for words, most in (
            ({"items": {"enum": [1, 1.0, "a"]}}, 2),
            ({"items": {"type": "number", "minimum": 1, "maximum": 3, "multipleOf": 1}}, 3),
            ({"items": ONE_OR_TWO, "prefixItems": [{"const": 1}]}, 2),
            ({"items": {"enum": [1, 2, 3]}, "prefixItems": [{"const": 1}, ONE_OR_TWO]}, 3),
            ({"items": False, "prefixItems": [ONE_OR_TWO, ONE_OR_TWO, ONE_OR_TWO]}, 2),
        )
        for least in (most, most + 1)
    ),
]
ITEMS = ("s", "a", "b", 1, 2, 3, True, False, None)
UNIVERSE: list[Any] = [
    {},
    *({key: value} for key in ("a", "b", "x", "x0", "0") for value in ("s", 1, 3, {})),
    *({"a": one, "b": other} for one, other in itertools.product(("s", 1), repeat=2)),
    *({"x": 1, "xx": 1, key: 1} for key in ("xa", "xb", "a")),
    *(list(items) for size in range(4) for items in itertools.product(ITEMS, repeat=size)),
]  # fmt: skip
EDGES = [*UNEVALUATED, *({"type": "object", **o} for o in OBJECTS), *({"type": "array", **words} for words in LISTS)]


@pytest.mark.parametrize("schema", EDGES, ids=json.dumps)
def test_small_values_are_allowed_and_written_as_jsonschema_says(schema: Schema) -> None:
    allowed, validator = value_schema(schema), judge(schema)
    valid = [validator.is_valid(value) for value in UNIVERSE]
    assert [allowed.allows(value) for value in UNIVERSE] == valid
    around = {"type": "object", "properties": {"k": {"$defs": {}, **schema}}, "required": ["k"]}
    assert "$ref" in str(schema) or value_schema(around).unsatisfiable == allowed.unsatisfiable
    if not any(valid):
        assert allowed.unsatisfiable or "not" in schema
        with pytest.raises(DocumentationError) if allowed.unsatisfiable else contextlib.nullcontext():
            schema_grammar(allowed, "json")
        return
    assert not allowed.unsatisfiable
    grammar = schema_grammar(allowed, "json")
    assert allowed.notes or [grammar.complete(json.dumps(value)) for value in UNIVERSE] == valid
    for seed in range(12):
        for notation in ("json", "python"):
            text = written(schema_grammar(allowed, notation), seed, "{'\"x0ab: }[],12")
            assert allowed.notes or validator.is_valid(parse_literal(text)), text


def called(schema: Schema, required: bool, call_format: str, seed: int = 0) -> DecodeResult:
    """A call of a tool with the key x, which a random model writes with pleasure, and y."""
    keys = {"type": "object", "properties": {"x": schema, "y": WHOLE}, "required": ["x"] * required}
    tools = extract({"name": "f", "description": "", "parameters": keys})
    fields = {"max_value_tokens": (3, 60)[seed % 2], "order_limit": 1, "max_calls": 1, "tool_choice": "required"}
    return decode(likes((b"[{,", b"x\"'", b",]}")[seed % 3], seed), "x\n", tools, format=call_format, **fields)


def filled(*names: str, required: str = "", **words: Any) -> Schema:
    return {**keyed(required, **{name: {"type": "boolean"} for name in names}), "additionalProperties": False, **words}


TRUTHS: Schema = {"type": "array", "items": {"type": "boolean"}}
VALUES_OF: list[tuple[Schema, int]] = [
    (filled(), 1),
    (filled("k", maxProperties=0), 1),
    (TRUTHS | {"maxItems": 0}, 1),
    (filled("k", required="k"), 2),
    (filled("k"), 3),
    (filled("k", "l", minProperties=1, maxProperties=1), 4),
    (filled("a", "b", "c", required="a b c"), 8),
    (filled(patternProperties={"^[pq]$": {"const": 0}}), 4),
    (filled("k", "l", dependentRequired={"k": ["l"]}), 7),
    (TRUTHS | {"maxItems": 1}, 3),
    (TRUTHS | {"uniqueItems": True}, 5),
    (TRUTHS | {"minItems": 3, "uniqueItems": True}, 0),
    (TRUTHS | {"contains": TEXT}, 0),
    ({"type": "array", "prefixItems": [PAIR], "items": False}, 3),
    ({"anyOf": [filled("k"), {"const": {"k": True}}, ONE_OR_TWO]}, 5),
    (keyed("r", r={"type": "array", "items": filled("k", required="k"), "maxItems": 1}), 3),
    ({"type": "object", "maxProperties": 1, "additionalProperties": NEVER}, 1),
    ({"type": "integer", "minimum": 1, "maximum": 300}, 300),
    ({"type": "string", "pattern": "^a{2,3}$", "minLength": 1, "maxLength": 5}, 2),
    (NEVER, 0),
    ({"type": "string", "pattern": "^(?:aaaa|bbbbbb)*$", "minLength": 9, "maxLength": 9}, 0),
    ({"type": "string", "pattern": "^(?:aaaa|bbbbbbb)*$", "minLength": 9, "maxLength": 11}, 2),
]


@pytest.mark.parametrize(("items", "count"), VALUES_OF, ids=json.dumps)
def test_as_many_items_differ_as_there_are_values(items: Schema, count: int) -> None:
    whole = {"type": "array", "items": items, "minItems": count, "uniqueItems": True}
    for seed, call_format in enumerate(("hermes", "pythonic", "qwen-xml"), count):
        result = called(whole, True, call_format, seed)
        arguments = result.calls[0].arguments
        assert sound(result) and ("x" not in arguments or judge(whole).is_valid(arguments["x"]))
        result = called(whole | {"minItems": count + 1}, False, call_format, seed)
        assert sound(result) and "x" not in result.calls[0].arguments and not any("'x'" in e for e in result.errors)
        with pytest.raises(DocumentationError, match=r"'x': (items: )?no value can obey the schema"):
            called(whole | {"minItems": count + 1}, True, call_format)


@given(SCHEMAS, st.integers(0, 10**6), st.booleans(), st.sampled_from(["hermes", "pythonic", "gemma4"]))
@settings(max_examples=60)
def test_no_schema_ends_decoding_in_the_middle(schema: Schema, seed: int, required: bool, call_format: str) -> None:
    allowed = documented(schema)
    if required and allowed.unsatisfiable:
        with pytest.raises(DocumentationError):
            called(schema, required, call_format, seed)
    else:
        assert sound(called(schema, required, call_format, seed)) or allowed.notes
