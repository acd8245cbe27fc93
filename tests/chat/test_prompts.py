"""Prompts of each template, and the forms in which they print documentation."""

import json
from typing import Any

import pytest
from chat_models import HERMES

from tiny_models import byte_level_tokenizer
from tooldecoding.batches.requests import make_request
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import Message
from tooldecoding.chat.prompts import bfcl_prompt
from tooldecoding.errors import ModelError, PromptError
from tooldecoding.options.decode_command import DecodeCommand

API_BANK_TOOL = {
    "name": "GetDay",
    "description": "Day of a date.",
    "input_parameters": {"date": {"type": "str", "description": "The date."}},
    "output_parameters": {"day": {"type": "str", "description": "The day."}},
}
SCHEMA_TOOL = {
    "name": "paint",
    "description": "Paints.",
    "parameters": {
        "type": "dict",
        "required": ["colour"],
        "properties": {
            "colour": {"type": "string", "description": "Its colour.", "enum": ["red", "blau"]},
            "coats": {"type": "integer", "description": "How many.", "default": 2},
            "walls": {"type": "array", "items": {"type": "string"}, "description": "Which."},
        },
    },
}
TURNS = (Message("user", "Grüße, paint it."),)
CHAT_TEMPLATE = "{% if messages[0].content == 'refuse' %}{{ raise_exception('no') }}{% endif %}" + HERMES


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return byte_level_tokenizer()


def request_text(tokenizer: Any, content: Any, documentation: Documentation, **options: Any) -> str:
    return str(make_request(content, documentation, DecodeCommand(**options), tokenizer).prompt)


def test_api_bank_prints_parsed_tools_one_a_line(tokenizer: Any) -> None:
    same = request_text(tokenizer, TURNS, Documentation.read([API_BANK_TOOL], "d"))
    assert same.splitlines()[1] == json.dumps(API_BANK_TOOL)
    other = request_text(tokenizer, TURNS, Documentation.read([SCHEMA_TOOL], "d"))
    assert json.loads(other.splitlines()[1]) == {
        "name": "paint",
        "description": "Paints.",
        "input_parameters": {
            "colour": {"type": "string", "description": "Its colour. One of: red, blau"},
            "coats": {"type": "integer", "description": "[Optional] How many."},
            "walls": {"type": "array", "description": "[Optional] Which."},
        },
    }


@pytest.mark.parametrize("form", ["data", "list text", "lines"])
def test_bfcl_prints_functions_indented(tokenizer: Any, form: str) -> None:
    tools = [SCHEMA_TOOL, API_BANK_TOOL]
    source = {"data": tools, "list text": json.dumps(tools), "lines": "\n".join(map(json.dumps, tools))}[form]
    prompt = request_text(tokenizer, TURNS, Documentation.read(source, "d"), template="bfcl")
    assert prompt == bfcl_prompt(json.dumps(tools, indent=4), ["User: Grüße, paint it."])
    assert "[func_name1(param1=value1" in prompt


def test_chat_uses_the_template_with_its_tools(tokenizer: Any) -> None:
    tokenizer.chat_template = CHAT_TEMPLATE
    documentation = Documentation.read([SCHEMA_TOOL], "d")
    request = make_request(TURNS, documentation, DecodeCommand(template="chat"), tokenizer)
    assert not request.special_tokens
    text = str(request.prompt)
    assert text.endswith("</tools>\n[user]Grüße, paint it.\n[assistant]")
    tool = json.loads(text[len("<tools>") : text.index("</tools>")])
    assert tool["type"] == "function"
    schema = SCHEMA_TOOL["parameters"]
    properties = schema["properties"] | {"coats": {"type": "integer", "description": "How many.", "default": 2}}
    assert tool["function"]["parameters"] == {"type": "object", "properties": properties, "required": ["colour"]}
    with pytest.raises(PromptError, match="refuses the dialogue: no"):
        request_text(tokenizer, "refuse", documentation, template="chat")
    tokenizer.chat_template = None
    with pytest.raises(ModelError, match="no chat template"):
        make_request(TURNS, documentation, DecodeCommand(template="chat"), tokenizer)


AUTO = Documentation.read([API_BANK_TOOL], "d")


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
    tokenizer = byte_level_tokenizer()
    tokenizer.chat_template = chat_template
    by_name, by_itself = DecodeCommand(template=template, format=form), DecodeCommand(format=form)
    expected, found = (make_request(content, AUTO, each, tokenizer) for each in (by_name, by_itself))
    assert (found.prompt, found.special_tokens) == (expected.prompt, expected.special_tokens)
    assert "GetDay" in str(found.prompt)
    assert make_request(json.dumps(API_BANK_TOOL), None, DecodeCommand(), tokenizer).special_tokens


def test_raw_takes_no_dialogue(tokenizer: Any) -> None:
    with pytest.raises(PromptError, match="template raw takes a prompt"):
        make_request(TURNS, None, DecodeCommand(template="raw"), tokenizer)
