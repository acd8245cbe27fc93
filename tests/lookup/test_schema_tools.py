"""Schemas as the parameters of tools: what is neither written nor valid, and what is refused before decoding."""

import json
from fractions import Fraction
from typing import Any

import jsonschema
import pytest
from drawn_schemas import combined
from hypothesis import given, settings
from hypothesis import strategies as st
from seams import key_text, keyed

from lookup import extract
from lookup.dictionary import MISSING, LookupDictionary, ParameterSpec, ToolSpec
from lookup.errors import DocumentationError
from lookup.grammar.literal_values import render_value
from lookup.grammar.value_grammar import value_grammar
from tools import accepts, called
from voting import TypeCheckError, check_value

NAMES = ["a", "b", "c"]


def tool_of(schema: dict[str, Any]) -> ToolSpec:
    """The tool with these parameters."""
    return extract({"name": "f", "description": "", "parameters": {"type": "object", **schema}})["f"]


def parameter(spec: dict[str, Any]) -> tuple[ToolSpec, ParameterSpec]:
    """The tool with one parameter, and the parameter."""
    tool = tool_of({"properties": {"x": spec}, "required": ["x"]})
    return tool, tool.parameter("x")


CLOSED = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["b"], "additionalProperties": False}
UNNAMED = "'b' is required, but not among the properties: "
OVERLAP = "more than one alternative of 'oneOf' always fits: "
PROSE = "In the format 'City, State' of at most 9 characters. One of 'a', 'b'. A date (YYYY-MM-DD). Default: 'a'."
LACKS = {"type": ["string", "null"], "enum": ["v"]}
NEEDS = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["b"]}


@pytest.mark.parametrize(
    ("spec", "right", "wrong"),
    [
        ({"type": "boolean", "enum": ["True", "False", "dontcare"]}, ["dontcare", "True"], [True, "x"]),
        ({"type": "integer", "enum": ["1", "2"]}, ["1"], [1]),
        ({"type": "array", "items": {"type": "string"}, "enum": ["a", "b"]}, [["a"], []], [["c"], "a"]),
        ({"type": "string", "enum": ["AA", "Aa", "aa"]}, ["AA", "aa"], ["aA"]),
        ({"type": "string", "enum": ["plus", "black"], "default": None}, ["plus", None], ["", "None"]),
        ({"type": "string", "enum": ["a"], "default": "all"}, ["a", "all"], ["any"]),
        ({"type": "integer", "default": "5 years"}, [5, "5 years"], ["6 years", None]),
        ({"type": "boolean", "default": "false"}, [True, "false"], ["true"]),
        ({"type": ["integer", "null"]}, [1, None], ["1"]),
        ({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}, ["a", ["a"]], [1, [1]]),
        ({"type": "integer", "nullable": True}, [None], ["None"]),
        ({"anyOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}], "enum": ["x"]}, {"type": "boolean"}]},
         ["x", True], [1]),
        ({"type": "enum", "values": ["a", "b"]}, ["a"], ["c", 1]),
        ({"type": "ENUM", "options": [1, 2.5], "default": "all"}, [1, 2.5, "all"], [3, "1"]),
        ({"type": "array", "items": {"type": "enum", "values": ["a"]}}, [["a"], []], [["b"]]),
        ({"type": "array", "items": {"enum": []}}, [[]], [["b"]]),
        ({"type": ""}, ["a", 1, None], []),
        ({"type": "float", "default": 3}, [3, 2.5], ["3"]),
        ({"type": "string", "description": PROSE}, ["94103", "", "a, b, c, d", "x" * 60], [1]),  # it is no limit
        ({"type": "string", "nullable": True, "enum": ["v"]}, ["v"], [None]),
        *(
            ({"type": "string", **limit, "default": default}, [default, "LONG"], [8])
            for limit in ({}, {"minLength": 2}, {"pattern": "^[A-Z]+$"}, {"enum": ["LONG"]})
            for default in (None, "x", 7)
        ),
        ({"type": "object", "properties": {"k": {"type": "integer", "default": None}}}, [{"k": 7}], [{"k": None}]),
        ({"type": ["string", "null"], "enum": ["x", None]}, ["x", None], ["y"]),
        ({"type": "string", "enum": ["x", 1]}, ["x"], [1]),
        ({"type": "integer", "minimum": 0, "not": {"enum": [2, 13]}}, [0, 1, 12, 130], [2, 13]),
        ({"type": "number", "minimum": -1, "not": {"const": 0.5}}, [-1, 0.25, 5], [-2, 0.5]),
        ({"type": "object", "properties": {"n": {"type": "null"}}, "required": ["n"]}, [{"n": None}], [{"n": 1}]),
        ({"type": "object", "required": ["k"]}, [{"k": "x"}, {"k": [1]}], [{}]),
        ({"type": "object", "properties": {}, "additionalProperties": False}, [{}], [{"k": 1}]),
        ({"type": "array", "items": {"type": "string"}, "default": [1]}, [["x"], []], [[2]]),
        (LACKS, ["v"], [None]),
        ({"type": ["integer", "null"], "enum": ["v"]}, [], [None]),
        ({"type": "array", "items": LACKS}, [["v"]], [[None]]),
        ({"type": "object", "properties": {"k": LACKS}}, [{"k": "v"}], [{"k": None}]),
        ({"type": "object", "additionalProperties": LACKS}, [{"k": "v"}], [{"k": None}]),
        ({"anyOf": [LACKS, {"type": "integer"}]}, ["v", 1], [None]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "enum": ["v"]}, ["v"], [None]),
        ({"anyOf": [{"const": "v"}, {"type": "null"}]}, ["v", None], []),
        ({"type": ["string", "null"], "anyOf": [{"enum": ["a"]}, {"enum": ["b"]}]}, ["a"], ["c", None]),
        ({"type": ["string", "null"], "oneOf": [{"enum": ["a"]}, {"enum": ["b", None]}]}, ["a", None], []),
        ({"allOf": [{"type": ["string", "null"]}, {"enum": ["v"]}]}, ["v"], [None]),
        (NEEDS, [{"b": 1}, {"a": 1, "b": 2}], [{"a": 1}]),
        ({"type": "array", "items": NEEDS}, [[{"b": 1}], []], [[{"a": 1}]]),
        ({"type": "object", "properties": {"k": NEEDS}, "required": ["k"]}, [{"k": {"b": 2}}], [{"k": {"a": 1}}]),
        ({"anyOf": [NEEDS, {"type": "string"}]}, [{"b": 1}, "s"], [{"a": 1}]),
        ({"allOf": [{"type": "object", "properties": {"a": {}}}, {"required": ["b"]}]}, [{"b": 1}], [{"a": 1}]),
        ({**NEEDS, "patternProperties": {"^b": {"type": "string"}}}, [{"b": "s"}], [{"a": 1}, {"b": 1}]),
        ({**NEEDS, "additionalProperties": {"type": "string"}}, [{"b": "s"}], [{"a": 1}, {"b": 1}]),
        ({"type": "object", "properties": {"k": CLOSED}}, [{}], [{"k": {"b": 1}}]),
        ({"type": "object", "properties": {"": {"type": "string"}}, "required": [""]}, [{"": "a"}], [{"": 1}, {}]),
        # nested keys of several schemas
        ({"allOf": [keyed("o", o=keyed("a", a={})), keyed("o", o=keyed("b", b={}))]},
         [{"o": {"a": 1, "b": 2}}], [{"o": {"a": 1, "b": 2, "c": 3}}, {"o": {"a": 1}}]),
        ({**keyed("k o", k={}, o=keyed(x={}, y={})), "if": keyed(k={"const": 1}), "then": keyed(o=keyed(x={}))},
         [{"k": 1, "o": {"y": 2}}], [{"k": 1, "o": {"z": 2}}]),
        ({"allOf": [{"items": keyed(a={})}, {"items": keyed("b", b={})}]},
         [[{"a": 1, "b": 1}]], [[{"b": 1, "c": 1}], [{"a": 1}]]),
        # an alternative that says nothing allows more, also inside
        ({**keyed("o", o={}), "anyOf": [keyed(o=keyed(a={})), keyed(o={"minProperties": 1})]},
         [{"o": {"a": 1}}, {"o": {"b": 1}}], [{"o": 1}]),
        # keys that only a condition, or what is refused, names
        ({"oneOf": [keyed("u", u={"type": "string"}), keyed("f", f={"type": "string"})]},
         [{"u": "a"}, {"f": "a"}], [{"u": "a", "f": 3}, {"u": "a", "f": "b"}]),
        ({**keyed(c={}), "dependentRequired": {"a": ["c"]}}, [{"c": 1}, {}], [{"a": 1, "c": 1}]),
        ({"enum": ["auto", "none"], "allOf": [{"minimum": 1}]}, ["auto"], [1]),
        ({"type": ["string", "number"], "enum": ["auto", 1, 2], "allOf": [{"minimum": 2}]}, ["auto", 2], [1]),
        ({"oneOf": [{"type": "string", "format": "phone"}, {"type": "string", "format": "ipv4"}]},
         ["a"], ["1.2.3.4", 5]),
        ({"not": {"type": "string", "format": "phone"}}, [1, None], ["a"]),
    ],
)  # fmt: skip
def test_what_documentation_says_in_one_place_or_several(spec: Any, right: Any, wrong: Any) -> None:
    tool, found = parameter(spec)
    assert "enum" not in spec or found.enum == tuple(spec["enum"])
    assert found.default == spec.get("default", MISSING)
    assert all(note.startswith("parameter 'x': the enum has no member of the type") for note in tool.unenforced)
    for value in right:
        assert check_value(value, found) == value and called(tool, {"x": value}).valid
        for notation in ("json", "python", "quoted"):
            text = render_value(value, notation)
            assert text == "''" or value_grammar(found, notation).complete(text)
    for value in wrong:
        assert not accepts(found, value)
        for notation in ("json", "python"):
            assert not value_grammar(found, notation).complete(render_value(value, notation)), value


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"type": "object", "properties": {"r": {"type": "number"}, "h": {"type": "number"}}, "required": ["r", "h"],
          "oneOf": [{"required": ["r"]}, {"required": ["h"]}]}, OVERLAP),
        ({"type": "object", "maxProperties": 1, "required": ["a"], "dependentRequired": {"a": ["b"]},
          "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}, ""),
        ({"type": "string", "pattern": "^a$", "minLength": 3}, ""),
        ({"type": "integer", "minimum": 3, "maximum": 2}, ""),
        ({"type": "string", "enum": []}, ""),
        ({"enum": []}, ""),
        ({"type": "object", "enum": ["x", "y"]}, ""),
        (CLOSED, UNNAMED),
        ({"type": "object", "properties": {"k": CLOSED}, "required": ["k"]}, f"key 'k': {UNNAMED}"),
        ({"type": "array", "items": CLOSED, "minItems": 1}, f"items: {UNNAMED}"),
        ({"type": "array", "items": {"oneOf": [{"properties": {"k": {"type": "string"}}}] * 2}, "minItems": 1},
         f"items: {OVERLAP}"),
        ({"type": "object", "properties": {"k": {"type": "array", "items": {"enum": [1, 1.0]}, "uniqueItems": True,
          "minItems": 2}}, "required": ["k"]}, "key 'k': "),
    ],
)  # fmt: skip
def test_what_no_value_can_obey_is_refused_before_decoding(spec: dict[str, Any], path: str) -> None:
    tool, found = parameter(spec)
    assert tool.unenforced == (f"parameter 'x': {path}no value can obey the schema, so it is never written",)
    with pytest.raises(DocumentationError, match=f"^key 'x': {path}no value can obey the schema"):
        value_grammar(found, "json")
    assert not any(accepts(found, value) for value in ({}, {"a": 1}, {"k": {"a": 1}}, [{}], [{}, {}], "a", 3, None))
    optional = LookupDictionary((tool_of({"properties": {"x": spec, "y": {"type": "integer"}}}),)).decided("optional")
    assert [p.name for p in optional["f"].parameters] == ["y"]


@pytest.mark.parametrize("address", ["http://[", "//[", "http://a]b/", "http://[v1.x"])
def test_an_address_that_is_none_is_no_crash(address: str) -> None:
    text = {"type": "string", "minLength": 2}
    for around in ({"$id": address, "$defs": {"s": text}}, {"$defs": {"s": {**text, "$id": address}}}):
        tool = tool_of({"properties": {"x": {"$ref": "#/$defs/s"}}, "required": ["x"], **around})
        assert accepts(tool.parameter("x"), "ab") and not accepts(tool.parameter("x"), "a")
    tool = tool_of({"$id": "http://ok/", "properties": {"x": {"$ref": address}}})
    assert any("leads nowhere" in note for note in tool.notes)


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ({"anyOf": [{"type": "number"}, {"type": "integer"}]}, 3),
        ({"anyOf": [{"type": "number"}, {"type": "integer"}]}, 3.0),
        ({"type": ["number", "integer"], "minimum": 0}, 3),
        ({"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "integer"}]}}, [1, 1.5, 2.0]),
        ({"anyOf": [{"type": "array", "items": {"type": "number"}}, {"items": {"type": "integer"}}]}, [1]),
        ({"type": "number"}, 10**400),
        ({"type": "number"}, 1234567890123456789),
        ({"type": "number", "minimum": 10**400, "exclusiveMaximum": 10**500}, 10**401),
        ({"type": "array", "items": {"type": "number"}}, [10**400]),
        ({"patternProperties": {"^b": {"type": "boolean"}}, "additionalProperties": {"type": "number"}}, {"b": True}),
    ],
)  # fmt: skip
def test_a_number_stays_as_it_is_written(spec: dict[str, Any], value: Any) -> None:
    checked = check_value(value, parameter(spec)[1])
    assert repr(checked) == repr(value)


def test_numbers_beyond_every_limit_are_refused_with_a_message() -> None:
    for spec in ({"type": "integer", "maximum": 5}, {"type": "number", "exclusiveMaximum": 10**400}, {"enum": [1, "a"]},
                 {"type": "integer", "multipleOf": 10**5001}, {"type": "string"}, {"type": "boolean"}):  # fmt: skip
        with pytest.raises(TypeCheckError):
            check_value(10**5000, parameter(spec)[1])
    assert check_value(3, parameter({"type": "number"})[1]) == 3.0


HUGE = [10**400, 1e308, 1.7976931348623157e308, 7 * 10**399, 10**19]


@pytest.mark.parametrize("limits", [{}, {"minimum": 0}, {"minimum": 1}, {"maximum": -1}, {"minimum": -5, "maximum": 5}])
@pytest.mark.parametrize("step", HUGE)
@pytest.mark.parametrize("kind", ["integer", "number"])
def test_what_is_begun_of_a_huge_multiple_can_be_ended(kind: str, step: float, limits: dict[str, Any]) -> None:
    _, found = parameter({"type": kind, "multipleOf": step, **limits})
    grammar = value_grammar(found, "json")
    for begun in ("", "-", "0", "1", "0.", "-0", "7"):
        if grammar.possible(begun):
            value = json.loads(begun + grammar.close(begun))
            assert accepts(found, value) and Fraction(value) % Fraction(str(step)) == 0
    assert grammar.possible("-") == ("minimum" not in limits) and not grammar.possible("-0")


CONDITIONS = st.recursive(
    st.one_of(
        st.lists(st.sampled_from(NAMES), max_size=2, unique=True).map(lambda keys: {"required": keys}),
        st.fixed_dictionaries({"properties": st.fixed_dictionaries({"a": st.just({"const": 1})})}),
        st.integers(0, 3).map(lambda count: {"minProperties": count}),
        st.integers(1, 4).map(lambda count: {"maxProperties": count}),
        st.just({"dependentRequired": {"a": ["b"]}}),
    ),
    combined,
    max_leaves=4,
)


@given(CONDITIONS, st.dictionaries(st.sampled_from(NAMES), st.integers(1, 2)))
@settings(max_examples=300)
def test_a_call_is_valid_only_if_jsonschema_says_so(condition: dict[str, Any], arguments: dict[str, Any]) -> None:
    schema = {"type": "object", **condition, "properties": {key: {"type": "integer"} for key in NAMES}}
    schema["properties"] |= condition.get("properties", {})
    tool = tool_of(schema)
    if any(p.required and p.name not in arguments for p in tool.parameters):
        return  # no candidate lacks a required key
    voted = called(tool, arguments)
    if voted.arguments == arguments:
        assert voted.valid == jsonschema.Draft202012Validator(schema).is_valid(arguments)


def test_a_condition_that_no_call_obeys_is_told_and_no_call_is_valid() -> None:
    properties = {"r": {"type": "number"}, "h": {"type": "number"}}
    either = [{"required": ["r"]}, {"required": ["h"]}]
    tool = tool_of({"properties": properties, "required": ["r", "h"], "oneOf": either})
    assert tool.unenforced[-1].endswith("no call can obey it, so the tool is refused")
    assert not called(tool, {"r": 1.5, "h": 2.5}).valid


@pytest.mark.parametrize(
    ("schema", "never"),
    [
        ({"properties": {"a": {}}, "additionalProperties": False, "allOf": [{"properties": {"c": {}}}]}, {"c"}),
        ({"properties": {"a": {}, "c": {}}, "patternProperties": {"^a": False}}, {"a"}),
        ({"properties": {"aB": {}, "c": {}}, "propertyNames": {"pattern": "^[a-z]+$"}}, {"aB"}),
    ],
)
def test_a_key_that_no_call_may_have_is_never_written(schema: dict[str, Any], never: set[str]) -> None:
    tool = tool_of(schema)
    assert {p.name for p in tool.parameters if p.schema and p.schema.unsatisfiable} == never


def test_what_is_shown_is_what_holds_together() -> None:
    text, number = {"type": "string"}, {"type": "integer"}
    either = {"anyOf": [text, {"type": "array", "items": number}, {"type": "null"}]}
    objects = {"type": "object", "properties": {"a": number}, "required": ["a"]}
    many = [{"required": [*names]} for names in ("dcba", "bcdx", "cdb")]
    for spec, shown in (
        ({"allOf": [either]}, "x!: str | list[int]?"),
        ({"$ref": "#/$defs/o", "properties": {"b": text}}, "x!: {b: str, a!: int}"),
        ({"$ref": "#/$defs/p", "allOf": [{"properties": {"c": text}}]}, "x!: {b: str, a!: int, c: str}"),
        ({"allOf": [{"$ref": "#/$defs/p"}, {"$ref": "#/$defs/o"}]}, "x!: {b: str, a!: int}"),
        ({"$ref": "#/$defs/u/$defs/t"}, "x!: int"),
        ({"type": "object", "properties": {"": text}, "required": [""]}, "x!: {}"),
    ):
        defs = {
            "o": objects, "p": {"allOf": [{"properties": {"b": text}}, {"$ref": "#/$defs/o"}]},
            "u": {"$id": "http://u/", "$defs": {"t": {"$ref": "http://u/#/$defs/n"}, "n": number}},
        }  # fmt: skip
        tool = tool_of({"properties": {"x": spec}, "required": ["x"], "$defs": defs})
        assert key_text(tool.parameter("x")) == shown and not tool.notes
    assert [p.name for p in tool_of({"properties": {}, "anyOf": many}).parameters] == ["d", "c", "b"]


def test_a_required_key_that_is_not_described_may_be_what_the_schema_allows() -> None:
    whole = {"properties": {"a": {"type": "integer"}}, "required": ["a", "b"]}
    found = tool_of(whole).parameter("b")
    assert found.required and all(accepts(found, value) for value in ("x", 1, None, [1], {"k": True}))
    found = tool_of({**whole, "additionalProperties": {"type": "string"}}).parameter("b")
    assert found.type.kind == "str" and accepts(found, "x") and not accepts(found, 1)
    found = tool_of({**whole, "patternProperties": {"^b": {"minimum": 2}}}).parameter("b")
    assert accepts(found, 2) and not accepts(found, 1)
    for found in tool_of({**whole, "additionalProperties": False}).parameters:
        with pytest.raises(DocumentationError, match=f"key {found.name!r}: {UNNAMED}no value can obey"):
            value_grammar(found, "json")


@pytest.mark.parametrize(
    ("spec", "right", "wrong", "said"),
    [
        ({"type": "string", "pattern": "/^[a-z]+$/gu"}, "ab", "/ab/", ["between the slashes"]),
        ({"type": "string", "pattern": "/a/"}, "/a/", "a", []),
        ({"type": "string", "pattern": "/^a/i"}, "A", 1, ["pattern (no text has it: the text '/^a/i')"]),
        ({"type": "integer", "maximum": "50", "minimum": "x"}, 50, 51, ["minimum (says nothing: the text 'x')"]),
        ({"type": "array", "minItems": "2", "items": "integer"}, [1, 2], [1], []),
        ({"type": "array", "items": "integer"}, [1], ["a"], []),
        ({"type": "array", "items": "whatever"}, [1], 1, ["items (says nothing: the text 'whatever')"]),
        ({"type": "string", "maxLength": "1e999", "minLength": -1}, "", 1, ["'1e999'", "says nothing: int -1"]),
        ("string", "a", 1, []),
        ({"type": "object", "properties": {"k": "List[int]"}}, {"k": [1]}, {"k": ["a"]}, []),
    ],
)  # fmt: skip
def test_what_a_text_means_as_a_limit_schema_or_pattern(spec: Any, right: Any, wrong: Any, said: Any) -> None:
    tool, found = parameter(spec)
    assert accepts(found, right) and not accepts(found, wrong)
    grammar = value_grammar(found, "json")
    assert grammar.complete(json.dumps(right)) and not grammar.complete(json.dumps(wrong))
    told = " ".join((*tool.notes, *tool.unenforced))
    assert all(words in told for words in said) and bool(told) == bool(said)


@pytest.mark.parametrize("word", ["input_parameters", "inputSchema", "parametersJsonSchema"])
def test_a_json_schema_is_one_under_every_name(word: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}
    for written in (schema, {"properties": schema["properties"], "required": ["a"]}, schema | {"x-own": 1}):
        tool = extract({"name": "f", "description": "", word: written})["f"]
        assert [(p.name, p.required) for p in tool.parameters] == [("a", True), ("b", False)]


LIMITS = st.tuples(st.integers(-300, 300), st.integers(0, 300)).map(lambda ends: (ends[0] / 100, sum(ends) / 100))
MANTISSAS = st.decimals(-400, 400, places=2).map(str)


@given(LIMITS, MANTISSAS, st.sampled_from(["e", "E-", "e+"]), st.integers(0, 5))
def test_an_exponent_leads_to_a_number_within_the_limits(
    limits: tuple[float, float], mantissa: str, sign: str, exponent: int
) -> None:
    grammar = value_grammar(parameter({"type": "number", "minimum": limits[0], "maximum": limits[1]})[1], "json")
    begun = mantissa + sign
    text = f"{begun}{exponent}"
    if grammar.possible(begun):
        assert limits[0] <= json.loads(begun + grammar.close(begun)) <= limits[1]
    if grammar.possible(mantissa) and float(mantissa):
        assert grammar.complete(text) == (limits[0] <= float(text) <= limits[1])
    assert not grammar.complete(text) or limits[0] <= float(text) <= limits[1]
