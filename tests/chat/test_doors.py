"""The same at every door: defaults, options as an object, several conversations, and the groups of ``--help``."""

import re
from dataclasses import fields
from typing import Any

import pytest
from chat_models import chat_tokenizer

from eval.options import EvalOptions
from tiny_models import tiny_model
from tooldecoding import DecodeOptions, ToolDecoder, chat_inputs, tool_decoding
from tooldecoding.cli.decode import DECODE
from tooldecoding.errors import ConfigError
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.options.serve_command import ServeCommand
from tools import documented

DEFAULTS = {field.name: field.default for field in fields(DecodeOptions)}
TOOLS = [documented("note", n={"type": "integer"})]
USER = [{"role": "user", "content": "Go."}]


@pytest.fixture(scope="module")
def decoder() -> ToolDecoder:
    tokenizer = chat_tokenizer()
    return ToolDecoder(tiny_model("llama", len(tokenizer)), tokenizer, order_limit=1, max_calls=1, max_text_tokens=4)


@pytest.mark.parametrize(
    ("door", "own"),
    [(DecodeCommand, {}), (ServeCommand, {}), (EvalOptions, {"format": "api-bank", "tool_choice": "auto"})],
)
def test_every_door_has_the_same_defaults(door: Any, own: dict[str, Any]) -> None:
    found = {field.name: field.default for field in fields(door)}
    assert {name: found.get(name, default) for name, default in DEFAULTS.items()} == DEFAULTS | own


def test_options_are_taken_as_an_object(decoder: ToolDecoder) -> None:
    wanted = DecodeOptions(tool_choice="required", order_limit=1, max_calls=1, max_value_tokens=3, format="hermes")
    as_fields: dict[str, Any] = {field.name: getattr(wanted, field.name) for field in fields(wanted)}
    by_field = decoder.decode(USER, TOOLS, **as_fields).text  # type: ignore[call-overload]
    assert decoder.decode(USER, TOOLS, options=wanted).text == by_field  # type: ignore[union-attr]
    assert decoder.chat(USER, TOOLS, options=wanted).result.text == by_field
    *_, last = decoder.stream(USER, TOOLS, options=wanted)
    assert last.result.text == by_field  # type: ignore[union-attr]
    inputs = chat_inputs(decoder.tokenizer, USER, TOOLS, options=wanted)
    method = tool_decoding(decoder.tokenizer, TOOLS, options=wanted)
    ids = decoder.model.generate(**inputs, max_new_tokens=400, custom_generate=method)  # type: ignore[operator]
    assert decoder.tokenizer.decode(ids[0, inputs["input_ids"].shape[1] :]) == by_field
    assert decoder.chat(USER, TOOLS, "none", options=wanted).result.calls == (), "an argument wins"
    assert decoder.chat(USER, TOOLS, options=wanted, format="pythonic").result.call_format.name == "pythonic"
    for wrong in ({"order_limit": 1}, "fast", DecodeOptions):
        for door in (decoder.decode, decoder.chat, decoder.stream):
            with pytest.raises(ConfigError, match="options: expected DecodeOptions, got"):
                door(USER, TOOLS, options=wrong)  # type: ignore[operator]


def test_the_help_of_decode_is_in_groups(cli: Any) -> None:
    text = cli("decode", "--help").out
    titles = re.findall(r"^(\S.*):$", text, re.MULTILINE)
    assert titles[0] == "Start with" and len(titles) == len(DECODE.panels) + 1 == len({*titles})
    named = [name for names in DECODE.panels.values() for name in names]
    assert sorted(named) == sorted(option.name for option in DECODE.listed) and len(DECODE.panels["Start with"]) == 6
    first = text.partition("Start with:")[2].partition("\n\n")[0]
    assert all(f"--{name}" in first for name in ("tools", "prompt", "messages", "model", "tool-choice", "order-limit"))
