"""What is decoded obeys its schema, as jsonschema judges; what no value can obey is refused before decoding."""

import json
from typing import Any

import jsonschema
import pytest

from lookup import extract
from lookup.dictionary import ParameterSpec
from lookup.errors import DocumentationError
from lookup.schema.law import Law
from lookup.values.grammar import value_grammar
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import Request
from tooldecoding.errors import PromptError
from tooldecoding.options import DecodeOptions
from tooldecoding.result import DecodeResult
from tooldecoding.testing import RandomEngine, SyntheticDecoder
from voting.type_check import TypeCheckError, check_value

TOKENIZER = byte_level_tokenizer()
DECODER = SyntheticDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER)
BIASES = ("", "nul", '{"}:', "[]", "0123456789", "-.", "abx")
Schema = dict[str, Any]


def documented(schema: Any, **others: Any) -> str:
    parameters = {"type": "object", "properties": {"x": schema, **others}, "required": ["x"]}
    return json.dumps({"name": "f", "description": "", "parameters": parameters})


def parameter(schema: Any) -> ParameterSpec:
    return extract(documented(schema))["f"].parameter("x")


def decode(schema: Any, seed: int, bias: str = "", **others: Any) -> DecodeResult:
    """What random logits with a bias to some characters make of a tool with a required key."""
    DECODER.engine = RandomEngine(DECODER.table.texts, seed, lambda text: 4.0 * any(c.encode() in text for c in bias))
    options = DecodeOptions(format="hermes", tool_choice="required", order_limit=1, max_calls=1, max_value_tokens=12)
    [result] = DECODER.run([Request("go\n", extract(documented(schema, **others)), options)])
    return result


def accepts(spec: ParameterSpec, value: Any) -> bool:
    try:
        check_value(value, spec)
    except TypeCheckError:
        return False
    return True


VALID: list[Schema] = [
    # an enum or constant without null (1)
    {"type": ["string", "null"], "enum": ["v1"]},
    {"type": ["integer", "null"], "const": 5},
    {"type": "object", "properties": {"a": {"type": ["string", "null"], "enum": ["k"]}}, "required": ["a"]},
    {"type": "array", "items": {"type": ["string", "null"], "enum": ["k", "l"]}, "minItems": 1},
    {"anyOf": [{"type": ["string", "null"], "const": "k"}, {"type": "integer"}]},
    # required keys without a property (2)
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["b"]},
    {"type": "object", "properties": {"o": {"properties": {"a": {"type": "integer"}}, "required": ["b"]}},
     "required": ["o"]},
    {"type": "array", "items": {"type": "object", "properties": {"a": {}}, "required": ["b"]}, "minItems": 1},
    # unevaluated members (3)
    {"type": "object", "allOf": [{"unevaluatedProperties": True}], "unevaluatedProperties": False, "minProperties": 1},
    {"type": "object", "allOf": [{"properties": {"a": True}, "required": ["a"]}], "unevaluatedProperties": False},
    {"type": "object", "allOf": [{"additionalProperties": {"type": "integer"}}], "unevaluatedProperties": False},
    {"type": "array", "contains": {"type": "integer"}, "unevaluatedItems": False},
    {"type": "array", "allOf": [{"items": {"type": "integer"}}], "unevaluatedItems": False, "minItems": 1},
    {"type": "array", "allOf": [{"prefixItems": [{"type": "null"}]}], "unevaluatedItems": False, "maxItems": 3},
    # keys whose values cannot be written (4)
    {"type": "object", "additionalProperties": {"type": "string", "minLength": 5, "maxLength": 2}},
    {"type": "object", "patternProperties": {"^x": {"type": "string", "minLength": 5, "maxLength": 2}}},
    {"type": "object", "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": {"not": {}}},
    {"type": "object", "patternProperties": {"^x": {"not": {}}, "^a": {"type": "integer"}}, "minProperties": 1},
    # numbers (8, 22)
    {"type": "integer", "minimum": 10**25},
    {"type": "integer", "multipleOf": 10**400},
    {"type": "number", "multipleOf": 1e308},
    {"type": "integer", "multipleOf": 10**400, "maximum": 0},
    {"type": "integer", "multipleOf": 10**30, "minimum": 5},
]  # fmt: skip


@pytest.mark.parametrize("schema", VALID, ids=json.dumps)
def test_what_is_decoded_is_valid(schema: Schema) -> None:
    for seed in range(3):
        for bias in BIASES:
            result = decode(schema, seed, bias)
            assert result.valid, result.errors
            jsonschema.Draft202012Validator(schema).validate(result.calls[0].arguments["x"])


IMPOSSIBLE: list[tuple[Schema, str]] = [
    ({"type": "object", "properties": {"a": {}}, "required": ["b"], "additionalProperties": False}, ""),
    ({"type": "object", "required": ["o"], "properties": {
        "o": {"type": "object", "properties": {"a": {}}, "required": ["b"], "additionalProperties": False}}},
     "key 'o': "),
    ({"type": "array", "minItems": 1, "items": {"type": "string", "pattern": "^a$", "minLength": 3}}, "item 0: "),
    ({"type": "integer", "minimum": 3, "maximum": 2}, ""),
    *(({"type": "array", "uniqueItems": True, "minItems": least, "items": items}, "") for items, least in [
        ({"type": "object", "properties": {}, "additionalProperties": False}, 2),
        ({"type": "object", "maxProperties": 0}, 2),
        ({"type": "boolean"}, 3),
        ({"type": "null"}, 2),
        ({"const": {"a": [1]}}, 2),
        ({"enum": ["a", "b"]}, 3),
        ({"type": "array", "maxItems": 0}, 2),
        ({"type": "string", "maxLength": 0}, 2),
        ({"type": "integer", "minimum": 1, "maximum": 2}, 3),
        ({"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": False}, 2),
    ]),
    ({"type": "array", "uniqueItems": True, "minItems": 2, "prefixItems": [{"const": 1}, {"const": 1}]}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "path"), IMPOSSIBLE, ids=lambda part: json.dumps(part))
def test_what_no_value_can_obey_is_refused_with_its_path(schema: Schema, path: str) -> None:
    said = f"key 'x': {path}no value can obey the whole schema"
    with pytest.raises(DocumentationError, match=f"^tool 'f': {said}; it cannot be called$"):
        decode(schema, 0)
    assert extract(documented(schema))["f"].unenforced == (f"parameter 'x': {path}no value can obey the whole schema",)
    # an optional key is never written
    result = decode({"type": "integer"}, 0, more=schema)
    assert result.valid and list(result.calls[0].arguments) == ["x"]


@pytest.mark.parametrize("name", ["http://[", "http://a:b:c/", "http://a:99999999/x", "\x00", "//[", "%zz"])
@pytest.mark.parametrize("word", ["$id", "id", "$ref", "$anchor", "$dynamicRef"])
def test_a_name_that_is_no_address_is_no_error(name: str, word: str) -> None:
    for schema in (
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}, word: name},
        {"type": "object", "properties": {"k": {"allOf": [{word: name}, {"$ref": "x"}]}}, "required": ["k"]},
    ):
        tool = extract(json.dumps({"name": "f", "description": "", "parameters": {"properties": {"x": schema}}}))["f"]
        assert tool.parameter("x").name == "x"
        tool = extract(
            json.dumps({"name": "f", "description": "", "parameters": {"type": "object", "properties": {}} | schema})
        )["f"]
        assert tool.name == "f"


@pytest.mark.parametrize("kinds", [["number", "integer"], ["integer", "number"], ["string", "number", "integer"]])
@pytest.mark.parametrize("value", [3, 3.0, 1234567890123456789, -(2**70)])
def test_a_union_keeps_a_number_as_it_is_written(kinds: list[str], value: float) -> None:
    for schema in ({"type": kinds}, {"anyOf": [{"type": kind} for kind in kinds]}):
        assert repr(check_value(value, parameter(schema))) == repr(value)


def test_a_number_becomes_a_float_if_no_digit_is_lost() -> None:
    spec = parameter({"type": "number"})
    assert repr(check_value(3, spec)) == "3.0"
    for value in (2**53 + 1, 1234567890123456789, 10**400, -(10**400)):
        assert check_value(value, spec) == value and type(check_value(value, spec)) is int
        assert check_value([value], parameter({"type": "array", "items": {"type": "number"}})) == [value]
    for schema in ({"type": "number", "minimum": 0}, {"type": "number", "exclusiveMinimum": 10**399}, {"minimum": 5}):
        assert check_value(10**400, parameter(schema)) == 10**400
    assert not accepts(parameter({"type": "number", "exclusiveMinimum": 10**400}), 10**400)


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("limits", [{}, {"minimum": 0}])
def test_identifiers_of_many_digits_can_be_written(kind: str, limits: Schema) -> None:
    grammar = value_grammar(parameter({"type": kind, **limits}), "json")
    for text in ("1234567890123456789", str(2**64), str(2**128), "9" * 40):
        assert grammar.complete(text) and check_value(int(text), parameter({"type": kind, **limits})) == int(text)
    assert not grammar.possible("9" * 61)


@pytest.mark.parametrize("limit", [{}, {"minimum": 5}, {"maximum": -5}, {"multipleOf": 7}, {"not": {"const": 0}}])
@pytest.mark.parametrize("default", [0, "auto", None])
def test_a_default_is_right_whatever_stands_beside_it(limit: Schema, default: Any) -> None:
    spec = parameter({"type": "integer", "default": default, **limit})
    assert accepts(spec, default) and value_grammar(spec, "json").complete(json.dumps(default))
    assert not accepts(spec, "other") and not value_grammar(spec, "json").complete('"other"')


@pytest.mark.parametrize("limit", [{}, {"minLength": 2}, {"pattern": "^a"}])
def test_null_is_right_where_the_type_admits_it(limit: Schema) -> None:
    for kinds, right in ((["string", "null"], True), ("string", False)):
        spec = parameter({"type": kinds, **limit})
        assert accepts(spec, None) == value_grammar(spec, "json").complete("null") == right


RIGHT = {
    "date-time": ["1998-12-31T23:59:60Z", "1998-12-31T15:59:60.123-08:00", "1937-01-01T12:00:27.87+00:20"],
    "time": ["23:59:60Z", "01:29:60+01:30", "23:29:60+23:30", "00:29:60-23:30", "23:59:60.5+00:00"],
    "email": ['"joe bloggs"@example.com', '"joe..bloggs"@example.com', '"a@b"@c.de', "joe@[127.0.0.1]", "a@[IPv6:::1]"],
    "idn-email": ["실례@실례.테스트", '"실 례"@실례.테스트', "a@[127.0.0.1]"],
}
WRONG = {
    "date-time": ["1998-12-31T22:59:60Z", "1998-12-31T23:59:61Z", "1998-12-31T23:58:60Z"],
    "time": ["22:59:60Z", "23:59:60+01:00", "23:59:60-01:00", "24:00:00Z"],
    "email": ["2962", ".a@b.c", "a..b@c.d", "a@[127.0.0.300]", "a@[]", '"a"b@c', '"a@b', "a@[::1]"],
    "idn-email": ["x", "a@b@c", '"실@례'],
}


@pytest.mark.parametrize("name", RIGHT)
def test_leap_seconds_and_addresses(name: str) -> None:
    law = Law({"type": "string", "format": name})
    assert [text for text in RIGHT[name] if not law.allows(text)] == []
    assert [text for text in WRONG[name] if law.allows(text)] == []
    grammar = value_grammar(parameter({"type": "string", "format": name}), "json")
    assert all(grammar.complete(json.dumps(text, ensure_ascii=False)) for text in RIGHT[name])


def test_what_may_be_taken_for_token_ids_is_refused() -> None:
    np, torch = pytest.importorskip("numpy"), pytest.importorskip("torch")
    tools = extract(documented({"type": "integer"}))
    for given, said in (
        (range(60, 65), "got range"),
        (np.array([60, 61]), r"got ndarray; give ndarray\.tolist\(\)"),
        (torch.tensor([60, 61]), r"got Tensor; give Tensor\.tolist\(\)"),
        (bytes([60, 61]), "got bytes"),
        ([60, "a"], "token 1: expected a whole number, got str"),
        (["a", 60], "prompt 1 of the list: expected .* got int"),
        ([60, 61.0], "token 1: expected a whole number, got float"),
        ([True, False], "token 0: expected a whole number, got bool"),
        ([[60], []], "prompt 1 of the list: .* got an empty list"),
        ([np.array([60])], "prompt 0 of the list: .* got ndarray"),
        ([range(3)], "prompt 0 of the list: .* got range"),
    ):
        with pytest.raises(PromptError, match=said):
            DECODER.decode(given, tools)
    DECODER.engine = RandomEngine(DECODER.table.texts)
    for ids in ([60, 61], (60, 61), [np.int64(60), 61]):
        assert DECODER.decode(ids, tools).calls
