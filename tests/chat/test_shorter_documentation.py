"""Documentation printed as signatures or names: no words in it, all of it in the constraint, and never in silence."""

import json
from dataclasses import replace
from typing import Any

import pytest
from chat_models import HERMES, decoder_of

from lookup import LookupDictionary, ParameterSpec, ValueType, extract
from tooldecoding.batches.requests import make_request
from tooldecoding.chat.documentation import Documentation
from tooldecoding.errors import ConfigError
from tooldecoding.generate.method import tool_decoding
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.options.decode_options import Detail

WORDS = "Zephyr words."
TOOLS: list[dict[str, Any]] = [
    {
        "name": "paint",
        "description": WORDS,
        "parameters": {
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": WORDS, "enum": ["red", "blue"]},
                "coats": {"type": "integer", "description": WORDS, "default": 2},
                "walls": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"height": {"type": "number", "description": WORDS}},
                        "required": ["height"],
                    },
                },
            },
            "required": ["description"],
        },
    },
    {"name": "rest", "description": WORDS, "parameters": {"type": "object", "properties": {}}},
]
FULL = Documentation.read(TOOLS, "d")
SHORTER: tuple[Detail, ...] = ("signatures", "names")


def wordless(tools: LookupDictionary) -> LookupDictionary:
    """The tools without descriptions and defaults, and without the words in which types are written."""

    def key(spec: ParameterSpec) -> ParameterSpec:
        return ParameterSpec(spec.name, plain(spec.type), "", bool(spec.required), enum=spec.enum)

    def plain(t: ValueType) -> ValueType:
        properties = None if t.properties is None else tuple(map(key, t.properties))
        kind = "list" if t.kind == "tuple" else t.kind
        branches = tuple(map(plain, t.any_of))
        return replace(t, kind=kind, items=t.items and plain(t.items), properties=properties, any_of=branches)

    return LookupDictionary(
        tuple(replace(t, description="", parameters=tuple(map(key, t.parameters))) for t in tools.tools)
    )


def test_signatures_document_the_same_tools() -> None:
    for printed in (FULL.as_bfcl("signatures"), FULL.as_chat_tools("signatures")):
        assert wordless(extract(printed)) == wordless(FULL.lookup)
    api_bank = FULL.as_api_bank("signatures")  # its descriptions list the members of an enum
    assert '"description": {"type": "string", "description": "One of: red, blue"}' in api_bank
    assert [(p.name, p.type.kind, p.required) for p in extract(api_bank)["paint"].parameters] == [
        (p.name, p.type.kind, bool(p.required)) for p in FULL.lookup["paint"].parameters
    ]


@pytest.mark.parametrize("detail", SHORTER)
def test_no_words_and_no_defaults_are_printed(detail: Detail) -> None:
    for printed in (FULL.as_bfcl(detail), FULL.as_api_bank(detail), json.dumps(FULL.as_chat_tools(detail))):
        assert "paint" in printed and "rest" in printed
        assert "Zephyr" not in printed and "default" not in printed
        assert ("coats" in printed, "blue" in printed) == ((True,) * 2 if detail == "signatures" else (False,) * 2)


def test_a_prompt_that_holds_its_documentation_is_refused() -> None:
    decoder = decoder_of(HERMES)
    said = "shortens what templates print of the tools, but {} takes a prompt as it stands; leave it out"
    with pytest.raises(ConfigError, match=said.format("the template raw")):
        make_request(json.dumps(TOOLS), None, DecodeCommand(documentation="names"), decoder.tokenizer)
    with pytest.raises(ConfigError, match=said.format("decode")):
        decoder.decode("Go.", tools=FULL.lookup, documentation="names")
    with pytest.raises(ConfigError, match=said.format("generate")):
        tool_decoding(decoder.tokenizer, TOOLS, documentation="signatures")
    with pytest.raises(ConfigError, match="documentation: expected 'full', 'signatures' or 'names', got 'none'"):
        DecodeCommand(documentation="none")  # type: ignore[arg-type]
