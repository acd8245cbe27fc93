"""A call that equals an earlier one of the same answer is left out, and ends the answer; the result says so."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from lookup.dictionary import LookupDictionary
from tiny_models import marked_tokenizer, tiny_model
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tooldecoding.testing import ScriptedEngine, SyntheticDecoder
from tooldecoding.tokens.special_texts import END
from tools import lookup, parameter, tool

WEATHER = tool("get_weather", parameter("city", "str"), parameter("days", "int"))
TOOLS = lookup(WEATHER, tool("get_time"))
ROME, PARIS = (Call("get_weather", {"city": city, "days": 3}) for city in ("Rome", "Paris"))
PARALLEL = [name for name, call_format in CALL_FORMATS.items() if call_format.parallel]
TOKENIZER = marked_tokenizer()
DECODER = SyntheticDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER)


def decoded(wish: str, tools: LookupDictionary = TOOLS, **fields: Any) -> DecodeResult:
    """What is decoded if the model wants to write a text behind the prompt."""
    prompt = "user: Rome?\nassistant:</s>\n"
    wanted = DECODER.table.special.bound(wish)

    def rest(text: str) -> str:
        written = text.rpartition("\n")[2] if "\n" not in wanted else text[text.index("assistant:") + 12 :]
        return wanted[len(written) :] + END if wanted.startswith(written) else END

    DECODER.engine = ScriptedEngine(DECODER.table.texts, rest)
    return DECODER.run([Request(prompt, tools, DecodeOptions(**{"order_limit": 2} | fields))])[0]


def written(name: str, calls: Sequence[Call]) -> str:
    """Calls as a model writes them."""
    call_format = CALL_FORMATS[name]
    return call_format.lead + call_format.render(calls)


@pytest.mark.parametrize(
    ("name", "choice"), list(zip(PARALLEL[::2], itertools.cycle(["required", "auto", "get_weather"]), strict=False))
)
def test_a_model_that_writes_one_call_again_and_again_makes_it_once(name: str, choice: str) -> None:
    result = decoded(written(name, [ROME] * 3), format=name, tool_choice=choice)
    assert [(call.name, call.arguments) for call in result.calls] == [(ROME.name, ROME.arguments)]
    assert (result.repeated, result.valid, result.cut, result.errors) == (True, True, False, ())
    assert result.text == CALL_FORMATS[name].ending(result.text, written(name, [ROME]))
    once = decoded(written(name, [ROME]), format=name, tool_choice=choice)
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
    result = decoded("\n".join(calls), tools, format="hermes", order_limit=orders)
    assert (len(result.calls), result.repeated, result.valid) == (2 - equal, equal, True)
