"""Law 1 on documentation that no corpus has: odd enums, names, keys and types, with random and biased logits."""

import random
from typing import Any

import pytest

from eval.benchmarks.api_bank.parser import get_api_call
from eval.benchmarks.bfcl.parser import decode_calls
from eval.benchmarks.python_calls import CallDecodeError
from lookup.dictionary import LookupDictionary, ParameterSpec, ToolSpec, ValueType
from tiny_models import byte_level_tokenizer, sentencepiece_tokenizer, tiny_model
from tooldecoding.formats.known_formats import unreadable
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.testing import RandomEngine, SyntheticDecoder
from tools import lookup
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


def as_bfcl_reads(text: str) -> Any:
    try:
        return decode_calls(text)
    except CallDecodeError:
        return None


@pytest.mark.parametrize("format", ["pythonic", "api-bank"])
@pytest.mark.parametrize("seed", range(25))
def test_calls_are_valid_where_the_official_readers_find_them(seed: int, format: str) -> None:
    chance = random.Random(seed)
    decoder = DECODERS[seed % 2]
    for number in range(3):
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
        if format == "pythonic":
            written = [(call.name, call.arguments) for call in result.calls]
            assert result.valid == (as_bfcl_reads(result.text) == written), (result.text, result.errors)
        elif result.valid:
            found = get_api_call(result.text)
            assert found is not None and found.name == result.calls[0].name
        for call in result.calls:
            for candidate in call.candidates:
                keys = [v.key for v in candidate.values]
                assert len(keys) == len(set(keys)) and {p.name for p in tools[candidate.name].required} <= set(keys)
                for value in candidate.values:
                    check_value(value.value, tools[candidate.name].parameter(value.key))
