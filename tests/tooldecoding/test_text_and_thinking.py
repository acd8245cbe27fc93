"""Free text of chat models: thinking, calls that the model opens itself, several calls, stops, limits, sampling."""

import itertools
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest
import torch

from tiny_models import byte_level_tokenizer, marked_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS, NATIVE_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tooldecoding.testing import ScriptedEngine, SyntheticDecoder
from tools import lookup, parameter, tool

TOOLS = lookup(tool("get_weather", parameter("city", "str"), parameter("days", "int")), tool("get_time"))
CALLS = [Call("get_weather", {"city": "Rome", "days": 3}), Call("get_time", {})]
PROMPT = "user: Rome?\nassistant:</s>\n"
THINKS = [
    ("<think>\n", "\n</think>\n\n"),
    ("[THINK]", "[/THINK]"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant"),
]


@lru_cache
def decoder(with_tokens: bool) -> SyntheticDecoder:
    tokenizer = marked_tokenizer() if with_tokens else byte_level_tokenizer()
    tokenizer.add_tokens(["｜", "▁", "年"])  # the scripted model cannot write a part of a character
    return SyntheticDecoder(tiny_model("llama", len(tokenizer)), tokenizer)


def request(made: SyntheticDecoder, text: str, prompt: str = PROMPT, tools: Any = TOOLS, **fields: Any) -> Request:
    """Set a model that wants to write ``text`` behind the prompt and then end its turn."""
    wanted = made.table.special.bound(text) + made.table.special.bound("</s>")
    shown = made.table.special.bound(prompt)
    made.engine = ScriptedEngine(made.table.texts, _continuation(wanted, shown))
    return Request(prompt, tools, DecodeOptions(**{"tool_choice": "auto", "order_limit": 1} | fields))


def _continuation(wanted: str, prompt: str) -> Callable[[str], str]:
    def go_on(so_far: str) -> str:
        written = so_far[so_far.find(prompt) + len(prompt) :]
        return wanted[len(written) :] if wanted.startswith(written) else wanted[-1]

    return go_on


def decode(made: SyntheticDecoder, text: str, tools: Any = TOOLS, **fields: Any) -> DecodeResult:
    return made.run([request(made, text, tools=tools, **fields)])[0]


def found(result: DecodeResult) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in result.calls]


@pytest.mark.parametrize("with_tokens", [True, False])
@pytest.mark.parametrize("call_format", NATIVE_FORMATS, ids=lambda f: f.name)
def test_text_then_calls(call_format: Any, with_tokens: bool) -> None:
    calls = CALLS if call_format.parallel else CALLS[:1]
    written = "Let me see [1].\n" + call_format.render(calls)
    result = decode(decoder(with_tokens), written, format=call_format.name)
    assert result.valid and found(result) == [(c.name, c.arguments) for c in calls]
    assert result.text == written and result.content == "Let me see [1]."


@pytest.mark.parametrize("with_tokens", [True, False])
@pytest.mark.parametrize("opening,closing", THINKS, ids=lambda mark: mark.strip())
@pytest.mark.parametrize("choice", ["auto", "required", "get_weather"])
def test_thinking_then_a_call(choice: str, opening: str, closing: str, with_tokens: bool) -> None:
    if not with_tokens and choice != "auto":
        pytest.skip("without a token for its mark, thinking before a required call cannot be told from other text")
    name = "harmony" if "analysis" in opening else "hermes"
    call = CALL_FORMATS[name].render(CALLS[:1])
    written = f"{opening}They want <b> the weather [get_time()].{closing}{call}"
    result = decode(decoder(with_tokens), written, format=name, tool_choice=choice, max_calls=1)
    assert result.valid and found(result) == [("get_weather", CALLS[0].arguments)]
    assert result.thinking == "They want <b> the weather [get_time()]." and not result.content
    assert result.text == written


@pytest.mark.parametrize("choice", ["auto", "required", "none"])
def test_the_prompt_may_open_the_thinking(choice: str) -> None:
    made = decoder(True)
    prompt = PROMPT + "<think>\n"
    wish = request(made, "Well.\n</think>\n\nIt is sunny.", prompt, tool_choice=choice, format="hermes", max_calls=1)
    [result] = made.run([wish])
    assert result.thinking == "Well."
    assert bool(result.calls) == (choice == "required") and result.content == "It is sunny." * (choice != "required")


@pytest.mark.parametrize("limit", [0, 1, 7])
def test_thinking_has_a_limit_of_its_own(limit: int) -> None:
    made = decoder(True)
    wish = request(made, "x" * 50, PROMPT + "<think>", max_thinking_tokens=limit, max_text_tokens=5, format="hermes")
    [result] = made.run([wish])
    thinking = len(made.table.encode_after(b"<think>", result.thinking.encode())) if result.thinking else 0
    assert thinking <= limit and "</think>" in result.text


@pytest.mark.parametrize("stop", ["sunny", "is su", "\n"])
def test_stops_end_the_content(stop: str) -> None:
    result = decode(decoder(True), f"<think>{stop}</think>It is sunny.\nYes.", stop=(stop,), format="hermes")
    assert result.content == "It is sunny.\nYes.".partition(stop)[0]
    assert result.thinking == stop.strip("\n")


def rome(name: str, times: int) -> str:
    """The first call again and again, as a model writes it."""
    return CALL_FORMATS[name].lead + CALL_FORMATS[name].render(CALLS[:1] * times)


PARALLEL = [call_format.name for call_format in CALL_FORMATS.values() if call_format.parallel]


@pytest.mark.parametrize(
    ("name", "choice"), list(zip(PARALLEL[::2], itertools.cycle(["required", "auto", "get_weather"]), strict=False))
)
def test_a_model_that_writes_one_call_again_and_again_makes_it_once(name: str, choice: str) -> None:
    result = decode(decoder(True), rome(name, 3), format=name, tool_choice=choice)
    assert found(result) == [(CALLS[0].name, CALLS[0].arguments)]
    assert (result.repeated, result.valid, result.cut, result.errors) == (True, True, False, ())
    assert result.text == CALL_FORMATS[name].ending(result.text, rome(name, 1))
    once = decode(decoder(True), rome(name, 1), format=name, tool_choice=choice)
    assert (result.text, result.token_ids, once.repeated) == (once.text, once.token_ids, False)


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ('{"a": 1, "b": [true, {"c": null}]}', '{"b": [true, {"c": null}], "a": 1}', True),
        ('{"a": "A"}', '{"a": "\\u0041"}', True),
        ('{"a": 1}', '{"a": 1.0}', True),
        ('{"a": 1}', '{"a": true}', False),
        ('{"a": 1}', '{"a": "1"}', False),
        ('{"a": [1, 2]}', '{"a": [2, 1]}', False),
        ('{"a": null}', "{}", False),
    ],
)
@pytest.mark.parametrize("orders", [1, 12])
def test_arguments_are_compared_as_values(first: str, second: str, equal: bool, orders: int) -> None:
    tools = lookup(tool("f", parameter("x", "dict"), parameter("y", "int")))
    calls = [f'<tool_call>\n{{"name": "f", "arguments": {{"x": {x}, "y": 2}}}}\n</tool_call>' for x in (first, second)]
    result = decode(decoder(True), "\n".join(calls), tools, format="hermes", order_limit=orders, tool_choice="required")
    assert (len(result.calls), result.repeated, result.valid) == (2 - equal, equal, True)


@pytest.mark.parametrize("choice", ["none", "auto", "required"])
def test_all_branches_are_released_and_calls_are_limited(choice: str) -> None:
    made, wanted = decoder(True), CALL_FORMATS["hermes"].render(CALLS)
    wish = request(made, wanted, tool_choice=choice, max_text_tokens=3, max_calls=1, format="hermes")
    engine, released = made.engine, list[int]()
    engine.release = released.append  # type: ignore[method-assign]
    [result] = made.run([wish])
    assert sorted(released) == list(range(engine.fork(0)))  # all ids before the next one, each once
    assert len(result.calls) == (choice != "none")


@lru_cache
def real() -> ToolDecoder:
    tokenizer = byte_level_tokenizer()
    return ToolDecoder(tiny_model("llama", len(tokenizer)), tokenizer)


def written(**fields: Any) -> str:
    options = DecodeOptions(tool_choice="none", max_text_tokens=12, **fields)
    return real().run([Request("once upon a time ", TOOLS, options)])[0].text


def generated(**fields: Any) -> str:
    ids = torch.tensor([real().prompt_ids(Request("once upon a time ", TOOLS, DecodeOptions(tool_choice="none")))])
    ends = [token for token, text in real().table.special.texts.items() if text]
    output = real().model.generate(ids, max_new_tokens=12, pad_token_id=0, eos_token_id=ends, **fields)
    tokens = [token for token in output[0, ids.shape[1] :].tolist() if token not in ends]
    return real().table.join(tokens).decode(errors="replace")


@pytest.mark.parametrize("penalty", [1.0, 1.3, 0.7])
def test_greedy_text_is_that_of_generate(penalty: float) -> None:
    assert written(repetition_penalty=penalty) == generated(do_sample=False, repetition_penalty=penalty)


def test_sampled_text_depends_on_the_seed_alone() -> None:
    texts = [written(temperature=1.5, seed=seed) for seed in (1, 1, 2, 3)]
    assert texts[0] == texts[1] and len(set(texts)) > 1


@pytest.mark.parametrize("narrow", [{"top_k": 1}, {"top_p": 0.0}, {"temperature": 1e-6}])
def test_narrow_sampling_is_greedy(narrow: dict[str, Any]) -> None:
    assert written(**{"temperature": 1.0} | narrow) == written()
