"""What Python callers get wrong is a typed error that names it."""

from typing import Any

import pytest

from command_line import CASES
from lookup.errors import DocumentationError
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding import ToolDecoder, tool_decoding
from tooldecoding.errors import ConfigError, PromptError

TOOLS = (CASES / "tools.jsonl").read_text()


@pytest.fixture(scope="module")
def decoder() -> ToolDecoder:
    tokenizer = byte_level_tokenizer()
    return ToolDecoder(tiny_model("llama", len(tokenizer)), tokenizer, order_limit=1, max_value_tokens=2)


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (None, "expected a prompt, a text, token ids .* or messages .*, or a list of prompts, got NoneType"),
        (5, "got int"),
        (b"text", "got bytes"),
        ({"prompt": "text"}, "got dict"),
        ([None], "prompt 0 of the list: expected a text, token ids .* got NoneType"),
        (["text", 7], "prompt 1 of the list: expected a text, token ids .* got int"),
        ("", "the prompt is empty"),
    ],
)
def test_what_is_no_prompt(decoder: ToolDecoder, prompt: Any, said: str) -> None:
    with pytest.raises(PromptError, match=said):
        decoder.decode(prompt, TOOLS)


def test_no_prompts_are_no_results(decoder: ToolDecoder) -> None:
    assert decoder.decode([], TOOLS) == []


def test_unknown_keywords_are_named_with_the_nearest(decoder: ToolDecoder) -> None:
    with pytest.raises(ConfigError, match="unknown option 'order_limits'; did you mean 'order_limit'"):
        decoder.decode("x", TOOLS, order_limits=1)
    with pytest.raises(ConfigError, match="unknown option 'nonsense'"):
        ToolDecoder(decoder.model, decoder.tokenizer, nonsense=1)
    with pytest.raises(ConfigError, match="unknown option 'nonsense'"):
        tool_decoding(decoder.tokenizer, TOOLS, nonsense=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [("seed", "x"), ("seed", None), ("tool_choice", 3), ("order_limit", "many"), ("format", []), ("orders", 1)],
)
def test_values_of_the_wrong_type_are_named(decoder: ToolDecoder, name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=name):
        decoder.decode("x", TOOLS, **{name: value})


def test_what_is_no_documentation(decoder: ToolDecoder) -> None:
    with pytest.raises(DocumentationError):
        decoder.decode("x", 5)  # type: ignore[arg-type]
