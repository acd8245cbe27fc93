"""Sets of tools are prepared once, whatever the number of requests, and by several threads alike."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lookup.dictionary import LookupDictionary
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.calls import prepared_tools
from tooldecoding.calls.prepared_tools import Preparations, PreparedTools
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.options import DecodeOptions
from tools import lookup, parameter, tool

TOKENIZER = byte_level_tokenizer()
DECODER = ToolDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER, max_value_tokens=3, order_limit=2)


def sets(count: int) -> list[LookupDictionary]:
    return [lookup(tool(f"get_{n}", parameter("a", "str")), tool(f"set_{n}")) for n in range(count)]


def test_a_run_of_many_sets_prepares_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def counted(given: LookupDictionary, *rest: Any) -> PreparedTools:
        made.append(id(given))
        return PreparedTools(given, *rest)

    monkeypatch.setattr(prepared_tools, "PreparedTools", counted)
    choices = [DecodeOptions(tool_choice=choice) for choice in ("auto", "required")]
    requests = [Request("go on\n", tools, options) for tools in sets(12) for options in choices]
    for _ in range(2):
        assert all(result.valid for result in DECODER.run(requests))
    assert len(made) == len(set(made)) == 12


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    preparations, options = Preparations(DECODER.table), DecodeOptions()
    monkeypatch.setattr(prepared_tools, "_TOOLS", 7)
    many = sets(10)
    first = preparations.of(many[0], options)
    assert preparations.of(many[0], options) is first
    for tools in many:
        preparations.of(tools, options)
        assert preparations._tools() <= 7
    assert preparations.of(many[0], options) is not first
    large = lookup(*(tool(f"f{n}x") for n in range(9)))
    assert preparations.of(large, options) is preparations.of(large, options)  # the last one, however large


def test_threads_get_their_own_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_tools, "_SETS", 2)
    preparations, options, many = Preparations(DECODER.table), DecodeOptions(), sets(6)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda n: preparations.of(many[n % 6], options).tools[0].spec.name, range(600)))
    assert found == [f"get_{n % 6}" for n in range(600)]
