"""Law 1: with any scores, a decoded call parses, names a given tool, and carries the right keys and types."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from checks import read_calls, wrong_in_call, wrong_in_value
from data import api_bank_calls, bfcl_entries, needs_data
from lookup import extract
from lookup.schema import LookupDictionary
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.options import DecodeOptions
from tooldecoding.testing import Bias, RandomEngine

BIASES: dict[str, Bias | None] = {
    "random": None,
    "quotes and backslashes": lambda t: 4.0 * any(c in t for c in b"'\"\\"),
    "never closes": lambda t: -9.0 * any(c in t for c in b"'\")]}"),
    "opens brackets": lambda t: 5.0 * any(c in t for c in b"[{("),
    "digits": lambda t: 5.0 * any(c in t for c in b"0123456789-.eE"),
    "line ends and bytes": lambda t: 5.0 * (b"\n" in t or t[0] >= 0x80),
    "separators": lambda t: 5.0 * any(c in t for c in b",:= "),
}


@pytest.fixture(scope="module")
def decoder() -> ToolDecoder:
    tokenizer = byte_level_tokenizer()
    return ToolDecoder(tiny_model("llama", len(tokenizer)), tokenizer, strategy="batched", max_value_tokens=12)


def decode_all(
    decoder: ToolDecoder,
    cases: Iterable[tuple[str, str, LookupDictionary, Callable[[str, list[tuple[str, Any]]], str | None]]],
    **fields: Any,
) -> tuple[int, list[str]]:
    """Decode every case under a bias of its own; how many calls were read, and what was wrong."""
    count, wrong = 0, []
    biases = list(BIASES.values())
    options = DecodeOptions(**{"max_value_tokens": 12, "max_calls": 2} | fields)
    for number, (identifier, prompt, tools, check) in enumerate(cases):
        engine = RandomEngine(decoder.table.texts, number, biases[number % len(biases)])
        decoder.new_engine = lambda engine=engine: engine  # type: ignore[assignment,misc]
        [result] = decoder.run([Request(prompt, tools, options)])
        texts = [result.text, *(f"[{c.text}]" for call in result.calls for c in call.candidates)]
        assert decoder.table.join(result.token_ids).decode() == result.text
        for call in result.calls:
            for candidate in call.candidates:
                assert decoder.table.join(candidate.token_ids).decode().endswith(candidate.text)
        for text in texts:
            try:
                calls = read_calls(text)
            except (SyntaxError, ValueError, AssertionError) as error:
                wrong.append(f"{identifier}: {text!r} does not parse: {error}")
                continue
            count += len(calls)
            wrong += [f"{identifier}: {w}: {text}" for name, pairs in calls if (w := check(name, pairs))]
        parsed = options.call_format.parse(result.text, tools)
        if [(c.name, dict(c.arguments)) for c in parsed] != [(c.voted.name, c.voted.arguments) for c in result.calls]:
            wrong.append(f"{identifier}: not read back: {result.text}")
    return count, wrong


def bfcl_case(entry: dict[str, Any], format: str, typed: bool) -> Any:
    tools = {f["name"]: f["parameters"] for f in entry["function"]}

    def check(name: str, pairs: list[tuple[str, Any]]) -> str | None:
        found = wrong_in_call(name, pairs, tools)
        if found or not typed or format == "api-bank":
            return found
        schemas = tools[name]["properties"]
        return next((w for k, v in pairs if (w := wrong_in_value(v, schemas[k]))), None)

    question = entry["question"][0][-1]["content"]
    return entry["id"], f"{question}\n", extract(entry["function"]), check


def bfcl_cases(format: str, typed: bool, step: int) -> list[Any]:
    entries = [e for e in bfcl_entries("live_*") if e["function"]][::step]
    return [bfcl_case(e, format, typed) for e in entries]


def api_bank_cases(step: int) -> list[Any]:
    cases = []
    for identifier, rows, tools in list(api_bank_calls())[::step]:
        schemas = {
            t["name"]: {
                "properties": t["input_parameters"],
                "required": [k for k, p in t["input_parameters"].items() if "[Optional]" not in p["description"]],
            }
            for t in tools
        }
        lookup = extract("\n".join(json.dumps(t) for t in tools))
        last = rows[-1].get("text", "") if rows else ""

        def check(name: str, pairs: list[tuple[str, Any]], schemas: Any = schemas) -> str | None:
            return wrong_in_call(name, pairs, schemas)

        cases.append((identifier, f"User: {last}\nAPI-Request: ", lookup, check))
    return cases


@needs_data
@pytest.mark.parametrize("constraint", ["typed", "free"])
@pytest.mark.parametrize("format", ["pythonic", "api-bank"])
def test_a_part_of_bfcl_live(decoder: ToolDecoder, format: str, constraint: str) -> None:
    cases = bfcl_cases(format, constraint == "typed", step=61)
    count, wrong = decode_all(decoder, cases, format=format, value_constraint=constraint)
    assert count > len(cases) and not wrong


@needs_data
def test_a_part_of_api_bank(decoder: ToolDecoder) -> None:
    cases = api_bank_cases(step=17)
    count, wrong = decode_all(decoder, cases)
    assert count > len(cases) and not wrong


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("constraint", ["typed", "free"])
@pytest.mark.parametrize("format", ["pythonic", "api-bank"])
def test_all_of_bfcl_live(
    decoder: ToolDecoder, format: str, constraint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = bfcl_cases(format, constraint == "typed", step=1)
    count, wrong = decode_all(decoder, cases, format=format, value_constraint=constraint)
    with capsys.disabled():
        print(f"\nBFCL live, {format}, {constraint}: {len(cases)} prompts, {count} calls, {len(wrong)} invalid")
    assert not wrong


@needs_data
@pytest.mark.slow
def test_all_of_api_bank(decoder: ToolDecoder, capsys: pytest.CaptureFixture[str]) -> None:
    cases = api_bank_cases(step=1)
    count, wrong = decode_all(decoder, cases)
    with capsys.disabled():
        print(f"\nAPI-Bank, api-bank, typed: {len(cases)} API calls, {count} calls, {len(wrong)} invalid")
    assert not wrong
