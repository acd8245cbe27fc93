"""Law 1 on documentation that no corpus has: odd enums, names, keys and types, with random and biased logits."""

import random
from fractions import Fraction
from typing import Any

import jsonschema
import pytest

from lookup import extract
from lookup.dictionary import LookupDictionary, ParameterSpec, ToolSpec, ValueType
from lookup.errors import DocumentationError
from tiny_models import byte_level_tokenizer, sentencepiece_tokenizer, tiny_model
from tooldecoding.decoder import Request
from tooldecoding.formats.known_formats import unreadable
from tooldecoding.options import DecodeOptions
from tooldecoding.testing import RandomEngine, ScriptedEngine, SyntheticDecoder
from tools import lookup, parameter, tool
from voting import check_value

MEMBERS: list[Any] = [
    "it's", 'a "b"', "a\\b", "x\ny", "", " ", "北京", "上海", "😀", "é", "a", "ab", "True", "1",
    1, 13, -2, 1.5, 1e20, True, False, None, [], [1], ["a", "it's"], {"k": "v'"},
]  # fmt: skip
KINDS = ["str", "int", "float", "bool", "list", "dict", "tuple", "any"]
NAMES = ["f", "f2", "a.b", "GET /x/{id}", "天气", "naïve", "a-b", "with space", "x'y", 'q"z', "😀", "f "]
BYTE_LEVEL, FALLBACK = byte_level_tokenizer(), sentencepiece_tokenizer(byte_fallback=True)
DECODERS = [SyntheticDecoder(tiny_model("llama", len(t)), t) for t in (BYTE_LEVEL, FALLBACK)]
BIASES = [
    None,
    lambda t: 4.0 * any(c in t for c in b"'\"\\"),
    lambda t: 5.0 * any(c in t for c in b"[{(,"),
    lambda t: 5.0 * (t[0] >= 0x80),
    lambda t: -9.0 * any(c in t for c in b"'\")]}"),
]


def odd_type(chance: random.Random, depth: int = 2) -> ValueType:
    kind = chance.choice(KINDS)
    items = odd_type(chance, depth - 1) if kind in ("list", "tuple") and depth and chance.random() < 0.7 else None
    if items and chance.random() < 0.3:
        items = ValueType(items.kind, items.items, tuple(chance.sample(MEMBERS, chance.randint(1, 4))))
    return ValueType(kind, items)  # type: ignore[arg-type]


def odd_tool(chance: random.Random, name: str) -> ToolSpec:
    parameters = []
    for key in chance.sample(
        ["a", "ab", "año", "k-1", "q[]", "d[x]", "from", "type", "x y", "😀k"], chance.randint(0, 5)
    ):
        enum = tuple(chance.sample(MEMBERS, chance.randint(1, 5))) if chance.random() < 0.5 else None
        value_type = odd_type(chance)
        parameters.append(
            ParameterSpec(key, value_type, value_type.kind, chance.choice([True, True, False]), enum=enum)
        )
    return ToolSpec(name, "", tuple(parameters))


def odd_tools(chance: random.Random) -> LookupDictionary:
    return LookupDictionary(tuple(odd_tool(chance, n) for n in chance.sample(NAMES, chance.randint(1, 4))))


@pytest.mark.parametrize("format", ["pythonic", "api-bank"])
@pytest.mark.parametrize("seed", range(40))
def test_calls_are_valid_and_read_back(seed: int, format: str) -> None:
    chance = random.Random(seed)
    decoder = DECODERS[seed % 2]
    for number in range(4):
        tools = odd_tools(chance)
        options = DecodeOptions(
            format=format, max_value_tokens=chance.choice([1, 4, 12]), order_limit=chance.choice([1, 3]), max_calls=2
        )
        engine = RandomEngine(decoder.table.texts, seed * 10 + number, chance.choice(BIASES), chance.random() < 0.7)
        decoder.engine = engine
        [result] = decoder.run([Request(chance.choice(["x\n", "x ", "é"]), tools, options)])
        called = lookup(*(tools[c.voted.name] for c in result.calls))
        if not unreadable(options.call_format, called):
            assert result.valid, (result.text, result.errors)
        parsed = options.call_format.parse(result.text, tools)
        assert [(c.name, dict(c.arguments)) for c in parsed] == [
            (c.voted.name, c.voted.arguments) for c in result.calls
        ]
        for call in result.calls:
            for candidate in call.candidates:
                keys = [v.key for v in candidate.values]
                assert len(keys) == len(set(keys)) and {p.name for p in tools[candidate.name].required} <= set(keys)
                for value in candidate.values:
                    check_value(value.value, tools[candidate.name].parameter(value.key))


def write(wanted: str, spec: ParameterSpec, **fields: Any) -> Any:
    """What a model that wants to write ``wanted`` behind ``k=`` gets."""
    decoder = DECODERS[0]
    script = lambda text: wanted[len(text.split("k=")[-1]) :] if "k=" in text else "[f(k="  # noqa: E731
    engine = ScriptedEngine(decoder.table.texts, script)
    decoder.engine = engine
    [result] = decoder.run([Request("x\n", lookup(tool("f", spec)), DecodeOptions(max_calls=1, **fields))])
    assert result.valid, result.errors
    return result


@pytest.mark.parametrize(
    ("format", "wanted", "spec", "value"),
    [
        ("pythonic", "['北京', 'b'])]", parameter("k", "list", enum=("北京", "b")), ["北京", "b"]),
        ("pythonic", "12)]", parameter("k", "any", enum=("é", 1, 12)), 12),
        ("pythonic", "'é')]", parameter("k", "any", enum=("é", 1, 12)), "é"),
        ("pythonic", "['a'])]", parameter("k", "list", items="int", enum=("a",)), ["a"]),
        ("api-bank", "'[\"it\\'s\"]')]", parameter("k", "list", items="str", enum=("it's",)), ["it's"]),
        ("api-bank", '\'["it\\\'s", "b"]\')]', parameter("k", "list", items="str"), ["it's", "b"]),
        ("api-bank", "'[\"a\\\\\\\\b\"]')]", parameter("k", "list", enum=("a\\b",)), ["a\\b"]),
    ],
)
def test_what_the_model_wants_can_be_written(format: str, wanted: str, spec: ParameterSpec, value: Any) -> None:
    result = write(wanted, spec, format=format)
    assert result.calls[0].voted.arguments["k"] == value
    assert not result.errors


def test_lists_of_containers_can_be_closed_at_the_limit() -> None:
    nested = ParameterSpec("k", ValueType("list", ValueType("list")), "array", True)
    for limit in range(1, 9):
        result = write("[[1],[2],[3]])]", nested, format="pythonic", max_value_tokens=limit)
        assert isinstance(result.calls[0].voted.arguments["k"], list)


def test_hundreds_of_required_keys() -> None:
    many = tool("f", *(parameter(f"key{n}", "bool") for n in range(600)))
    decoder = DECODERS[0]
    engine = RandomEngine(decoder.table.texts)
    decoder.engine = engine
    decoder.context = None
    [result] = decoder.run([Request("x\n", lookup(many), DecodeOptions(order_limit=2))])
    assert result.valid and len(result.calls[0].voted.arguments) == 600


@pytest.mark.parametrize("prompt", ["x", "x\n", "x "])
def test_a_text_may_end_at_once(prompt: str) -> None:
    decoder = DECODERS[0]
    engine = RandomEngine(decoder.table.texts)
    engine._bias[[*BYTE_LEVEL.encode(" "), *BYTE_LEVEL.encode("\n")]] = 50.0  # keeps the prompt's end as it is
    engine._bias[BYTE_LEVEL.eos_token_id] = 100.0
    decoder.engine = engine
    [result] = decoder.run([Request(prompt, lookup(), DecodeOptions(tool_choice="none"))])
    assert result.text == ""


NEVER: dict[str, Any] = {"type": "string", "minLength": 5, "maxLength": 2}
CORNERS: list[dict[str, Any]] = [
    {"type": ["string", "null"], "enum": ["v1"]},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["b"]},
    {"type": "object", "additionalProperties": NEVER},
    {"type": "object", "patternProperties": {"^x": NEVER}, "additionalProperties": {"type": "integer"}},
    {"type": "integer", "multipleOf": 10**400},
    {"type": "number", "multipleOf": 1e308, "maximum": 0},
    {"type": "integer", "minimum": 10**30},
    {"type": "array", "items": {"type": ["boolean", "null"]}, "uniqueItems": True, "minItems": 3},
    {"type": "string", "format": "email"},
    {"anyOf": [{"type": "number"}, {"type": "integer"}]},
]


def decoded(schema: dict[str, Any], seed: int, format: str) -> Any:
    """The call of a tool whose required key has this schema, with random logits."""
    parameters = {"type": "object", "properties": {"k": schema}, "required": ["k"]}
    tools = extract({"name": "f", "description": "", "parameters": parameters})
    decoder = DECODERS[seed % 2]
    decoder.engine = RandomEngine(decoder.table.texts, seed, BIASES[seed % len(BIASES)])
    options = DecodeOptions(format=format, max_value_tokens=8, max_calls=1, order_limit=1)
    return decoder.run([Request("x\n", tools, options)])[0]


@pytest.mark.parametrize("format", ["pythonic", "hermes"])
@pytest.mark.parametrize("schema", CORNERS, ids=str)
def test_what_a_schema_says_in_its_corners_holds_for_random_logits(schema: dict[str, Any], format: str) -> None:
    for seed in range(10):
        result = decoded(schema, seed, format)
        value = result.calls[0].voted.arguments["k"]
        assert result.valid, result.errors
        assert "multipleOf" in schema or jsonschema.Draft202012Validator(schema).is_valid(value), value
        assert "multipleOf" not in schema or value % Fraction(str(schema["multipleOf"])) == 0


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["b"], "additionalProperties": False},
        {
            "type": "array",
            "items": {"type": "object", "additionalProperties": False},
            "uniqueItems": True,
            "minItems": 2,
        },
        {"type": "object", "additionalProperties": NEVER, "minProperties": 1},
    ],
    ids=str,
)
def test_what_no_value_can_obey_is_an_error_before_decoding(schema: dict[str, Any]) -> None:
    for around, path in ((schema, ""), ({"type": "array", "items": schema, "minItems": 1}, "items: ")):
        with pytest.raises(DocumentationError, match=f"^tool 'f': key 'k': {path}.*no value can obey the schema"):
            decoded(around, 0, "pythonic")
