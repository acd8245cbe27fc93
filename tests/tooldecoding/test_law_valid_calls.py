"""Law 1 on documentation that no corpus has, with random models: calls are valid, and all fits in the context."""

import json
import random
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from eval.benchmarks.api_bank.checker import get_api_call
from eval.benchmarks.python_calls import decode_calls
from formats.law.law import BIASES
from lookup.dictionary import ParameterSpec, ToolSpec, ValueType
from lookup.errors import DocumentationError
from lookup.extract import extract
from synthetic import Eager, RandomEngine, decode, synthetic
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.decoding.compiled_tools import CompiledTools
from tooldecoding.engines.engine import Feed
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.errors import PromptError
from tooldecoding.formats.cursor import UnreadableCallError
from tooldecoding.formats.known_formats import CALL_FORMATS, unreadable
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.testing import SyntheticDecoder
from tools import PROMPTS, WEATHER, documented, lookup, sound
from voting import check_value

MEMBERS: list[Any] = [
    "it's", 'a "b"', "a\\b", "x\ny", "", " ", "北京", "上海", "😀", "é", "a", "ab", "True", "1",
    1, 13, -2, 1.5, 1e20, True, False, None, [], [1], ["a", "it's"], {"k": "v'"},
]  # fmt: skip
KINDS = ["str", "int", "float", "bool", "list", "dict", "tuple", "any"]
NAMES = ["f", "f2", "a.b", "GET /x/{id}", "天气", "naïve", "a-b", "with space", "x'y", 'q"z', "😀", "f "]
KEYS = ["a", "ab", "año", "k-1", "q[]", "d[x]", "from", "type", "x y", "😀k"]


def odd_type(chance: random.Random, depth: int = 2) -> ValueType:
    kind = chance.choice(KINDS)
    items = odd_type(chance, depth - 1) if kind in ("list", "tuple") and depth and chance.random() < 0.7 else None
    if items and chance.random() < 0.3:
        items = ValueType(items.kind, items.items, tuple(chance.sample(MEMBERS, chance.randint(1, 4))))
    return ValueType(kind, items)  # type: ignore[arg-type]


def odd_tool(chance: random.Random, name: str) -> ToolSpec:
    parameters = []
    for key in chance.sample(KEYS, chance.randint(0, 5)):
        enum = tuple(chance.sample(MEMBERS, chance.randint(1, 5))) if chance.random() < 0.5 else None
        value_type, required = odd_type(chance), chance.choice([True, True, False])
        parameters.append(ParameterSpec(key, value_type, value_type.kind, required, enum=enum))
    return ToolSpec(name, "", tuple(parameters))


@pytest.mark.parametrize("format", ["pythonic", "api-bank"])
@pytest.mark.parametrize("seed", range(25))
def test_calls_are_valid_where_the_official_readers_find_them(seed: int, format: str) -> None:
    chance, kind = random.Random(seed), ("byte level", "pieces and bytes")[seed % 2]
    for number in range(3):
        tools = lookup(*(odd_tool(chance, name) for name in chance.sample(NAMES, chance.randint(1, 4))))
        bias, can_roll_back = chance.choice(list(BIASES.values())), chance.random() < 0.7
        fields = {"max_value_tokens": chance.choice([1, 4, 12]), "order_limit": chance.choice([1, 3]), "max_calls": 2}
        table, drawn = synthetic(kind).table, seed * 10 + number
        eager = Eager(CALL_FORMATS[format], table, drawn, tools.tools[0].name)
        engine = eager if number == 1 else RandomEngine(table.texts, drawn, bias, can_roll_back)
        result = decode(engine, chance.choice(["x\n", "x ", "é"]), tools, kind, format=format, **fields)
        if not unreadable(CALL_FORMATS[format], lookup(*(tools[c.voted.name] for c in result.calls))):
            assert sound(result), (result.text, result.errors)
        if format == "pythonic":
            read, written = None, [(call.name, call.arguments) for call in result.calls]
            with suppress(UnreadableCallError):
                read = [(call.name, call.arguments) for call in decode_calls(result.text)]
            refused = any("reader of the format" in error for error in result.errors)
            assert refused == (read != written), (result.text, result.errors)
        elif result.valid:
            found = get_api_call(result.text)
            assert found is not None and found.name == result.calls[0].name
        for candidate in (candidate for call in result.calls for candidate in call.candidates):
            called, keys = tools[candidate.name], [v.key for v in candidate.values]
            assert len(keys) == len(set(keys)) and {p.name for p in called.required} <= set(keys)
            for value in candidate.values:
                if not value.truncated:
                    check_value(value.value, called.parameter(value.key))


def test_a_padded_vocabulary() -> None:
    tokenizer = byte_level_tokenizer()
    model = tiny_model("llama", len(tokenizer) + 400)  # random logits mostly prefer ids that the tokenizer lacks
    decoder = ToolDecoder(model, tokenizer, max_value_tokens=5)
    assert decoder.table.is_special(len(tokenizer) + 399) and decoder.table.join([len(tokenizer) + 399]) == b""
    assert all(sound(r) for r in decoder.decode(PROMPTS, tools=lookup(WEATHER)))


TOKENIZER = byte_level_tokenizer()


class Measured(RandomEngine):
    """Remembers the longest sequence that was fed, tried tokens among it."""

    longest = 0

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        answers = super().extend(feeds)
        self.longest = max(self.longest, *(len(self._branches[f.branch].tokens) for f in feeds))
        return answers


@pytest.fixture(scope="module")
def narrow() -> SyntheticDecoder:
    decoder = SyntheticDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER)
    decoder.context = 1024
    return decoder


TREE = {"type": "object", "properties": {"next": {"$ref": "#/properties/tree"}}}
BOUNDED: dict[str, dict[str, Any]] = {
    "plain": {"text": {"type": "string"}, "number": {"type": "number"}, "any": {}},
    "long": {"text": {"type": "string", "maxLength": 10_000}, "sign": {"pattern": r"\S", "maxLength": 1500}},
    "short": {"text": {"type": "string", "minLength": 40}, "list": {"type": "array", "minItems": 9, "maxItems": 5000}},
    "enum": {"member": {"enum": ["a", "b" * 500]}, "size": {"enum": [1, 10**40]}},
    "object": {"o": {"type": "object", "properties": {"a" * 90: {}, "b": {"type": "string"}}, "required": ["b"]}},
    "optional": {"text": {"type": "string"}, "more": {"type": "string", "minLength": 300}},
    "tree": {"tree": TREE},
    "bytes": {
        "list": {"type": "array", "items": {"enum": ["a", "é" + "b" * 500]}, "minItems": 1},
        "sign": {"type": "string", "pattern": "^([é😀]{1,3}x{400}|a+)$"},
        "above": {"type": "number", "exclusiveMinimum": 1000},
    },
    "marks": {"any": {"anyOf": [{"enum": ["</tool_call>", ""]}, {"type": "array"}]}},
}


@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.parametrize("format", CALL_FORMATS)
def test_the_shortest_call_is_what_is_reserved_and_never_exceeded(
    narrow: SyntheticDecoder, format: str, name: str
) -> None:
    """A prompt and the shortest call fit, or it is an error; whatever the model likes, a call ends in the context."""
    documents = [documented("Put", [key for key in BOUNDED[name] if key != "more"], **BOUNDED[name])]
    tools = extract(json.dumps(documents))
    options = DecodeOptions(format, order_limit=2, max_value_tokens=10**6, next_call_threshold=0)
    shortest = CompiledTools(tools, narrow.table, options).shortest
    assert shortest < 400
    for number, bias in enumerate(list(BIASES.values())[len(format) % 2 :: 2]):
        for room in (shortest, shortest + 7 * number + 3):
            narrow.engine = engine = Measured(narrow.table.texts, room, bias)
            [result] = narrow.run([Request([5] * (1024 - room), tools, options)])
            assert engine.longest <= 1024
            assert result.calls and sound(result), result.errors
    with pytest.raises(PromptError, match=rf"{1025 - shortest} tokens .* context is 1024 tokens: 1 too many"):
        narrow.run([Request([5] * (1025 - shortest), tools, options)])


def test_an_optional_key_that_cannot_be_written_is_told_before_decoding(narrow: SyntheticDecoder) -> None:
    documents = [documented("Put", ["a"], a={}, tab={"enum": ["\t"]}), documented("Get", a={})]
    tools = extract(json.dumps(documents))
    narrow.engine = RandomEngine(narrow.table.texts)
    options = [DecodeOptions(format="glm-4.5", tool_choice=choice) for choice in ("required", "Get", "none")]
    wrong, *right = [Request([5], tools, each, dialects=True) for each in options]
    with pytest.raises(DocumentationError, match="tool 'Put': key 'tab': the member"):
        narrow.prompt_ids(wrong)
    assert all(sound(result) for result in narrow.run(right))
