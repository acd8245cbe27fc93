"""Documentation printed as signatures or names: no words in it, all of it in the constraint, and never in silence."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from chat_models import HERMES, ORIGINALS, decoder_of, original

from data import bfcl_entries, needs_data
from eval.benchmarks.sgd.benchmark import SGD
from eval.methods.sample_prompts import Prompter
from eval.options import EvalOptions
from eval_data import write_sgd
from lookup import LookupDictionary, ParameterSpec, ValueType, extract
from tiny_models import byte_level_tokenizer
from tooldecoding.batches.requests import make_request
from tooldecoding.chat.template_habits import habits_of
from tooldecoding.decoder import Request
from tooldecoding.errors import ConfigError
from tooldecoding.generate.method import tool_decoding
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.options.decode_options import Detail
from tooldecoding.prompts.dialogue import ToolResponse, Turn, Utterance
from tooldecoding.prompts.documentation import Documentation
from tooldecoding.prompts.prompts import chat_prompt, shows_tools
from tooldecoding.prompts.templates import unshortened
from tooldecoding.server.chat_body import read_chat_body
from tooldecoding.server.prepared import Preparation

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


@needs_data
def test_signatures_of_bfcl_document_the_same_tools() -> None:
    for entry in list(bfcl_entries("live_multiple"))[::25]:
        documentation = Documentation.read(entry["function"], entry["id"], "rename")
        assert wordless(extract(documentation.as_bfcl("signatures"))) == wordless(documentation.lookup), entry["id"]


@pytest.mark.parametrize("detail", SHORTER)
def test_no_words_and_no_defaults_are_printed(detail: Detail) -> None:
    for printed in (FULL.as_bfcl(detail), FULL.as_api_bank(detail), json.dumps(FULL.as_chat_tools(detail))):
        assert "paint" in printed and "rest" in printed
        assert "Zephyr" not in printed and "default" not in printed
        assert ("coats" in printed, "blue" in printed) == ((True,) * 2 if detail == "signatures" else (False,) * 2)


@pytest.mark.parametrize("name", ORIGINALS)
def test_chat_templates_of_known_models_print_them(name: str) -> None:
    tokenizer = byte_level_tokenizer()
    tokenizer.chat_template = original(name)
    bare = habits_of(tokenizer).bare_tools
    texts = [
        chat_prompt(tokenizer, [{"role": "user", "content": "Go."}], FULL.as_chat_tools(detail, bare))
        for detail in get_args(Detail)
    ]
    if not shows_tools(tokenizer):
        assert len(set(texts)) == 1
        return
    assert all("paint" in text and "rest" in text for text in texts)
    assert ["Zephyr" in text for text in texts] == [True, False, False]
    assert ["coats" in text for text in texts] == [True, True, False]
    assert len(texts[0]) > len(texts[1]) > len(texts[2])


def test_a_template_that_wants_descriptions_gets_empty_ones() -> None:
    tokenizer = byte_level_tokenizer()
    tokenizer.chat_template = (
        "{% for t in tools %}{% set f = t.function %}{% set s = f.parameters %}{{ f.name + f.description }}"
        "({% for k, p in s.properties.items() %}{{ k + p.description }} {% endfor %}{{ s.required | length }})"
        "{% endfor %}{{ messages[0].content }}"
    )  # fmt: skip
    assert not habits_of(tokenizer).bare_tools
    command = DecodeCommand(template="chat", format="pythonic", documentation="signatures")
    assert make_request("Go.", FULL, command, tokenizer).prompt == "paint(description coats walls 1)rest(0)Go."
    names = replace(command, documentation="names")
    assert make_request("Go.", FULL, names, tokenizer).prompt == "paint(0)rest(0)Go."


@pytest.mark.parametrize("template", ["api-bank", "bfcl", "chat"])
@pytest.mark.parametrize("detail", SHORTER)
def test_calls_are_held_to_all_of_it(template: Any, detail: Detail) -> None:
    tokenizer = byte_level_tokenizer()
    tokenizer.chat_template = HERMES
    command = DecodeCommand(template=template, documentation=detail)
    request = make_request("Go.", FULL, command, tokenizer)
    assert request.tools is FULL.lookup
    full = make_request("Go.", FULL, replace(command, documentation="full"), tokenizer)
    assert template == "api-bank" or len(str(request.prompt)) < len(str(full.prompt))
    assert "paint" in str(request.prompt) and "Zephyr" not in str(request.prompt)


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


class Seen(Exception):
    """The prompt that a decoder was about to decode."""


def test_chat_shows_the_model_less(monkeypatch: pytest.MonkeyPatch) -> None:
    def see(requests: list[Request]) -> None:
        raise Seen(requests[0].prompt)

    decoder = decoder_of(HERMES, documentation="names")
    monkeypatch.setattr(decoder, "run", see)
    with pytest.raises(Seen, match=r"^<tools>(?s:(?!Zephyr).)*$"):
        decoder.chat([{"role": "user", "content": "Go."}], TOOLS)
    with pytest.raises(Seen, match="Zephyr"):
        decoder.chat([{"role": "user", "content": "Go."}], TOOLS, documentation="full")


def test_a_request_to_the_server_may_ask_for_less() -> None:
    prepare = Preparation(decoder_of(HERMES)).prepare
    asked = {"model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": FULL.as_chat_tools()}
    short = prepare(read_chat_body({**asked, "tooldecoding": {"documentation": "names"}})).request
    full = prepare(read_chat_body(asked)).request
    assert ["Zephyr" in str(request.prompt) for request in (full, short)] == [True, False]
    assert short.tools == full.tools


def test_documentation_in_a_dialogue_is_said_to_stay() -> None:
    found = ToolResponse("ToolSearcher", {"name": "GetDay", "description": WORDS, "input_parameters": {}})
    turns: tuple[Turn, ...] = (Utterance("user", "Find a tool."), found)
    short = DecodeCommand(documentation="names")
    [warning] = unshortened([turns[:1], turns], short)
    assert re.search("results of ToolSearcher .* documentation names shortens only what the template prints", warning)
    assert not list(unshortened([turns[:1]], short)) and not list(unshortened([turns], DecodeCommand()))


@pytest.mark.parametrize(
    ("options", "printed"),
    [
        ({"template": "api-bank"}, ("descriptions:\nSetLamp\n", 'SetLamp", "input_parameters": {"room": {"type"')),
        ({"template": "bfcl", "format": "pythonic"}, ('\n["SetLamp"]\n', '[{"name": "SetLamp", "parameters": {"type"')),
        (
            {"template": "api-bank", "method": "tooldec", "tooldec_form": "react"},
            ("descriptions:\nSetLamp\n", '"room"'),
        ),
        ({"template": "chat", "format": "hermes"}, ('{"name": "SetLamp"}', '"room": {"type": "string"}')),
    ],
)
def test_prompts_of_benchmarks(tmp_path: Path, options: dict[str, Any], printed: tuple[str, str]) -> None:
    samples = SGD.load(str(write_sgd(tmp_path / "sgd")), SGD.categories)
    tokenizer = byte_level_tokenizer()
    tokenizer.chat_template = HERMES
    requests = [
        Prompter(EvalOptions(documentation=detail, **options), samples, tokenizer).request(samples[0])
        for detail in get_args(Detail)
    ]
    full, signatures, names = (str(request.prompt) for request in requests)
    assert "Where it stands" in full and "Where it stands" not in signatures + names
    assert printed[0] in names and printed[1] in signatures
    assert "API-Response" not in names and "kitchen" in names


def test_a_place_in_a_prompt_template_is_shortened_too(tmp_path: Path) -> None:
    samples = SGD.load(str(write_sgd(tmp_path / "sgd")), SGD.categories)
    (tmp_path / "t.txt").write_text("Tools: {tools}\n{dialogue}\n")
    options = EvalOptions(template="api-bank", prompt_template=str(tmp_path / "t.txt"), documentation="names")
    assert Prompter(options, samples, byte_level_tokenizer()).text(samples[0]).startswith("Tools: SetLamp\nUser: ")
