"""Law: whatever opening a model begins with, a documented call comes of it, and nothing else does.

A scripted model writes a text, with a chat template's format and none named by the user.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest
import torch

from synthetic import END, ScriptedEngine, Writer, decode, synthetic
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.formats.known_formats import CALL_FORMATS, NATIVE_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tools import lookup, parameter, sound, tool

PROMPT = "Question?\n"
TOOLS = lookup(
    tool("get_weather", parameter("city", "str"), parameter("days", "int", required=False)),
    tool("get_time"),
    tool("weather.set", parameter("type", "str"), parameter("tags", "list", required=False)),
)
ROME: Mapping[str, Any] = {"city": "Rome", "days": 3}


FEW: Mapping[str, Any] = {"tool_choice": "auto", "order_limit": 1}


def run(text: str, format: str = "hermes", prompt: str = PROMPT, **fields: Any) -> DecodeResult:
    """What comes of a model that writes a text, and then ends its turn."""
    fields = {"format": format, "dialects": True, **FEW} | fields
    return decode(Writer(prompt, text, kind="marks"), prompt, TOOLS, "marks", **fields)


def stream(text: str, format: str = "hermes") -> list[Any]:
    """The same piece by piece, and the result."""
    decoder = synthetic("marks")
    decoder.engine = Writer(PROMPT, text, kind="marks")
    return [*decoder.stream_run(Request(PROMPT, TOOLS, DecodeOptions(format=format, **FEW), dialects=True))]


def called(result: DecodeResult) -> list[tuple[str, dict[str, Any]]]:
    assert sound(result), result.errors
    return [(call.name, call.arguments) for call in result.calls]


NAMED = {"name": "get_weather", "arguments": ROME}
FORMS = {
    "fence, indented": f"```json\n{json.dumps(NAMED, indent=2)}\n```",
    "fence, indented by four": f"```json\n{json.dumps(NAMED, indent=4)}\n```",
    "fence, one line": f"```json\n{json.dumps(NAMED)}\n```",
    "fence without a language": f"```\n{json.dumps(NAMED)}\n```",
    "fence with a list": f"```json\n[{json.dumps(NAMED)}]\n```",
    "fence with an indented list": f"```json\n{json.dumps([NAMED], indent=2)}\n```",
    "object": json.dumps(NAMED),
    "object without spaces": json.dumps(NAMED, separators=(",", ":")),
    "indented object": json.dumps(NAMED, indent=2),
    "parameters": json.dumps({"name": "get_weather", "parameters": ROME}),
    "list": json.dumps([NAMED]),
    "function around": json.dumps({"type": "function", "function": NAMED}),
    "function around, indented": json.dumps({"type": "function", "function": NAMED}, indent=2),
    "function as name": json.dumps({"type": "function", "function": "get_weather", "parameters": ROME}),
    "fence, Windows lines": f"```json\n{json.dumps(NAMED, indent=2)}\n```".replace("\n", "\r\n"),
    "list, Windows lines": json.dumps([NAMED], indent=2).replace("\n", "\r\n"),
    "sister tag": f"<|tool_call|>{json.dumps([NAMED])}",
    "tag of nobody": f"<function_call>{json.dumps(NAMED)}</function_call>",
}


@pytest.mark.parametrize("before", ["", "Let me see {1}:\n"])
@pytest.mark.parametrize("form", FORMS)
def test_a_call_in_the_models_own_dialect(form: str, before: str) -> None:
    bare = FORMS[form][0] in "{["
    result = run(before + FORMS[form])
    if bare and before:
        assert not result.calls and result.text == before + FORMS[form]
        return
    assert called(result) == [("get_weather", ROME)]
    assert result.content == before.rstrip("\n") and result.text == before + FORMS[form]
    assert not run(FORMS[form], dialects=False).calls, "a format that the user names is the only one"


@pytest.mark.parametrize("spaces", [1, 2, 4])
@pytest.mark.parametrize("tags", [["a"], [{"b": [1, {}], "c": "x"}, [], [[2]]], []])
def test_brackets_over_several_lines_where_the_call_is_so(spaces: int, tags: list[Any]) -> None:
    arguments = {"type": "x", "tags": tags}
    text = "```json\n" + json.dumps({"name": "weather.set", "arguments": arguments}, indent=spaces) + "\n```"
    result = run(text)
    assert called(result) == [("weather.set", arguments)] and result.calls[0].candidates[0].text in text


@pytest.mark.parametrize("format", [f.name for f in NATIVE_FORMATS])
def test_every_template_whose_model_writes_a_fence(format: str) -> None:
    assert called(run(FORMS["fence, indented"], format)) == [("get_weather", ROME)]


PYTHON = "get_weather(city='Rome', days=3)"


@pytest.mark.parametrize("format", ["llama4-pythonic", "lfm2.5", "olmo3"])
@pytest.mark.parametrize("text", [PYTHON, f"```python\n{PYTHON}\n```"])
def test_python_where_the_template_is_like_it(format: str, text: str) -> None:
    result = run(text, format)
    assert called(result) == [("get_weather", ROME)] and result.text == text
    assert not run(text, "hermes").calls


@pytest.mark.parametrize("format", ["llama4-pythonic", "lfm2.5", "olmo3"])
def test_python_without_arguments(format: str) -> None:
    for text in ["get_time()", "```python\nget_time()\n```", f"get_time()\n{PYTHON}"]:
        assert called(run(text, format))[0] == ("get_time", {})
    for text in ["get_time() gives the time.", "`get_time()`", "Use get_time()"]:
        assert not run(text, format).calls


MISSPELT = [
    '```json\n{"name": "get_wether", "arguments": {"city": "Rome"}}\n```',
    '\n[{"name": "get_weathers", "arguments": {"city": "Rome"}}]',
    '{"name": "get_", "parameters": {"city": "Rome"}}',
]


@pytest.mark.parametrize("text", MISSPELT)
def test_a_misspelt_name_at_the_beginning_calls_a_documented_tool(text: str) -> None:
    result = run(text)
    assert sound(result) and result.calls[0].name in TOOLS and result.text.startswith(text[: text.index("get_") + 4])
    assert run(f"So: {text[:40]}").text == f"So: {text[:40]}"


INVENTED = [
    '```json\n{"name": "weathr", "arguments": {"city": "Rome"}}\n```',
    '{"name": "add", "arguments": {"a": 2, "b": 2}}',
    '\n {"name": "Joke", "parameters": {"text": "Why?"}}',
    '[{"name": "hello", "arguments": {}}]',
    '{"name": "get_weather", "arguments": ["Rome", 3]}',
]


@pytest.mark.parametrize("text", INVENTED)
def test_an_answer_that_begins_with_a_call_of_an_invented_tool_begins_with_words(text: str) -> None:
    result = run(text)
    assert result.text.strip() and result.text.strip()[0] not in "{[`<" and not result.calls
    *pieces, streamed = stream(text, "hermes")
    assert "".join(piece.text for piece in pieces) == streamed.text == result.text
    assert run(text, dialects=False).text == text and run(f"So: {text}").text == f"So: {text}"


QUOTED = [
    '```json\n{"city": "Rome", "days": 3}\n```\nThat is all.',
    '```json\n{"name": "get_weather", "description": "Get the weather.", "parameters": {}}\n```',
    '{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}',
    '{"name": "weather.set", "parameters": {"type": "object", "properties": {}}}',
    '{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}',
    'Call it like this: {"name": "get_weather", "arguments": {"city": "Rome"}}',
    "```python\nprint(get_weather(city='Rome'))\n```",
    "``` and `<tool` and [TOOL_CALLS and {",
    '{"name": "get_weather"}',
    '[1, 2, {"name": "get_weather", "arguments": {}}]',
    "```json\n" + '{"name": "' * 30,
    f"Example:\n```python\nx = 1\n```\n{json.dumps(NAMED)}",
    f"````markdown\n```json\n{json.dumps(NAMED)}\n```\n````",
    f"`````json\n{json.dumps(NAMED)}",
    "``" * 40,
]


@pytest.mark.parametrize(
    ("text", "format"),
    [
        *((text, format) for text in QUOTED for format in ("hermes", "llama4-pythonic", "mistral-list")),
        *((text, form.name) for text in QUOTED[3:7] for form in NATIVE_FORMATS),  # documentation
    ],
)
def test_anything_else_is_text_word_for_word(text: str, format: str) -> None:
    result = run(text, format)
    assert not result.calls and result.text == text
    *pieces, streamed = stream(text, format)
    assert "".join(piece.text for piece in pieces) == streamed.text == text


def test_text_is_held_back_only_while_it_can_become_a_call() -> None:
    text = 'See:\n```json\n{"name": "get_wind", "arguments": {}}\n``` and {"name": "get_time"} so.'
    shown = [piece.text for piece in stream(text) if hasattr(piece, "kind")]
    assert "".join(shown) == text
    [name] = [piece for piece in shown if "```json" in piece]
    assert "argum" not in name  # an unknown name is told at once


@pytest.mark.parametrize("stop", ['": {', "\n", "`", "{", '"', "name", "get_weather", "<tool_call>", "(", "["])
@pytest.mark.parametrize("form", FORMS)
def test_a_stop_in_an_opening_leaves_the_call(form: str, stop: str) -> None:
    plain, stopped = run(FORMS[form]), run(FORMS[form], stop=(stop,))
    assert (stopped.text, called(stopped)) == (plain.text, called(plain)) and plain.calls


OWN = f"<tool_call>\n{json.dumps(NAMED)}\n</tool_call>"
"""A call of the template's format."""


@pytest.mark.parametrize("text", [*INVENTED, *FORMS.values(), OWN])
def test_where_no_call_may_be_made_none_is_written(text: str) -> None:
    result = run(text, tool_choice="none")
    assert result.text.strip() and result.text.strip()[0] not in "{[`<" and not result.calls


class Noise(Writer):
    """What else this model might write are parts of words."""

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        logits = super().next_logits(tokens).logits
        return NextTokenLogits(logits + torch.tensor([0.5 * bool(text and text.islower()) for text in self._texts]))


def test_words_in_the_place_of_a_call_begin_as_a_sentence_does() -> None:
    engine = Noise(PROMPT, OWN, kind="marks")
    text = decode(engine, PROMPT, TOOLS, "marks", format="hermes", tool_choice="none").text.strip()
    assert text and not text[0].islower()


WAYS = ["fence, indented", "fence, one line", "object", "indented object", "list"]


@pytest.mark.parametrize("text", [OWN, *map(FORMS.__getitem__, WAYS)])
def test_a_required_call_begins_as_the_model_begins_it(text: str) -> None:
    result = run(text, tool_choice="required")
    assert called(result) == [("get_weather", ROME)] and result.text == text
    assert (result.call_format is CALL_FORMATS["hermes"]) == (text is OWN)


TWICE = [NAMED, {"name": "get_time", "arguments": {}}]


@pytest.mark.parametrize("choice", ["auto", "required"])
@pytest.mark.parametrize(
    "text",
    [
        json.dumps(TWICE),
        "\n".join(map(json.dumps, TWICE)),
        "```json\n" + "\n".join(map(json.dumps, TWICE)) + "\n```",
        "```json\n" + json.dumps(TWICE) + "\n```",
    ],
)
def test_two_calls_in_a_dialect(text: str, choice: str) -> None:
    assert called(run(text, tool_choice=choice)) == [("get_weather", ROME), ("get_time", {})]


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_a_call_in_a_fence_of_its_own_is_written_in_the_first_fence(choice: str) -> None:
    wanted = "\n".join(f"```json\n{json.dumps(call)}\n```" for call in TWICE)
    same = "```json\n" + "\n".join(map(json.dumps, TWICE)) + "\n```"
    table = synthetic("marks").table

    def going_on(written: str) -> str:
        behind = written.partition(PROMPT)[2]
        texts = [text for text in (wanted, same) if text.startswith(behind) and text != behind]
        return texts[0][len(behind) :] if texts else table.special.bound(END)

    fields = {"format": "hermes", "dialects": True, **FEW, "tool_choice": choice}
    result = decode(ScriptedEngine(table.texts, going_on), PROMPT, TOOLS, "marks", **fields)
    assert called(result) == [("get_weather", ROME), ("get_time", {})] and result.text == same


@pytest.mark.parametrize(
    "text",
    [
        '%s\n{"temperature": 3}',
        '%s\n{"name": "unknown", "arguments": {}}',
        "```json\n%s\n```\n```python\nprint(1)\n```",
        "```json\n%s\n```\n\n```\nok\n```",
        '```json\n%s\n{"x": 1}\n```',
        '[%s, {"x": 1}]',
        "<function_call>%s</function_call>\n<b>ok</b>",
        "<tools>\n%s\n</tools>\n<tool_response>x",
    ],
)
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_what_begins_like_a_call_behind_one_is_none(text: str, choice: str) -> None:
    if choice == "required" and text[0] == "<":
        return  # no usual beginning
    assert called(run(text % json.dumps(NAMED), tool_choice=choice)) == [("get_weather", ROME)]


@pytest.mark.parametrize("gap", ["; ", ", ", "\n"])
def test_further_calls_as_models_part_them(gap: str) -> None:
    assert len(called(run("<|python_tag|>" + gap.join(map(json.dumps, TWICE))))) == 2
    assert len(called(run(f"{PYTHON}{gap}get_time()", "olmo3"))) == 2


@pytest.mark.parametrize("room", [200, 300, 420, 700])
def test_the_templates_call_needs_no_room_for_a_dialect(room: int) -> None:
    assert called(run(OWN, prompt="x\n" * ((4096 - room) // 2))) == [("get_weather", ROME)]


def test_bytes_that_are_no_text_before_a_call() -> None:
    engine = Writer(PROMPT, "", kind="marks")
    engine._wanted = PROMPT.encode() + b"Hi \xff\xff:\n```json\n" + json.dumps(NAMED).encode() + b"\n```"
    result = decode(engine, PROMPT, TOOLS, "marks", dialects=True, format="hermes", **FEW)
    assert called(result) == [("get_weather", ROME)] and result.text.startswith("Hi \ufffd\ufffd:\n```json")
