"""The Python API: options that type checkers know, and calls that can be read without the vote."""

from dataclasses import fields
from typing import get_type_hints

import pytest

from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.option_fields import DecodeOptionFields
from tooldecoding.options import DecodeOptions
from tooldecoding.result import DecodeResult
from tooldecoding.testing import ScriptedEngine, SyntheticDecoder
from tools import lookup, parameter, tool

TOKENIZER = byte_level_tokenizer()
DECODER = SyntheticDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER, max_calls=1)
TOOLS = lookup(tool("F", parameter("x", "int")))


def test_the_option_fields_are_those_of_the_options() -> None:
    hints = get_type_hints(DecodeOptions)
    assert get_type_hints(DecodeOptionFields) == {f.name: hints[f.name] for f in fields(DecodeOptions)}


def test_a_call_has_a_name_and_arguments() -> None:
    text = "[F(x='7')]"
    DECODER.engine = ScriptedEngine(DECODER.table.texts, lambda so_far: text[len(so_far) - len("go on\n") :] or " ")
    result = DECODER.decode("go on\n", tools=TOOLS)
    assert isinstance(result, DecodeResult) and str(result) == result.text == text
    [call] = result.calls
    assert (call.name, call.arguments, str(call)) == ("F", {"x": 7}, "F(x=7)")
    assert call.confidence("x") == call.confidences[0]
    assert "F(x=7)" in repr(call) and "valid" in repr(result)
    with pytest.raises(KeyError):
        call.confidence("y")


def test_several_prompts_give_a_list() -> None:
    DECODER.engine = ScriptedEngine(DECODER.table.texts, lambda so_far: "[F(x='7')]")
    assert [type(r) for r in DECODER.decode(["a\n", "b\n"], tools=TOOLS)] == [DecodeResult] * 2
    assert DECODER.strategy is None and DECODER.prompt_cache.max_bytes == 0
