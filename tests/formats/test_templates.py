"""What a format renders stands in what the model's own chat template writes for the same calls, and is read back."""

import functools
import json
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.own_templates import ORIGINALS, original
from formats.test_call_formats import VALUES as LAW_VALUES
from tiny_models import byte_level_tokenizer
from tooldecoding.formats.call_format import ID, Call
from tooldecoding.formats.known_formats import CALL_FORMATS, unread

AS_STRINGS: Final = ("deepseekv3", "mistral_v3", "mistral_v3_spm", "mistral_v7")
"""Templates that want arguments as a JSON string: they join or HTML-escape anything else."""

NASTY = ["", 'a "b"', "a\\b", "a\n\nb", "\x00\x1b", "</tool_call>", "<|im_end|>", "null", "3", " a ", "日本 🙂"]
VALUES = st.one_of(*(LAW_VALUES[kind] for kind in ("str", "bool", "list", "dict")), st.integers(-(10**9), 10**9))
VALUES |= st.floats(-1e6, 1e6) | st.sampled_from(NASTY)
ARGUMENTS = st.dictionaries(st.sampled_from(["city", "days", "a_b", "x1"]), VALUES, max_size=3)


@cache
def written(template: str) -> Callable[[list[dict[str, Any]]], str]:
    """What the template writes for messages."""
    text, tokenizer = original(template), byte_level_tokenizer()
    return lambda messages: tokenizer.apply_chat_template(messages, chat_template=text, tokenize=False)  # type: ignore[return-value]


def history(template: str, calls: list[Call]) -> str:
    """What the template writes for a dialogue with these calls."""
    listed = [
        {
            "type": "function",
            "id": f"call0000{number}",
            "function": {
                "name": call.name,
                "arguments": json.dumps(call.arguments, ensure_ascii=False)
                if template in AS_STRINGS
                else call.arguments,
            },
        }
        for number, call in enumerate(calls)
    ]
    asked = {"role": "user", "content": "Please do it now."}
    return written(template)([asked, {"role": "assistant", "content": "", "tool_calls": listed}])


def loss(form: str, value: Any) -> str:
    """Why templates of a format do not write this argument so that it can be read; empty if they do."""
    match form:
        case "qwen-xml" | "glm-4.5" if isinstance(value, str):
            mark = "</parameter>" if form == "qwen-xml" else "</arg_value>"
            return "white space or a mark in a raw text" if value != value.strip() or mark in value else ""
        case "qwen-xml" if isinstance(value, bool):
            return "True and False"
        case "lfm2.5":
            odd = any(c in "'\"\\" or not c.isprintable() for text in texts(value) for c in text)
            return "quotes and escapes in a text" if odd else ""
    return ""


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(t for item in value.values() for t in texts(item))]
    return [t for item in value for t in texts(item)] if isinstance(value, list) else [value] * isinstance(value, str)


@pytest.mark.parametrize("template", ORIGINALS)
@given(several=st.lists(ARGUMENTS, min_size=1, max_size=2))
@settings(max_examples=settings().max_examples // 2)  # of several templates with the same format
def test_what_is_rendered_stands_in_what_the_template_writes(template: str, several: list[dict[str, Any]]) -> None:
    form = CALL_FORMATS[ORIGINALS[template]]
    several = several if form.parallel else several[:1]
    kept = [{key: value for key, value in arguments.items() if not loss(form.name, value)} for arguments in several]
    calls = [Call(f"get_{number}", arguments) for number, arguments in enumerate(kept)]
    written = [
        functools.reduce(lambda text, n: text.replace(ID, f"call0000{n}", 1), range(len(calls)), spelling.render(calls))
        for spelling in (form, *form.also)
    ]
    assert any(text in history(template, calls) for text in written)
    assert unread(form, written[0], calls) == ""
