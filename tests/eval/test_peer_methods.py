"""xgrammar and llguidance as methods: what they write are calls, their grammars, and what an answer costs."""

import re
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
import torch
from jsonschema import validate

from eval.errors import EvalError
from eval.methods.argument_schema import arguments_schema
from eval.methods.call_grammar import demand_grammar
from eval.methods.lark_values import in_order
from eval.methods.peer_decoding import run_peer
from eval.methods.peers import PEERS, Peer
from eval.methods.prediction import Prediction
from lookup import extract
from lookup.values.literal_values import read_value, render_value
from tiny_models import byte_level_tokenizer, sentencepiece_tokenizer, tiny_model
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions
from voting import check_value

DAY = {"type": "object", "properties": {"n": {"type": "integer"}, "k": {"enum": ["x", "y'z"]}}, "required": ["n"]}
TOOLS = extract(
    [
        {
            "name": "book",
            "parameters": {
                "type": "object",
                "properties": {
                    "on": {"type": "boolean"},
                    "days": {"type": "integer"},
                    "to": {"type": "string", "enum": ["a'b", 'c\\"d', "ü"]},
                    "price": {"type": ["number", "null"]},
                    "when": {"type": "array", "items": DAY},
                    "day": DAY,
                    "city": {"type": "string"},
                },
                "required": ["days", "to"],
            },
        },
        {"name": "stop", "parameters": {"type": "object", "properties": {}}},
        {"name": "stop_all", "parameters": {"type": "object", "properties": {"in": {"type": "integer"}}}},
    ]
)
PROMPTS = ["User: go\nCalls: ", "AI: what is the weather like in San Francisco?\nAPI-Request: ", "x"]
FORMATS = ["pythonic", "api-bank", "olmo3", "hermes", "json-list", "mistral-args", "deepseek-v3.1"]


def decoder_of(kind: str) -> ToolDecoder:
    tokenizer = byte_level_tokenizer() if kind == "bytes" else sentencepiece_tokenizer(byte_fallback=True)
    return ToolDecoder(tiny_model("llama", len(tokenizer)), tokenizer, prompt_cache_mb=0)


@pytest.fixture(scope="module", params=["bytes", "sentencepiece"])
def decoder(request: pytest.FixtureRequest) -> ToolDecoder:
    return decoder_of(request.param)


@pytest.fixture(scope="module", params=PEERS.values(), ids=lambda peer: peer.name)
def peer(request: pytest.FixtureRequest, decoder: ToolDecoder) -> Peer:
    pytest.importorskip(request.param.name)
    return request.param(decoder.table)


def requests(call_format: str, choice: str = "required", most: int = 800) -> list[Request]:
    options = DecodeOptions(format=call_format, tool_choice=choice, max_text_tokens=most, max_calls=2)
    return [Request(prompt, TOOLS, options) for prompt in PROMPTS]


def calls_of(call_format: CallFormat, text: str) -> Sequence[tuple[str, Sequence[tuple[str, Any]]]]:
    """The calls in a text; fails unless names, keys and values are those of the documentation, in its order."""
    found = call_format.reader(text)
    for name, pairs in found:
        keys, documented = [key for key, _ in pairs], [p.name for p in TOOLS[name].parameters]
        assert keys == [key for key in documented if key in keys]
        assert {p.name for p in TOOLS[name].required} <= set(keys)
        for key, value in pairs:
            spec, notation = TOOLS[name].parameter(key), call_format.notation
            check_value(read_value(render_value(value, notation), spec, notation), spec)
    return found


def whole(prediction: Prediction, most: int = 800) -> bool:
    return int(prediction.counters["constrained_tokens"]) < most


@pytest.mark.parametrize("call_format", FORMATS)
@pytest.mark.parametrize("jump", [False, True], ids=["each token", "jump-forward"])
def test_every_answer_is_calls(decoder: ToolDecoder, peer: Peer, call_format: str, jump: bool) -> None:
    written = run_peer(decoder, peer, requests(call_format), jump)
    assert sum(map(whole, written)) > len(written) // 2
    for prediction in filter(whole, written):
        calls = calls_of(CALL_FORMATS[call_format], prediction.text)
        assert len(calls) <= (2 if CALL_FORMATS[call_format].parallel else 1)


@pytest.mark.parametrize("call_format", ["pythonic", "hermes"])
def test_each_token_costs_a_pass(decoder: ToolDecoder, peer: Peer, call_format: str) -> None:
    [request, *_] = requests(call_format)
    counts = []

    def count(_: object, args: object, kwargs: dict[str, torch.Tensor]) -> None:
        counts.append(kwargs["input_ids"].numel())

    handle = decoder.model.register_forward_pre_hook(count, with_kwargs=True)
    [prediction] = run_peer(decoder, peer, [request])
    handle.remove()
    counters = prediction.counters
    assert (counters["forward_passes"], counters["positions"]) == (len(counts), sum(counts))
    assert counters["forced_tokens"] == counters["free_tokens"] == 0
    assert len(counts) - counters["constrained_tokens"] in (0, 1)  # the end of the turn, where more could follow


def test_together_as_alone(decoder: ToolDecoder, peer: Peer) -> None:
    for choice in ("required", "auto"):
        asked = requests("pythonic", choice, 100)
        together = run_peer(decoder, peer, asked)
        alone = [run_peer(decoder, peer, [request])[0] for request in asked]
        assert [p.text for p in together] == [p.text for p in alone]
        assert [p.counters["forward_passes"] for p in together] == [p.counters["forward_passes"] for p in alone]


def test_forced_tokens_cost_no_pass(decoder: ToolDecoder, peer: Peer) -> None:
    for call_format in ("pythonic", "hermes"):
        asked = requests(call_format)
        for prediction in run_peer(decoder, peer, asked, jump_forward=True):
            counters = prediction.counters
            assert counters["forced_tokens"] > 0
            assert counters["forward_passes"] <= counters["constrained_tokens"] + 1
        if peer.name == "llguidance":  # which always writes forced text in these tokens
            each, jumped = (run_peer(decoder, peer, asked, jump) for jump in (False, True))
            assert [p.text for p in each] == [p.text for p in jumped]


def test_the_text_before_a_call_is_the_models_own(decoder: ToolDecoder, peer: Peer) -> None:
    free = run_peer(decoder, peer, requests("pythonic", "none", 200))
    for written, own in zip(run_peer(decoder, peer, requests("pythonic", "auto", 200)), free, strict=True):
        before, opener, calls = written.text.partition("[")
        assert own.text.startswith(before)
        if opener and len(written.text) > len(own.text[: len(before)]) and calls.endswith("]"):
            calls_of(CALL_FORMATS["pythonic"], opener + calls)


def test_a_named_tool_is_called(decoder: ToolDecoder, peer: Peer) -> None:
    for prediction in run_peer(decoder, peer, requests("api-bank", "stop_all")):
        assert prediction.text.startswith("[stop_all(")


def test_a_library_that_refuses_a_grammar(decoder: ToolDecoder, peer: Peer) -> None:
    from eval.methods.call_grammar import Grammar

    with pytest.raises(EvalError, match=f"{peer.name} refuses the grammar of these tools: "):
        peer.matcher(Grammar("start: nothing_of_this_name\n", {}))


@pytest.mark.parametrize("name", CALL_FORMATS)
def test_formats_without_a_grammar_are_named(name: str) -> None:
    without = {"qwen-xml", "glm-4.5", "glm-4.7", "deepseek-v3.2", "gemma4", "functiongemma", "lfm2.5", "kimi-k2"}
    if name not in without | {"minimax-m2", "cohere"}:
        demand_grammar("xgrammar", CALL_FORMATS[name])
        return
    with pytest.raises(EvalError, match=f"the method xgrammar has no grammar of calls in the format {name}; formats"):
        demand_grammar("xgrammar", CALL_FORMATS[name])


@pytest.mark.parametrize("required", product([True, False], repeat=4))
def test_keys_in_order(required: tuple[bool, ...]) -> None:
    for count in range(len(required) + 1):
        keys = "abcd"[:count]
        pattern = re.sub(r'[ "]', "", in_order(list(zip(keys, required, strict=False)), '","'))
        for kept in product([True, False], repeat=count):
            text = ",".join(key for key, keep in zip(keys, kept, strict=True) if keep)
            allowed = all(keep or not needed for keep, needed in zip(kept, required, strict=False))
            assert bool(re.fullmatch(pattern, text)) == allowed
        assert count < 2 or not re.fullmatch(pattern, ",".join(reversed(keys)))


def test_our_own_calls_obey_the_schema_that_others_get() -> None:
    decoder = decoder_of("bytes")
    for prompt in PROMPTS:
        result = decoder.decode(prompt, TOOLS, format="hermes", order_limit=1, max_value_tokens=8)
        for call in result.calls:
            validate(call.arguments, arguments_schema(TOOLS[call.name].parameters))
