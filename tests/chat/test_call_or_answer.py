"""What the answer is: words, a question, or a call that the model did not write by itself."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from chat_models import HERMES, call, decoder_of

from lookup import extract
from synthetic import ScriptedEngine
from tooldecoding.chat.reply import CallPiece, ChatMessage
from tooldecoding.decoding.call_or_answer import only_reads
from tooldecoding.testing import SyntheticDecoder
from tooldecoding.tokens.token_texts import END
from tools import documented

TEXT = {"type": "string"}
WEATHER = documented("get_weather", ["city"], city=TEXT | {"description": "Name of the city"})
SEND = documented("send", ["to", "text"], to=TEXT | {"description": "Address of the recipient"}, text=TEXT)
SEARCH = documented("search_people", ["who"], who=TEXT)
TIMER = documented("set_timer", ["minutes"], minutes={"type": "integer"})
RAIN = [
    {"role": "user", "content": "Rain in Rome?"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "a", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": '[{"city": "Rome", "rain": "3 mm"}]'},
]


@pytest.fixture
def decoder() -> SyntheticDecoder:
    return decoder_of(HERMES, max_value_tokens=60, ask=None, order_limit=1)


def writes(decoder: SyntheticDecoder, wish: Callable[[str, str], str]) -> None:
    """Let the decoder's model write what a function of the prompt and of what is written says, where it fits."""

    def continuation(text: str) -> str:
        prompt, _, written = text.rpartition("[assistant]")
        wanted = decoder.table.special.bound(wish(prompt, decoder.table.special.shown(written)))
        return wanted[len(written) :] + END if wanted.startswith(written) else END

    decoder.engine = ScriptedEngine(decoder.table.texts, continuation)


def reply(decoder: SyntheticDecoder, messages: Any, tools: Any, choice: str = "auto", **options: Any) -> ChatMessage:
    """The reply; a stream of it has the same."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    *pieces, last = decoder.stream(messages, tools, choice, **options)
    assert isinstance(last, ChatMessage)
    shown = [piece.text for piece in pieces if not isinstance(piece, CallPiece)]
    assert "".join(shown).rstrip() == (last.result.thinking + (last.content or "")).rstrip()
    assert [p.call.arguments for p in pieces if isinstance(p, CallPiece)] == [c.arguments for c in last.calls]
    return last


EXECUTED = '{"name": "get_weather", "arguments": {"city": "Rome"}}'
LISTED = '{"type": "function", "function": {"name": "get_weather"'


@pytest.mark.parametrize(
    ("written", "then", "content"),
    [
        ("<tool_response>\nIt rains.\n</tool_response>", "", "3 mm fall."),
        ("<response>It rains.</response>", "", "3 mm fall."),
        ("<tools>\n" + LISTED, "", "3 mm fall."),
        ("{" + EXECUTED + "}", "", "3 mm fall."),
        ('{"name": "get_weather", "description": "Rain."}', "", "3 mm fall."),
        ("```json\n[" + EXECUTED, "", "3 mm fall."),
        ('[{"city": "Rome", "rain": "3 mm"}]', "", "3 mm fall."),
        ("The outcome is: " + EXECUTED, "", "The outcome is: "),
        ("It rains.\n<tool_response>3 mm</tool_response>", "", "It rains."),
        ("It rains. " + EXECUTED, "", "It rains."),
        # what is no call, no mark and no result stays
        ('Write {"name": "paris", "arguments": {}} for it.', None, 'Write {"name": "paris", "arguments": {}} for it.'),
        ("a < b, <b>c</b> and <responsible>", None, "a < b, <b>c</b> and <responsible>"),
        ("It is:\n```python\nrain = " + EXECUTED + "\n```", None, "It is:\n```python\nrain = " + EXECUTED + "\n```"),
        ('{"rain": "3 mm"}', None, '{"rain": "3 mm"}'),
    ],
)
def test_an_answer_behind_results_is_words(
    decoder: SyntheticDecoder, written: str, then: str | None, content: str
) -> None:
    def wish(prompt: str, so_far: str) -> str:
        if written.startswith(so_far):
            return written
        if so_far == "3" or content.startswith(so_far):
            return content
        return so_far

    writes(decoder, wish)
    # the first token that is left where the model may not begin so: digits are words
    said = reply(decoder, RAIN, [WEATHER], "none").content or ""
    goes_on = then == "" and not set(said) & set("<{[") and (content[0] == "3" or said.startswith(content))
    assert said.strip() == content or goes_on, said


@pytest.mark.parametrize("asked", ["Answer in JSON.", "Rain? In a <response> please."])
def test_what_was_asked_for_stays(decoder: SyntheticDecoder, asked: str) -> None:
    written = EXECUTED if "JSON" in asked else "<response>3 mm</response>"
    writes(decoder, lambda prompt, so_far: written)
    messages = [{"role": "user", "content": asked}, *RAIN[1:]]
    said = reply(decoder, messages, [WEATHER], "none").content
    assert (said == written) or "JSON" in asked  # a call at the beginning is none, whatever was asked for
    written = f"Here it is: {written}"
    assert reply(decoder, messages, [WEATHER], "none").content == written


@pytest.mark.parametrize("before", ["", "Sure. "])
@pytest.mark.parametrize("closing", ["}}}", "\n}}}"])
def test_double_braces_open_a_call(decoder: SyntheticDecoder, before: str, closing: str) -> None:
    writes(decoder, lambda prompt, so_far: before + '{{"name": "set_timer", "arguments": {"minutes": 7' + closing)
    said = reply(decoder, "Seven minutes: 7.", [TIMER, WEATHER])
    assert [made.arguments for made in said.calls] == [{"minutes": 7}] and (said.content or "") == before.strip()


def speaking(wanted: dict[str, str], words: str, values: dict[str, Any]) -> Callable[[str, str], str]:
    """A model that answers in words, though a prompt that holds a text would have it call a tool."""

    def wish(prompt: str, so_far: str) -> str:
        last = prompt.rpartition("[user]")[2]
        name = next((name for text, name in wanted.items() if text in last), "none")
        whole = call(name, **values.get(name, {}))
        return whole if so_far.startswith("<") else words

    return wish


@pytest.mark.parametrize(
    ("said", "calls"),
    [("And in Oslo?", [{"city": "Oslo"}]), ("And over there?", []), ("Thank you!", []), ("Oslo is nice.", [])],
)
def test_a_call_that_is_due_takes_the_place_of_words(decoder: SyntheticDecoder, said: str, calls: list[Any]) -> None:
    wanted = {"And in": "get_weather", "And over": "get_weather"}
    writes(decoder, speaking(wanted, "It is warm.", {"get_weather": {"city": "Oslo"}}))
    messages = [*RAIN, {"role": "assistant", "content": "3 mm."}, {"role": "user", "content": said}]
    found = reply(decoder, messages, [WEATHER, TIMER])
    assert [made.arguments for made in found.calls] == calls and found.content == (None if calls else "It is warm.")
    assert not reply(decoder, messages, [WEATHER, TIMER], "none").calls


@pytest.mark.parametrize("suits", [True, False])
def test_it_is_asked_only_if_the_tool_suits(decoder: SyntheticDecoder, suits: bool) -> None:
    def wish(prompt: str, so_far: str) -> str:
        if "The user has not said: city (Name of the city)." in prompt:
            return "In which town? Tell me."
        if "<tools>" not in prompt:
            return "Canberra."
        none = not suits or "Hello!" in prompt
        return (
            call("none")
            if none and so_far.startswith('<tool_call>\n{"name": "')
            else call("get_weather", city="Sydney")
        )

    def written(prompt: str, so_far: str) -> str:
        # by itself it writes the call; beside, it says that it wants none
        return call("get_weather", city="Sydney") if len(seen) < 1 and not seen.append(1) else wish(prompt, so_far)

    seen: list[int] = []
    writes(decoder, wish if suits else written)
    found = reply(decoder, "What is the capital?", [WEATHER, TIMER])
    if suits:
        assert found.content == "In which town (city)?" and found.result.asked
        messages = [{"role": "user", "content": "The weather."}, found.message, {"role": "user", "content": "Any."}]
        assert reply(decoder, messages, [WEATHER, TIMER]).calls, "it asks once"
    else:
        assert not found.calls and not found.result.asked


def test_what_is_looked_up_comes_first(decoder: SyntheticDecoder) -> None:
    def wish(prompt: str, so_far: str) -> str:
        last = prompt.rpartition("[user]")[2]
        if "Hello!" in last:
            return call("none")
        if "Address of the recipient" in last or so_far.startswith('<tool_call>\n{"name": "search'):
            return call("search_people", who="Ann")
        return call("send", to="ann@x.org", text="Hi!")

    writes(decoder, wish)
    found = reply(decoder, "Say Hi to Ann.", [SEND, SEARCH])
    assert [(made.name, made.arguments) for made in found.calls] == [("search_people", {"who": "Ann"})]
    found = reply(decoder, "Say Hi to them.", [SEND, SEARCH])
    assert not found.calls and found.content == "What should the to (Address of the recipient) be?"
    assert reply(decoder, "Say Hi to ann@x.org.", [SEND, SEARCH]).calls[0].name == "send"


def test_a_call_that_waits_for_another_one_is_not_made_with_it(decoder: SyntheticDecoder) -> None:
    two = call("search_people", who="Ann") + "\n" + call("send", to="ann@x.org", text="Hi!")
    writes(decoder, lambda prompt, so_far: two)
    for options in ({}, {"ask": "never"}):
        found = reply(decoder, "Say Hi to Ann.", [SEND, SEARCH], **options)
        assert [made.name for made in found.calls] == ["search_people"] and not found.content
    both = reply(decoder, "Say Hi to Ann.", [SEND, SEARCH], "required")
    assert [made.name for made in both.calls] == ["search_people", "send"]


def test_what_only_a_result_says_is_not_put_into_a_call_that_nobody_asked_for(decoder: SyntheticDecoder) -> None:
    def wish(prompt: str, so_far: str) -> str:
        if "<tools>" not in prompt:
            return "It is called Larch."
        beside = so_far.startswith('<tool_call>\n{"name": "') and seen
        seen.append(so_far)
        return call("none") if beside else call("get_weather", city="Larch")

    seen: list[str] = []
    writes(decoder, wish)
    read = {
        "role": "assistant",
        "tool_calls": [{"id": "a", "function": {"name": "search_people", "arguments": '{"who": "x"}'}}],
    }
    messages = [
        {"role": "user", "content": "What is x?"},
        read,
        {"role": "tool", "tool_call_id": "a", "content": "x is Larch"},
    ]
    found = reply(decoder, messages, [WEATHER, SEARCH])
    assert json.dumps(found.message).count("Larch") <= 1


def test_a_template_that_refuses_a_prompt_beside_gets_the_plain_question() -> None:
    refusing = '{% if not tools and messages[-1].content == "Set it." %}{{ raise_exception("no tools") }}{% endif %}'
    decoder = decoder_of(refusing + HERMES, max_value_tokens=60, ask=None, order_limit=1)
    for choice in ("auto", "required"):
        writes(decoder, lambda prompt, so_far: call("none") if "Hello!" in prompt else call("set_timer", minutes=7))
        found = reply(decoder, "Set it.", [TIMER, WEATHER], choice, ask="ungrounded")
        assert found.content == "What should the minutes be?" and found.result.asked


@pytest.mark.parametrize(("result", "made"), [("30.00 Larch", False), ('{"rows": [1], "who": "Larch"}', True)])
def test_a_result_goes_back_into_its_tool_only_as_a_cursor_does(
    decoder: SyntheticDecoder, result: str, made: bool
) -> None:
    def wish(prompt: str, so_far: str) -> str:
        none = "Hello!" in prompt.rpartition("[user]")[2]
        return call("none") if none else call("search_people", who="Larch") if "<tools>" in prompt else "All told."

    writes(decoder, wish)
    messages = [{"role": "user", "content": "Who is there? All."}, *RAIN[1:]]
    function = {"name": "search_people", "arguments": '{"who": "All"}'}
    messages[1:] = [
        {"role": "assistant", "tool_calls": [{"id": "a", "function": function}]},
        {"role": "tool", "tool_call_id": "a", "content": result},
    ]
    assert bool(reply(decoder, messages, [SEARCH, TIMER]).calls) is made


@pytest.mark.parametrize(
    ("name", "said", "reads"),
    [
        ("list_files", {}, True),
        ("delete_list", {}, False),
        ("list_files", {"annotations": {"readOnlyHint": False}}, False),
        ("peek", {"annotations": {"readOnlyHint": True}}, True),
    ],
)
def test_what_only_reads(name: str, said: Any, reads: bool) -> None:
    assert only_reads(extract([documented(name, x=TEXT) | said])[name]) is reads
