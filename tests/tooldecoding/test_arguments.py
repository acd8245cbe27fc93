"""The Python API: calls that can be read, and a typed error for each mistake."""

from typing import Any

import pytest

from command_line import CASES
from lookup.errors import DocumentationError
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding import ToolDecoder, tool_decoding
from tooldecoding.errors import ConfigError, PromptError
from tooldecoding.result import DecodeResult
from tooldecoding.testing import ScriptedEngine, SyntheticDecoder
from tools import lookup, parameter, tool

TOOLS = (CASES / "tools.jsonl").read_text()
TOKENIZER = byte_level_tokenizer()
MODEL = tiny_model("llama", len(TOKENIZER))


@pytest.fixture(scope="module")
def decoder() -> ToolDecoder:
    return ToolDecoder(MODEL, TOKENIZER, order_limit=1, max_value_tokens=2)


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (None, "expected a prompt, a text, token ids .* or messages .*, or a list of prompts, got NoneType"),
        (5, "got int"),
        ({"prompt": "text"}, "got dict"),
        (["text", 7], "prompt 1 of the list: expected a text, token ids .* got int"),
        ("", "the prompt is empty"),
    ],
)
def test_what_is_no_prompt(decoder: ToolDecoder, prompt: Any, said: str) -> None:
    with pytest.raises(PromptError, match=said):
        decoder.decode(prompt, TOOLS)


def test_unknown_keywords_are_named_with_the_nearest(decoder: ToolDecoder) -> None:
    with pytest.raises(ConfigError, match="unknown option 'order_limits'; did you mean 'order_limit'"):
        decoder.decode("x", TOOLS, order_limits=1)
    with pytest.raises(ConfigError, match="unknown option 'nonsense'"):
        ToolDecoder(decoder.model, decoder.tokenizer, nonsense=1)
    with pytest.raises(ConfigError, match="unknown option 'nonsense'"):
        tool_decoding(decoder.tokenizer, TOOLS, nonsense=1)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("seed", "x", "seed"),
        ("tool_choice", 3, "tool_choice"),
        ("tool_choice", "Halt", "unknown tool_choice 'Halt'; known: auto, required, none, BookTable"),
        ("order_limit", 0, "order_limit: expected a whole number of 1 or more, got 0"),
        ("order_limit", "many", "order_limit"),
        ("format", "json", r"format: expected 'auto', 'api-bank', 'pythonic', .* got 'json'"),
        ("orders", 1, "orders"),
    ],
)
def test_wrong_options_are_named(decoder: ToolDecoder, name: str, value: Any, said: str) -> None:
    with pytest.raises((ConfigError, PromptError), match=said):
        decoder.decode("x", TOOLS, **{name: value})


def test_what_is_no_documentation(decoder: ToolDecoder) -> None:
    with pytest.raises(DocumentationError):
        decoder.decode("x", 5)  # type: ignore[arg-type]
    with pytest.raises(PromptError, match="no tool to call"):
        decoder.decode("x", tools=lookup())
    with pytest.raises(DocumentationError, match=r"'f\(' is the beginning of 'f\(x\)\('"):
        decoder.decode("x", tools=lookup(tool("f"), tool("f(x)")))


def test_a_call_has_a_name_and_arguments() -> None:
    text, decoder = "[F(x='7')]", SyntheticDecoder(MODEL, TOKENIZER, max_calls=1)
    decoder.engine = ScriptedEngine(decoder.table.texts, lambda so_far: text[len(so_far) - len("go on\n") :] or " ")
    tools = lookup(tool("F", parameter("x", "int")))
    result = decoder.decode("go on\n", tools=tools)
    assert isinstance(result, DecodeResult) and str(result) == result.text == text
    [call] = result.calls
    assert (call.name, call.arguments, str(call)) == ("F", {"x": 7}, "F(x=7)")
    assert call.confidence("x") == call.confidences[0]
    assert "F(x=7)" in repr(call) and "valid" in repr(result)
    with pytest.raises(KeyError):
        call.confidence("y")
    assert [type(r) for r in decoder.decode(["go on\n", "go on\n"], tools=tools)] == [DecodeResult] * 2
