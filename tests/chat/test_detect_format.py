"""The call format is found in what the chat template writes, whatever its family; else one clear error."""

from functools import cache

import pytest
from chat_models import chat_tokenizer, decoder_of, says
from own_templates import CALLS, ORIGINALS, UNKNOWN, original, template
from transformers import PreTrainedTokenizerFast

from tooldecoding.chat.probe import NAME
from tooldecoding.chat.template_profile import profile_of
from tooldecoding.errors import ModelError
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS, NATIVE_FORMATS

WITHOUT_CALLS = ("cohere2", "gemma3", "lfm2", "phi3_5")


def detect_format(of: PreTrainedTokenizerFast) -> CallFormat:
    return profile_of(of).detected.call_format


tokenizer = cache(chat_tokenizer)


@pytest.mark.parametrize("spelling", [*ORIGINALS, *CALLS])
def test_the_format_of_every_template_and_its_spellings(spelling: str) -> None:
    text = original(spelling) if spelling in ORIGINALS else template(CALLS[spelling])
    if spelling.startswith("llama4"):
        text = text.replace("</turn>", "<|eot|>")  # the only difference from pythonic
    assert detect_format(tokenizer(text)).name == ORIGINALS.get(spelling, spelling.partition(",")[0])


@pytest.mark.parametrize("name", WITHOUT_CALLS)
def test_original_templates_that_write_no_calls(name: str) -> None:
    with pytest.raises(ModelError, match=r"does not write calls of earlier turns.*--format.*hermes"):
        detect_format(tokenizer(original(name)))


def test_every_native_format_has_a_template() -> None:
    own = {spelling.partition(",")[0] for spelling in CALLS}
    assert own | {*ORIGINALS.values()} == {f.name for f in NATIVE_FORMATS}


@pytest.mark.parametrize("way", UNKNOWN)
def test_unknown_ways_are_no_format(way: str) -> None:
    with pytest.raises(ModelError) as error:
        detect_format(tokenizer(template(UNKNOWN[way])))
    message = str(error.value)
    assert all(part in message for part in ("writes calls in no known format", NAME, "--format", *CALL_FORMATS))
    assert message.isprintable() and len(message) < 1000


@pytest.mark.parametrize(
    ("guard", "message"),
    [
        ("{% if messages[0].role != 'system' %}{{ raise_exception('system') }}{% endif %}", None),
        ("{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}", None),
        ("{% if messages[-1].role != 'tool' %}{{ raise_exception('a result') }}{% endif %}", None),
        ("{% if tools %}{{ raise_exception('no tools') }}{% endif %}", None),
        ("{% if messages[1].content is string %}{{ raise_exception('content') }}{% endif %}", None),
        ("{{ raise_exception('nothing\nat all') }}", r"a dialogue with a call: .TemplateError: nothing\\nat all"),
        ("{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m(1) }}", "RecursionError"),
        ("{{ 1 / 0 }}", "ZeroDivisionError"),
        ("{{ range(10 ** 9) }}", "OverflowError"),
        ("{{ ''.__class__.__mro__ }}", "SecurityError"),
        ("{% if %}", "TemplateSyntaxError"),
    ],
)
def test_templates_that_raise(guard: str, message: str | None) -> None:
    raising = tokenizer(guard + template(CALLS["hermes"]))
    if message is None:
        assert detect_format(raising).name == "hermes"
        return
    with pytest.raises(ModelError, match=message) as error:
        detect_format(raising)
    assert "\n" not in str(error.value)


def test_the_instruction_for_tools_is_enough_if_one_format_fits() -> None:
    said = '{% if tools %}Write <tool_call>\n{"name": <name>, "arguments": <arguments>}\n</tool_call>{% endif %}'
    silent = template("{{ message.content }}")
    found = profile_of(tokenizer(said + silent)).detected
    assert found.call_format.name == "hermes"
    assert "instruction" in found.reason
    two = said + "{% if tools %}or <function_calls>\nf()\n</function_calls>{% endif %}"
    with pytest.raises(ModelError, match="does not write calls"):
        detect_format(tokenizer(two + silent))


GRANITE = (
    "{% if tools %}<|role|>system\nAnswer with <|tool_call|> followed by a JSON list of tools.\n<|role|>tools\n"
    "{{ tools | tojson }}\n{% endif %}{% for m in messages %}<|role|>{{ m.role }}\n{{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
"""As Granite 3.3's: it names the tag of a call, and writes no calls of earlier turns."""


TIME = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_the_tag_of_a_sister_that_only_the_instruction_names(choice: str) -> None:
    assert detect_format(tokenizer(GRANITE)).name == "granite3"
    assert detect_format(tokenizer(GRANITE.replace("<|tool_call|>", "<tool_call>"))).name == "granite3"
    with pytest.raises(ModelError):
        detect_format(tokenizer(GRANITE.replace("<|tool_call|>", "a tag")))
    decoder = decoder_of(GRANITE, ("<|tool_call|>",))
    text = '<|tool_call|>[{"name": "get_time", "arguments": {}}]'
    says(decoder, lambda prompt: text)
    reply = decoder.chat([{"role": "user", "content": "What time is it?"}], [TIME], choice)
    assert reply.result.text == text and [call.name for call in reply.calls] == ["get_time"] and reply.valid


def test_another_template_or_none_is_seen() -> None:
    own = chat_tokenizer(None)
    with pytest.raises(ModelError, match=r"no chat template; .*--format"):
        detect_format(own)
    for name in ("hermes", "olmo3"):
        own.chat_template = template(CALLS[name])
        assert detect_format(own).name == name


def test_a_call_has_no_content_where_an_empty_one_leaves_a_trace() -> None:
    traced = "{% if message.content is string %}<text>{{ message.content }}</text>{% endif %}"
    assert profile_of(tokenizer(template(CALLS["hermes"]))).no_content == ""
    assert profile_of(tokenizer(template(traced + CALLS["hermes"]))).no_content is None
