"""The Python API: calls that can be read, and a typed error for each mistake."""


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


def test_unknown_keywords_are_named_with_the_nearest(decoder: ToolDecoder) -> None:
    with pytest.raises(ConfigError, match="unknown option 'order_limits'; did you mean 'order_limit'"):
        decoder.decode("x", TOOLS, order_limits=1)
    with pytest.raises(ConfigError, match="unknown option 'nonsense'"):
        ToolDecoder(decoder.model, decoder.tokenizer, nonsense=1)
    with pytest.raises(ConfigError, match="order_limit: expected a whole number of 1 or more, got 0"):
        decoder.decode("x", TOOLS, order_limit=0)
    with pytest.raises(PromptError, match="unknown tool_choice 'Halt'; known: auto, required, none, BookTable"):
        decoder.decode("x", TOOLS, tool_choice="Halt")
    with pytest.raises(ConfigError, match="unknown option 'nonsense'"):
        tool_decoding(decoder.tokenizer, TOOLS, nonsense=1)


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
