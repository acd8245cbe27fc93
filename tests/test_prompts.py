"""Prompts of each template, and the forms in which they print documentation."""

import json
import re
from typing import Any

import pytest

from tiny_models import byte_level_tokenizer
from tooldecoding.batches.requests import make_request
from tooldecoding.errors import ModelError, PromptError
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.prompts.dialogue import Turn, Utterance
from tooldecoding.prompts.documentation import Documentation
from tooldecoding.prompts.prompts import API_BANK_INSTRUCTION, api_bank_prompt, bfcl_prompt
from tooldecoding.prompts.templates import misfits

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
TURNS: tuple[Turn, ...] = (Utterance("user", "Grüße, paint it."),)
CHAT_TEMPLATE = (
    "{% for t in tools %}<tool>{{ t | tojson }}</tool>{% endfor %}"
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls or [] %}"
    '<tool_call>\n{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\n</tool_call>'
    "{% endfor %}{% endfor %}"
    "{% if messages[0].content == 'refuse' %}{{ raise_exception('no') }}{% endif %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return byte_level_tokenizer()


def request_text(tokenizer: Any, content: Any, documentation: Documentation, **options: Any) -> str:
    return str(make_request(content, documentation, DecodeCommand(**options), tokenizer).prompt)


def test_api_bank_prompt_is_the_one_that_the_model_was_trained_on() -> None:
    assert api_bank_prompt('{"name": "A"}\n', ["User: x", "AI: y"]) == (
        f'API descriptions:\n{{"name": "A"}}\n\n{API_BANK_INSTRUCTION}\n\nUser: x\nAI: y\nAPI-Request: '
    )


def test_api_bank_prints_a_text_verbatim(tokenizer: Any) -> None:
    text = "Tools:\n" + json.dumps(API_BANK_TOOL, indent=1)
    prompt = request_text(tokenizer, TURNS, Documentation.read(text, "d"))
    assert prompt.startswith(f"API descriptions:\n{text}\n")
    assert prompt.endswith("User: Grüße, paint it.\nAPI-Request: ")


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


def test_prompt_with_a_template_is_one_user_turn(tokenizer: Any) -> None:
    documentation = Documentation.read([API_BANK_TOOL], "d")
    as_dialogue = request_text(tokenizer, TURNS, documentation)
    assert request_text(tokenizer, "Grüße, paint it.", documentation, template="api-bank") == as_dialogue


@pytest.mark.parametrize("form", ["data", "list text", "lines"])
def test_bfcl_prints_functions_indented(tokenizer: Any, form: str) -> None:
    tools = [SCHEMA_TOOL, API_BANK_TOOL]
    source = {"data": tools, "list text": json.dumps(tools), "lines": "\n".join(map(json.dumps, tools))}[form]
    prompt = request_text(tokenizer, TURNS, Documentation.read(source, "d"), template="bfcl")
    assert prompt == bfcl_prompt(json.dumps(tools, indent=4), ["User: Grüße, paint it."])
    assert "[func_name1(param1=value1" in prompt


def test_bfcl_makes_schemas_where_documentation_is_prose(tokenizer: Any) -> None:
    text = f"You have this tool: {json.dumps(API_BANK_TOOL)}. Use it."
    prompt = request_text(tokenizer, TURNS, Documentation.read(text, "d"), template="bfcl")
    assert '"required": [' in prompt
    assert '"name": "GetDay"' in prompt


def test_chat_uses_the_template_with_its_tools(tokenizer: Any) -> None:
    tokenizer.chat_template = CHAT_TEMPLATE
    documentation = Documentation.read([SCHEMA_TOOL], "d")
    request = make_request(TURNS, documentation, DecodeCommand(template="chat"), tokenizer)
    assert not request.special_tokens
    text = str(request.prompt)
    assert text.endswith("</tool><user>Grüße, paint it.<assistant>")
    (function,) = [json.loads(text[len("<tool>") : text.index("</tool>")])]
    assert function["type"] == "function"
    assert function["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "colour": {"type": "string", "description": "Its colour.", "enum": ["red", "blau"]},
            "coats": {"type": "integer", "description": "How many.", "default": 2},
            "walls": {"type": "array", "items": {"type": "string"}, "description": "Which."},
        },
        "required": ["colour"],
    }
    with pytest.raises(PromptError, match="refuses the dialogue: no"):
        request_text(tokenizer, "refuse", documentation, template="chat")
    tokenizer.chat_template = None
    with pytest.raises(ModelError, match="no chat template"):
        make_request(TURNS, documentation, DecodeCommand(template="chat"), tokenizer)


def test_openai_tools_reach_the_chat_template_as_they_are() -> None:
    given = [{"type": "function", "function": SCHEMA_TOOL}]
    assert Documentation.read(given, "d").as_chat_tools() == given


class TestAuto:
    DOCUMENTATION = Documentation.read([API_BANK_TOOL], "d")

    def same(self, tokenizer: Any, content: Any, template: Any, **options: Any) -> None:
        by_name, by_itself = DecodeCommand(template=template, **options), DecodeCommand(**options)
        expected = make_request(content, self.DOCUMENTATION, by_name, tokenizer)
        found = make_request(content, self.DOCUMENTATION, by_itself, tokenizer)
        assert (found.prompt, found.special_tokens) == (expected.prompt, expected.special_tokens)
        assert "GetDay" in str(found.prompt)

    @pytest.mark.parametrize(("form", "template"), [("api-bank", "api-bank"), ("pythonic", "bfcl")])
    def test_shape_of_the_call_format(self, tokenizer: Any, form: str, template: str) -> None:
        self.same(tokenizer, "What day is it?", template, format=form)

    def test_chat_template_that_prints_tools(self) -> None:
        tokenizer = byte_level_tokenizer()
        tokenizer.chat_template = CHAT_TEMPLATE
        self.same(tokenizer, "What day is it?", "chat")
        self.same(tokenizer, TURNS, "api-bank")
        assert make_request(json.dumps(API_BANK_TOOL), None, DecodeCommand(), tokenizer).special_tokens

    def test_chat_template_that_prints_none(self) -> None:
        tokenizer = byte_level_tokenizer()
        tokenizer.chat_template = "{% for m in messages %}{{ m.content }}{% endfor %}"
        self.same(tokenizer, "What day is it?", "chat")

    @pytest.mark.parametrize(
        "chat_template",
        [
            "{{ raise_exception('no') }}",
            "{{ messages[0].content + 1 }}",
            {"first": "a", "second": "b"},
        ],
    )
    def test_chat_template_that_takes_no_message(self, chat_template: Any) -> None:
        tokenizer = byte_level_tokenizer()
        tokenizer.chat_template = chat_template
        self.same(tokenizer, "What day is it?", "api-bank")

    @pytest.mark.parametrize(
        ("template", "form", "said"),
        [
            ("bfcl", "api-bank", "bfcl asks .* written in api-bank; --format pythonic or --template api-bank fits"),
            ("api-bank", "pythonic", "api-bank asks .* --format api-bank or --template bfcl fits"),
        ],
    )
    def test_misfits_are_said(self, tokenizer: Any, template: Any, form: str, said: str) -> None:
        (found,) = misfits([template, template], DecodeCommand(format=form), tokenizer)
        assert re.search(said, found)

    def test_what_fits_is_not(self, tokenizer: Any) -> None:
        assert not list(misfits(["raw", "api-bank"], DecodeCommand(), tokenizer))
        assert not list(misfits(["raw", "bfcl"], DecodeCommand(format="pythonic"), tokenizer))


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ({"template": "bfcl"}, "pythonic"),
        ({"template": "bfcl", "format": "api-bank"}, "api-bank"),
        ({"template": "api-bank"}, "api-bank"),
        ({"template": "api-bank", "format": "hermes"}, "hermes"),
        ({"template": "chat"}, "hermes"),
        ({"template": "chat", "format": "pythonic"}, "pythonic"),
    ],
)
def test_auto_is_the_format_that_the_template_asks_for(options: Any, written: str) -> None:
    tokenizer = byte_level_tokenizer()
    tokenizer.chat_template = CHAT_TEMPLATE
    request = make_request("Go.", Documentation.read([API_BANK_TOOL], "d"), DecodeCommand(**options), tokenizer)
    assert (request.options.format, request.options.tool_choice) == (written, "required")


def test_raw_takes_no_dialogue(tokenizer: Any) -> None:
    with pytest.raises(PromptError, match="template raw takes a prompt"):
        make_request(TURNS, None, DecodeCommand(template="raw"), tokenizer)


def test_raw_prompt_stays_as_it_is(tokenizer: Any) -> None:
    prompt = f"  {json.dumps(API_BANK_TOOL)} \n\nGo: "
    request = make_request(prompt, None, DecodeCommand(), tokenizer)
    assert request.prompt == prompt
    assert list(request.tools) == ["GetDay"]
