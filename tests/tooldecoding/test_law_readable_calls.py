"""Law 1 with readers of other hands as judges: a decoded call is valid exactly where the format's readers find it."""

import random
from typing import Any

import pytest
from test_odd_documentation import BIASES, DECODERS, odd_tools

from eval.benchmarks.api_bank.parser import get_api_call
from eval.benchmarks.bfcl.parser import decode_calls
from eval.benchmarks.python_calls import CallDecodeError
from tooldecoding.decoder import Request
from tooldecoding.options import DecodeOptions
from tooldecoding.testing import RandomEngine
from tools import lookup, parameter, tool


def decode(tools: Any, options: DecodeOptions, seed: int) -> Any:
    decoder = DECODERS[seed % 2]
    engine = RandomEngine(decoder.table.texts, seed, BIASES[seed % len(BIASES)])
    decoder.engine = engine
    [result] = decoder.run([Request("x\n", tools, options)])
    return result


def as_bfcl_reads(text: str) -> Any:
    try:
        return decode_calls(text)
    except CallDecodeError:
        return None


@pytest.mark.parametrize("seed", range(60))
def test_bfcl_s_reader_agrees_with_valid(seed: int) -> None:
    tools = odd_tools(random.Random(seed))
    options = DecodeOptions(format="pythonic", max_value_tokens=4, order_limit=2, max_calls=2)
    result = decode(tools, options, seed)
    written = [(c.voted.name, c.voted.arguments) for c in result.calls]
    assert result.valid == (as_bfcl_reads(result.text) == written), (result.text, result.errors)


@pytest.mark.parametrize("seed", range(30))
def test_api_bank_s_reader_finds_the_name_of_every_valid_call(seed: int) -> None:
    result = decode(odd_tools(random.Random(seed)), DecodeOptions(max_value_tokens=4, order_limit=2), seed)
    if result.valid:
        found = get_api_call(result.text)
        assert found is not None and found.name == result.calls[0].voted.name


@pytest.mark.parametrize(("name", "key"), [("get-weather", "a"), ("f", "from"), ("f", "start-date"), ("a b", "c d")])
def test_names_that_python_cannot_read_are_written_and_reported(name: str, key: str) -> None:
    result = decode(lookup(tool(name, parameter(key, "bool"))), DecodeOptions(format="pythonic", max_calls=1), 0)
    assert result.calls[0].voted.valid and not result.valid
    assert repr(name if name != "f" else key) in result.errors[0] and "cannot carry" in result.errors[0]
