"""Documentation that is made to harm: what a schema says costs bounded steps and raises clear errors."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seams import Schema, documented, grammar_of

from lookup.schema.check import SchemaError
from lookup.schema.value_schema import value_schema


def nested(inside: Callable[[Any], Any], levels: int, innermost: Any) -> Any:
    whole = innermost
    for _ in range(levels):
        whole = inside(whole)
    return whole


def chain(link: Callable[[Schema], Schema], links: int) -> Schema:
    """Definitions, each of which names the next one."""
    definitions: Schema = {f"d{n}": link({"$ref": f"#/$defs/d{n + 1}"}) for n in range(links)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{links}": {"type": "string"}}}


LINKS: dict[str, Callable[[Any], Schema]] = {
    "allOf": lambda s: {"allOf": [s, s]},
    "anyOf": lambda s: {"anyOf": [s, s]},
    "oneOf": lambda s: {"oneOf": [s, {"type": "integer"}]},
    "not": lambda s: {"not": {"anyOf": [s, s]}},
    "if": lambda s: {"if": s, "then": {"minLength": 1}, "else": s},
    "items": lambda s: {"type": "array", "items": s, "minItems": 1},
    "unique": lambda s: {"type": "array", "items": s, "minItems": 2, "uniqueItems": True},
    "properties": lambda s: {"type": "object", "properties": {"a": s, "b": s}, "required": ["a", "b"]},
    "propertyNames": lambda s: {"type": "object", "propertyNames": s},
    "prefixItems": lambda s: {"prefixItems": [s, s], "minItems": 2},
    "dependentSchemas": lambda s: {"dependentSchemas": {"a": s}},
    "contains": lambda s: {"contains": s},
    "additionalProperties": lambda s: {"additionalProperties": s, "minProperties": 1},
}


def reading(schema: Schema) -> None:
    """Ask all that is asked of a schema; that it has no grammar is said by an error."""
    allowed = value_schema(schema)
    assert len(allowed.notes) < 100
    for value in ("aab", 5, [[]], {"a": {"a": "b"}}, None):
        allowed.allows(value)
    grammar = grammar_of(allowed)
    assert grammar is None or grammar.complete(grammar.close(""))
    assert grammar is None or len(grammar.close("").encode()) == grammar.shortest


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_nests_and_chains_and_circles_of_references_end(link: Callable[[Any], Schema]) -> None:
    for levels in (30, 1000):
        reading(nested(link, levels, {"type": "string"}))
        reading(chain(link, levels))
    reading(link({"$ref": "#"}))
    reading({**link({"$ref": "#/definitions/x"}), "definitions": {"x": link({"$ref": "#"})}})


@pytest.mark.parametrize("limit", [10**9, 10**50, 10**400, 1e308, 5e-324, -1, 1.5, float("nan"), float("inf"), True])
@pytest.mark.parametrize("word", ["Items", "Length", "Properties", "imum", "multipleOf"])
def test_limits_of_any_size_and_type(word: str, limit: float) -> None:
    words = [word] if word == "multipleOf" else [f"min{word}", f"max{word}"]
    for name, kind in itertools.product(words, ("integer", "number", "string", "array", "object")):
        reading({"type": kind, name: limit, "uniqueItems": True, "additionalProperties": {"type": "integer"}})


WORDS = [
    *("type", "enum", "const", "pattern", "format", "minLength", "multipleOf", "items", "prefixItems", "contains"),
    *("properties", "required", "additionalProperties", "patternProperties", "propertyNames", "dependentRequired"),
    *("dependentSchemas", "allOf", "oneOf", "not", "if", "then", "$ref", "$id", "$schema", "$defs", "nullable"),
    *("unevaluatedProperties", "unevaluatedItems", "uniqueItems"),
]
WRONG = st.recursive(
    st.sampled_from([5, -1, 1.5, float("nan"), float("inf"), True, None, "", "a", "(", "\ud800", 10**400, b"x", {1}]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", 5, None]), inner, max_size=2),
    max_leaves=3,
)


@given(st.dictionaries(st.sampled_from([*WORDS, 7]), WRONG, min_size=1, max_size=2))
@settings(max_examples=60)
def test_words_with_wrong_values_raise_nothing(schema: Any) -> None:
    reading(schema)
    reading({"type": "object", "properties": {"a": schema, "b": {"not": schema}}, "required": ["a"]})


AROUND: list[Any] = []
AROUND.append(AROUND)
ENDLESS = [AROUND, nested(lambda v: [v], 3000, []), nested(lambda v: [v, v], 60, [])]
MEMBERS = [f"v{n}" for n in range(5000)]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"enum": MEMBERS},
        {"type": "array", "items": {"enum": MEMBERS}, "uniqueItems": True, "minItems": 10},
        {"properties": {name: {"type": "string"} for name in MEMBERS}, "required": MEMBERS[:1000]},
        {"patternProperties": {f".*a.{{{n}}}b": {"type": "integer"} for n in range(20)}, "additionalProperties": False},
        {"type": "object", "additionalProperties": {"$ref": "#"}},
        {"patternProperties": {"^a": {"$ref": "#"}, "^b": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}},
        *(schema for value in ENDLESS for schema in ({"enum": [value, 1]}, {"not": {"const": value}})),
    ],
    ids=range(13),
)
def test_many_members_and_keys_and_constants_without_end(schema: Schema) -> None:
    reading(schema)


def test_lists_of_different_lists_of_their_own_kind_are_read_and_end() -> None:
    grammar = grammar_of(value_schema({"type": "array", "items": {"$ref": "#"}, "uniqueItems": True}))
    assert grammar is not None
    for text in ("[[],", "[[], [", "[[], [[]]", "[" * 30 + "]" * 29 + ","):
        assert grammar.complete(text + grammar.close(text))
    assert not grammar.complete("[[], []]")
    assert not grammar.possible("[" * 80)  # deeper than any value that is read


UNIQUE: Schema = {"type": "array", "items": {"enum": ["a", "ab"]}, "uniqueItems": True}


@pytest.mark.parametrize(
    ("schema", "noted"),
    [
        ({**UNIQUE, "minItems": 3, "prefixItems": [{"type": "string"}]}, True),
        ({**UNIQUE, "minItems": 2}, False),
        ({"type": "object", "propertyNames": {"pattern": "(?<=a)b"}}, True),
        ({"type": "object", "propertyNames": {"not": {"oneOf": [{"minLength": 2}, {"pattern": "a"}]}}}, True),
        (nested(LINKS["items"], 3000, {"type": "string"}), True),  # not looked at
        ({"type": "string", "not": {"enum": MEMBERS}}, False),
        ({"type": "object", "patternProperties": {"^x-": {"type": "string", "pattern": "(?<=a)b"}}}, True),
        ({"patternProperties": {"^$": {}}, "additionalProperties": {"not": {"enum": [[1]]}}}, True),
        ({"allOf": [{"properties": {"a": {}}, "unevaluatedProperties": False}, {"properties": {"b": {}}}]}, True),
        ({"allOf": [{"additionalProperties": {}}, {"unevaluatedProperties": {"enum": [1]}}]}, True),
    ],
    ids=range(10),
)
def test_what_is_not_enforced_is_noted(schema: Schema, noted: bool) -> None:
    assert bool(value_schema(schema).notes) == bool(documented(schema).notes) == noted


def test_a_check_that_takes_too_long_is_no_yes_inside_not() -> None:
    links = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(400)}
    with pytest.raises(SchemaError):
        value_schema({"$defs": links, "not": {"$ref": "#/$defs/d0"}}).check(1)
