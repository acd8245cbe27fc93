"""Law 1: with any logits, a decoded call parses, names a given tool, and carries the right keys and types."""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from checks import read_calls, wrong_in_call, wrong_in_value
from data import api_bank_calls, bfcl_entries, needs_data
from lookup import extract
from lookup.dictionary import LookupDictionary
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import Request
from tooldecoding.options import DecodeOptions
from tooldecoding.testing import Bias, RandomEngine, SyntheticDecoder

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
def decoder() -> SyntheticDecoder:
    tokenizer = byte_level_tokenizer()
    return SyntheticDecoder(tiny_model("llama", len(tokenizer)), tokenizer, max_value_tokens=12)


Case = tuple[str, str, LookupDictionary, dict[str, dict[str, Any]]]
"""Id, prompt, tools, and by tool name a JSON Schema object with ``properties`` and ``required``."""


def decode_all(decoder: SyntheticDecoder, cases: Iterable[Case], **fields: Any) -> tuple[int, list[str]]:
    """Decode every case under a bias of its own; how many calls were read, and what was wrong."""
    count, wrong = 0, []
    biases = list(BIASES.values())
    options = DecodeOptions(**{"max_value_tokens": 12, "max_calls": 2} | fields)
    for number, (identifier, prompt, tools, schemas) in enumerate(cases):
        engine = RandomEngine(decoder.table.texts, number, biases[number % len(biases)])
        decoder.engine = engine
        [result] = decoder.run([Request(prompt, tools, options)])
        assert decoder.table.join(result.token_ids).decode() == result.text
        read, found = wrong_in_text(result.text, schemas)
        for call in result.calls:
            for candidate in call.candidates:
                assert decoder.table.join(candidate.token_ids).decode().endswith(candidate.text)
                more, bad = wrong_in_text(f"[{candidate.text}]", schemas)
                read, found = read + more, found + bad
            if options.value_constraint == "typed":
                properties = schemas[call.voted.name]["properties"]
                values = call.voted.arguments.items()
                found += [w for k, v in values if (w := wrong_in_value(v, properties[k]))]
        parsed = options.call_format.parse(result.text, tools)
        if [(c.name, dict(c.arguments)) for c in parsed] != [(c.voted.name, c.voted.arguments) for c in result.calls]:
            found.append("is not read back")
        count += read
        wrong += [f"{identifier}: {w}: {result.text}" for w in found]
    return count, wrong


def wrong_in_text(text: str, schemas: dict[str, dict[str, Any]]) -> tuple[int, list[str]]:
    """How many calls stand in a text, and what breaks law 1 in their names and keys."""
    try:
        calls = read_calls(text)
    except (SyntaxError, ValueError, AssertionError) as error:
        return 0, [f"{text!r} does not parse ({error})"]
    return len(calls), [w for name, pairs in calls if (w := wrong_in_call(name, pairs, schemas))]


def bfcl_cases(step: int) -> list[Case]:
    cases = []
    for entry in [e for e in bfcl_entries("live_*") if e["function"]][::step]:
        schemas = {f["name"]: f["parameters"] for f in entry["function"]}
        question = entry["question"][0][-1]["content"]
        cases.append((entry["id"], f"{question}\n", extract(entry["function"]), schemas))
    return cases


def api_bank_cases(step: int) -> list[Case]:
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
        cases.append((identifier, f"User: {last}\nAPI-Request: ", lookup, schemas))
    return cases


@needs_data
@pytest.mark.parametrize("constraint", ["typed", "free"])
@pytest.mark.parametrize("format", ["pythonic", "api-bank"])
def test_a_part_of_the_data(decoder: SyntheticDecoder, format: str, constraint: str) -> None:
    cases = bfcl_cases(step=61) + api_bank_cases(step=37)
    count, wrong = decode_all(decoder, cases, format=format, value_constraint=constraint)
    assert count > len(cases) and not wrong


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("constraint", ["typed", "free"])
@pytest.mark.parametrize("format", ["pythonic", "api-bank"])
@pytest.mark.parametrize(("name", "read"), [("BFCL live", bfcl_cases), ("API-Bank", api_bank_cases)])
def test_all_of_the_data(
    decoder: SyntheticDecoder, name: str, read: Any, format: str, constraint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = read(step=1)
    count, wrong = decode_all(decoder, cases, format=format, value_constraint=constraint)
    with capsys.disabled():
        print(f"\n{name}, {format}, {constraint}: {len(cases)} prompts, {count} calls, {len(wrong)} invalid")
    assert not wrong
