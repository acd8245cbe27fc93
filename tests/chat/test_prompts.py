"""Prompts of each template, and the forms in which they print documentation: in full, as signatures, as names."""

import json
from typing import Any

import pytest
from chat_models import HERMES, decoder_of

from lookup import extract
from tiny_models import byte_level_tokenizer
from tooldecoding.batches.requests import make_request
from tooldecoding.chat.documentation import Documentation, first_sentence
from tooldecoding.chat.messages import Message
from tooldecoding.chat.templates import bfcl_prompt
from tooldecoding.errors import ConfigError, ModelError, PromptError
from tooldecoding.generate.method import tool_decoding
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.options.decode_options import Detail

WORDS = "Zephyr words."
HEIGHT = {"type": "object", "properties": {"height": {"type": "number", "description": WORDS}}, "required": ["height"]}
PROPERTIES: dict[str, Any] = {
    "description": {"type": "string", "description": WORDS, "enum": ["red", "blau"]},
    "coats": {"type": "integer", "description": WORDS, "default": 2},
    "walls": {"type": "array", "items": HEIGHT, "description": WORDS},
}
PAINT = {
    "name": "paint",
    "description": WORDS,
    "parameters": {"type": "dict", "required": ["description"], "properties": PROPERTIES},
}
API_BANK_TOOL = {
    "name": "GetDay",
    "description": WORDS,
    "input_parameters": {"date": {"type": "str", "description": "The date."}},
    "output_parameters": {"day": {"type": "str", "description": "The day."}},
}
FULL = Documentation.read([PAINT, API_BANK_TOOL], "d")
TURNS = (Message("user", "Grüße, paint it."),)
PLAIN = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
CHAT_TEMPLATE = "{% if messages[0].content == 'refuse' %}{{ raise_exception('no') }}{% endif %}" + HERMES


def request_text(content: Any, documentation: Documentation, tokenizer: Any = None, **options: Any) -> str:
    command = DecodeCommand(**options)
    return str(make_request(content, documentation, command, tokenizer or byte_level_tokenizer()).prompt)


def test_api_bank_prints_parsed_tools_one_a_line() -> None:
    same = request_text(TURNS, Documentation.read([API_BANK_TOOL], "d"))
    assert same.splitlines()[1] == json.dumps(API_BANK_TOOL)
    assert json.loads(request_text(TURNS, FULL).splitlines()[1]) == {
        "name": "paint",
        "description": WORDS,
        "input_parameters": {
            "description": {"type": "string", "description": f"{WORDS} One of: red, blau"},
            "coats": {"type": "integer", "description": f"[Optional] {WORDS}"},
            "walls": {"type": "array", "description": f"[Optional] {WORDS}"},
        },
    }


@pytest.mark.parametrize("form", ["data", "list text", "lines"])
def test_bfcl_prints_functions_indented(form: str) -> None:
    tools = [PAINT, API_BANK_TOOL]
    source = {"data": tools, "list text": json.dumps(tools), "lines": "\n".join(map(json.dumps, tools))}[form]
    prompt = request_text(TURNS, Documentation.read(source, "d"), template="bfcl")
    assert prompt == bfcl_prompt(json.dumps(tools, indent=4), ["User: Grüße, paint it."])
    assert "[func_name1(param1=value1" in prompt


def test_chat_uses_the_template_with_its_tools() -> None:
    tokenizer, documentation = decoder_of(CHAT_TEMPLATE).tokenizer, Documentation.read([PAINT], "d")
    request = make_request(TURNS, documentation, DecodeCommand(template="chat"), tokenizer)
    assert not request.special_tokens
    text = str(request.prompt)
    assert text.endswith("</tools>\n[user]Grüße, paint it.\n[assistant]")
    tool = json.loads(text[len("<tools>") : text.index("</tools>")])
    assert tool["type"] == "function"
    parameters = {"type": "object", "properties": PROPERTIES, "required": ["description"]}
    assert tool["function"]["parameters"] == parameters
    with pytest.raises(PromptError, match="refuses the dialogue: no"):
        request_text("refuse", documentation, tokenizer, template="chat")
    with pytest.raises(ModelError, match="no chat template"):
        request_text(TURNS, documentation, template="chat")


@pytest.mark.parametrize(
    ("chat_template", "content", "form", "template"),
    [
        (None, "What day is it?", "api-bank", "api-bank"),
        (None, "What day is it?", "pythonic", "bfcl"),
        (CHAT_TEMPLATE, "What day is it?", "auto", "chat"),
        (CHAT_TEMPLATE, TURNS, "auto", "api-bank"),
        ("{{ raise_exception('no') }}", "What day is it?", "auto", "api-bank"),
        ("{{ messages[0].content + 1 }}", "What day is it?", "auto", "api-bank"),
        ({"first": "a", "second": "b"}, "What day is it?", "auto", "api-bank"),
    ],
)
def test_auto_takes_the_template_that_fits(chat_template: Any, content: Any, form: str, template: Any) -> None:
    tokenizer = decoder_of(chat_template).tokenizer
    by_name, by_itself = DecodeCommand(template=template, format=form), DecodeCommand(format=form)
    expected, found = (make_request(content, FULL, each, tokenizer) for each in (by_name, by_itself))
    assert (found.prompt, found.special_tokens) == (expected.prompt, expected.special_tokens)
    assert "GetDay" in str(found.prompt)
    assert make_request(json.dumps(API_BANK_TOOL), None, DecodeCommand(), tokenizer).special_tokens
    with pytest.raises(PromptError, match="template raw takes a prompt"):
        make_request(TURNS, None, DecodeCommand(template="raw"), tokenizer)


def test_signatures_document_the_same_tools() -> None:
    printed = FULL.as_bfcl("signatures"), FULL.as_chat_tools("signatures"), FULL.as_api_bank("signatures")
    for each in printed:
        assert [(p.name, p.type.kind, p.required) for p in extract(each)["paint"].parameters] == [
            (p.name, p.type.kind, bool(p.required)) for p in FULL.lookup["paint"].parameters
        ]
    assert '"description": {"type": "string", "description": "One of: red, blau"}' in printed[-1]


@pytest.mark.parametrize("detail", ["signatures", "names"])
def test_no_words_and_no_defaults_are_printed(detail: Detail) -> None:
    for printed in (FULL.as_bfcl(detail), FULL.as_api_bank(detail), json.dumps(FULL.as_chat_tools(detail))):
        assert "paint" in printed and "GetDay" in printed
        assert "Zephyr" not in printed and "default" not in printed
        assert ("coats" in printed, "blau" in printed) == ((True,) * 2 if detail == "signatures" else (False,) * 2)


@pytest.mark.parametrize("detail", ["signatures", "summaries", "names"])
@pytest.mark.parametrize(
    ("template", "chat_template"), [("api-bank", HERMES), ("bfcl", HERMES), ("chat", HERMES), ("chat", PLAIN)]
)
@pytest.mark.parametrize("turns", [TURNS, (*TURNS, Message("assistant", "Red it is."))])
def test_the_chosen_tool_is_shown_alone_and_in_full(
    detail: Detail, template: str, chat_template: str, turns: tuple[Message, ...]
) -> None:
    tokenizer, asked = decoder_of(chat_template).tokenizer, {"template": template, "documentation": detail}
    request = make_request(turns, FULL, DecodeCommand(**asked), tokenizer)
    for tool in (PAINT, API_BANK_TOOL):
        alone = Documentation.read([tool], "d")
        assert request.prompt_for is not None
        assert request.prompt_for(tool["name"]) == request_text(turns, alone, tokenizer, template=template)
    assert make_request(turns, FULL, DecodeCommand(template=template), tokenizer).prompt_for is None


@pytest.mark.parametrize("form", ["as_bfcl", "as_api_bank", "as_signatures", "as_chat_tools"])
def test_a_summary_is_the_first_sentence(form: str) -> None:
    described = PAINT | {"description": "Paints  a wall,\ne.g. red. Zephyr words."}
    printed = json.dumps(getattr(Documentation.read([described, API_BANK_TOOL], "d"), form)("summaries"))
    assert "Paints a wall, e.g. red." in printed and "coats" not in printed and "GetDay" in printed
    assert printed.count("Zephyr") == 1, "one sentence is a summary"


def test_summaries_are_short() -> None:
    texts = "查询天气。城市是名称。", "", "x" * 500, "word " * 100
    assert [*map(first_sentence, texts)] == ["查询天气。", "", "x" * 120 + "…", "word " * 23 + "word…"]


def test_a_prompt_that_holds_its_documentation_is_refused() -> None:
    decoder = decoder_of(HERMES)
    said = "shortens what templates print of the tools, but {} takes a prompt as it stands; leave it out"
    with pytest.raises(ConfigError, match=said.format("the template raw")):
        make_request(json.dumps(PAINT), None, DecodeCommand(documentation="names"), decoder.tokenizer)
    with pytest.raises(ConfigError, match=said.format("decode")):
        decoder.decode("Go.", tools=FULL.lookup, documentation="names")
    with pytest.raises(ConfigError, match=said.format("generate")):
        tool_decoding(decoder.tokenizer, [PAINT], documentation="signatures")
    with pytest.raises(
        ConfigError, match="documentation: expected 'full', 'signatures', 'summaries' or 'names', got 'none'"
    ):
        DecodeCommand(documentation="none")  # type: ignore[arg-type]
