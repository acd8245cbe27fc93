"""xgrammar and llguidance as methods: what they write are calls, their grammars, and what an answer costs."""

import re
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import product

import pytest

from eval.errors import EvalError
from eval.methods.call_grammar import demand_grammar, in_order
from eval.methods.peers import PEERS, Peer, load_peer, run_peer
from eval.methods.prediction import Prediction
from lookup import extract
from lookup.grammar.literal_values import read_value, render_value
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.calls_reader import read_back
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tools import documented
from voting import check_value

WHOLE = {"type": "integer"}
DAY = {"type": "object", "properties": {"n": WHOLE, "k": {"enum": ["x", "y'z"]}}, "required": ["n"]}
KEYS = {
    "on": {"type": "boolean"},
    "days": WHOLE,
    "to": {"type": "string", "enum": ["a'b", 'c\\"d', "ü"]},
    "seats": {"type": ["integer", "null"]},
    "when": {"type": "array", "items": DAY},
    "day": DAY,
    "city": {"type": "string"},
}
BOOK = documented("book", ["days", "to"], **KEYS)
TOOLS = extract([BOOK, documented("stop"), documented("stop_all", [], hours=WHOLE)])
PROMPTS = ["User: go\nCalls: ", "AI: what is the weather like in San Francisco?\nAPI-Request: ", "x"]
FORMATS = ["pythonic", "api-bank", "olmo3", "hermes", "json-list", "mistral-args"]


@pytest.fixture(scope="module")
def decoder() -> ToolDecoder:
    tokenizer = byte_level_tokenizer()
    return ToolDecoder(tiny_model("llama", len(tokenizer)), tokenizer, prompt_cache_mb=0)


@pytest.fixture(scope="module", params=PEERS)
def peer(request: pytest.FixtureRequest, decoder: ToolDecoder) -> Peer:
    pytest.importorskip(request.param)
    return load_peer(request.param, decoder.table)


def demand_calls(call_format: CallFormat, written: Sequence[Prediction]) -> None:
    """Names, keys and values of whole answers are those of the documentation, in its order."""
    whole = [prediction for prediction in written if prediction.counters["constrained_tokens"] < 400]
    assert whole
    for prediction in whole:
        found = read_back(call_format, prediction.text)
        assert len(found) <= (2 if call_format.parallel else 1)
        for name, pairs in found:
            keys, documented = [key for key, _ in pairs], [p.name for p in TOOLS[name].parameters]
            assert keys == [key for key in documented if key in keys]
            assert {p.name for p in TOOLS[name].required} <= set(keys)
            for key, value in pairs:
                spec, notation = TOOLS[name].parameter(key), call_format.notation
                check_value(read_value(render_value(value, notation), spec, notation), spec)


@pytest.mark.parametrize("call_format", FORMATS)
def test_every_answer_is_calls(decoder: ToolDecoder, peer: Peer, call_format: str) -> None:
    options = DecodeOptions(format=call_format, tool_choice="required", max_text_tokens=400, max_calls=2)
    found = run_peer(decoder, peer, [Request(prompt, TOOLS, options) for prompt in PROMPTS])
    demand_calls(CALL_FORMATS[call_format], found)
    for counters in (prediction.counters for prediction in found):
        # a pass a token and none for tokens that are forced; one for the end of the turn, where more could follow
        assert counters["forced_tokens"] == counters["free_tokens"] == 0
        assert counters["forward_passes"] - counters["constrained_tokens"] in (0, 1)


def test_formats_without_a_grammar_are_named() -> None:
    without = {"qwen-xml", "glm-4.5", "glm-4.7", "deepseek-v3.2", "gemma4", "functiongemma", "lfm2.5", "kimi-k2"}
    for name, call_format in CALL_FORMATS.items():
        lacks = name in without | {"minimax-m2", "cohere"}
        said = f"the method xgrammar has no grammar of calls in the format {name}; formats"
        with pytest.raises(EvalError, match=said) if lacks else nullcontext():
            demand_grammar("xgrammar", call_format)


@pytest.mark.parametrize("required", [*product([True, False], repeat=4)])
def test_keys_in_order(required: tuple[bool, ...]) -> None:
    for count in range(len(required) + 1):
        keys = "abcd"[:count]
        pattern = re.sub(r'[ "]', "", in_order(list(zip(keys, required, strict=False)), '","'))
        for kept in product([True, False], repeat=count):
            text = ",".join(key for key, keep in zip(keys, kept, strict=True) if keep)
            allowed = all(keep or not needed for keep, needed in zip(kept, required, strict=False))
            assert bool(re.fullmatch(pattern, text)) == allowed
        assert count < 2 or not re.fullmatch(pattern, ",".join(reversed(keys)))
