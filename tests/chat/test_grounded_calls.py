"""Calls beside the conversation: what nobody said is left out, marked, or asked for."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from chat_models import HERMES, call, decoder_of, says

from lookup import extract
from synthetic import ScriptedEngine
from tooldecoding.agents.agent import Agent, Event
from tooldecoding.chat.reply import CallPiece, ChatMessage
from tooldecoding.decoding.grounded_call import to_ask
from tooldecoding.options import DecodeOptions
from tooldecoding.testing import SyntheticDecoder
from tooldecoding.tokens.token_texts import END
from tools import documented

UNIT = {"type": "string", "enum": ["celsius", "fahrenheit"]}
TOOL = documented(
    "weather",
    ["city"],
    city={"type": "string", "description": "Name of the city"},
    unit=UNIT,
    days={"type": "integer"},
    hourly={"type": "boolean"},
)
INVENTED = call("weather", city="Rome", days=5, hourly=True, unit="celsius")


@pytest.fixture
def decoder() -> SyntheticDecoder:
    return decoder_of(HERMES, max_value_tokens=30)


def ask(decoder: SyntheticDecoder, text: str, tool: Any = TOOL, answer: str = INVENTED, **options: Any) -> ChatMessage:
    says(decoder, lambda prompt: answer)
    return decoder.chat([{"role": "user", "content": text}], [tool], "required", **options)


@pytest.mark.parametrize(
    ("text", "options", "kept", "left_out"),
    [
        ("The weather in Rome.", {}, ["city"], ["days"]),
        ("The weather in Rome, in celsius.", {}, ["city", "unit"], ["days"]),
        ("Rome, hourly, for five days.", {}, ["city", "days", "hourly"], []),
        ("Rome, for some days.", {}, ["city", "days"], []),
        ("The weather in Rome.", {"optional_arguments": "all"}, ["city", "unit", "days", "hourly"], []),
        ("The weather in Rome.", {"never_ask": ["unit", "weather.days"]}, ["city", "unit", "days"], []),
        ("The weather in Rome.", {"never_ask": "book.days"}, ["city"], ["days"]),
    ],
)
def test_optional_arguments_that_nobody_said_are_left_out(
    decoder: SyntheticDecoder, text: str, options: Any, kept: list[str], left_out: list[str]
) -> None:
    reply = ask(decoder, text, **options)
    [made] = reply.calls
    assert list(made.arguments) == kept and [p.key for p in made.left_out] == left_out and not made.ungrounded
    assert reply.valid and json.loads(reply.message["tool_calls"][0]["function"]["arguments"]) == made.arguments
    assert ("days" in reply.result.text) == ("days" in kept)
    row = reply.to_json("x")["calls"][0]
    assert [each["name"] for each in row["left_out"]] == left_out
    assert all("grounding" in parameter for parameter in row["parameters"])
    city = next(p["grounding"]["said"] for p in row["parameters"] if p["name"] == "city")[0]
    assert text[city["start"] : city["end"]] == "Rome"


def test_what_can_never_be_said_is_not_decoded(decoder):
    kinds = "free_tokens", "constrained_tokens"
    few, many = (ask(decoder, "The weather in Rome.", optional_arguments=o).result for o in ("grounded", "all"))
    assert sum(getattr(few.counters, k) for k in kinds) < sum(getattr(many.counters, k) for k in kinds)
    assert few.counters.forward_passes < many.counters.forward_passes


def test_a_call_stays_within_what_the_documentation_says_of_several_keys(decoder):
    tool = documented("weather", ["city"], city={"type": "string"}, days={"type": "integer"}, unit=UNIT)
    tool["parameters"]["dependentRequired"] = {"unit": ["days"], "days": ["unit"]}
    invented = call("weather", city="Rome", unit="celsius", days=5)
    [made] = ask(decoder, "Rome in celsius", tool, invented).calls
    assert made.arguments == {"city": "Rome", "days": 5, "unit": "celsius"} and not made.left_out
    assert made.ungrounded == ("days",)
    [made] = ask(decoder, "Rome", tool, invented).calls
    assert made.arguments == {"city": "Rome"} and len(made.left_out) == 2


def test_a_prompt_without_messages_leaves_nothing_out(decoder):
    prompt = f"{json.dumps([TOOL])}\n[user]The weather in Rome.\n[assistant]"
    says(decoder, lambda _: INVENTED)
    [made] = decoder.decode(prompt, [TOOL], format="hermes", tool_choice="required").calls
    assert list(made.arguments) == ["city", "unit", "days", "hourly"] and made.groundings is None
    assert "grounding" not in decoder.decode(prompt, [TOOL], format="hermes").to_json("x")["calls"][0]["parameters"][0]


def test_a_required_argument_that_nobody_said_is_marked_and_asked_for(decoder):
    [made] = ask(decoder, "What is the weather?").calls
    assert made.ungrounded == ("city",) and made.arguments == {"city": "Rome"}
    reply = ask(decoder, "What is the weather?", ask="ungrounded")
    assert reply.message == {
        "role": "assistant",
        "content": "What should the city (Name of the city) be?",
    }
    assert reply.finish_reason == "stop" and reply.result.asked and reply.result.asked.arguments == {"city": "Rome"}
    assert reply.to_json("x")["asked"]["ungrounded"] == ["city"] and reply.valid
    assert ask(decoder, "The weather in Rome.", ask="ungrounded").finish_reason == "tool_calls"
    assert ask(decoder, "What is the weather?", ask="ungrounded", never_ask=["city"]).calls


def test_an_unsure_call_is_asked_for_once(decoder):
    answer = call("weather", city="Rome")
    [made] = ask(decoder, "The weather in Rome.", answer=answer, ask="unsure", min_confidence=0.0).calls
    least = made.confidence() + 1e-6
    for kind in ("unsure", "both"):
        reply = ask(decoder, "The weather in Rome.", answer=answer, ask=kind, min_confidence=least)
        assert reply.content == 'Should city be "Rome"?'
        assert reply.result.asked and reply.result.asked.is_unsure
    assert ask(decoder, "The weather?", answer=answer, ask="ungrounded", min_confidence=0.0).result.asked
    doubtful = replace(made, name_confidence=0.1, min_confidence=0.9)
    options, tool = DecodeOptions(ask="unsure", never_ask=("city",)), extract([TOOL])["weather"]
    asked = to_ask(doubtful, [], tool, options)
    assert asked and asked.text == 'Do you want me to call weather, with {"city": "Rome"}?'
    assert to_ask(replace(doubtful, name_confidence=1.0), [], tool, options) == asked
    assert ask(decoder, "The weather in Rome.", answer=answer, ask="unsure", min_confidence=least - 2e-6).calls
    messages = [{"role": "user", "content": "The weather in Rome."}, reply.message, {"role": "user", "content": "Yes."}]
    assert decoder.chat(messages, [TOOL], "required", ask="unsure", min_confidence=1.0).calls


def test_the_documentation_says_what_is_never_asked_for(decoder):
    tool = documented("weather", city={"type": "string", "x-ask": "never"}, zone={"type": "string"})
    [made] = ask(decoder, "Hello.", tool, call("weather", city="Rome", zone="CET")).calls
    assert made.ungrounded == ("zone",)
    [wrong] = extract([documented("weather", city={"type": "string", "x-ask": "no"})]).tools
    assert wrong.parameter("city").ask and "'x-ask' is the text 'no'" in wrong.notes[0]


@pytest.mark.parametrize(
    ("said", "given", "offset", "question"),
    [
        ({}, {"city": "Rome", "zone": "CET"}, 9.0, "What should the zone be?"),
        ({"annotations": {"readOnlyHint": True}}, {"city": "Rome", "zone": "CET"}, 9.0, None),
        ({"annotations": {"readOnlyHint": True}}, {"city": "Rome", "zone": "CET"}, -9.0, "What should the zone be?"),
        ({"annotations": {"readOnlyHint": True}}, {"city": "Oslo", "zone": "CET"}, 9.0, "What should the city and the"),
        ({"annotations": {"destructiveHint": True}}, {"city": "Rome", "zone": "EET"}, 9.0, None),
        ({"destructive": True}, {"city": "Rome", "zone": "EET"}, -9.0, "Do you want me to call weather, with"),
        ({"annotations": {"destructiveHint": "no"}}, {"city": "Rome", "zone": "EET"}, -9.0, None),
    ],
)
def test_what_reads_runs_on_less_than_what_destroys(
    decoder: SyntheticDecoder, said: Any, given: Any, offset: float, question: str | None
) -> None:
    text = {"type": "string"}
    tool = documented("weather", ["city", "zone"], city=text, zone=text) | said
    options = {"ask": "ungrounded", "confidence_offset": offset}
    reply = ask(decoder, "Rome, eet.", tool, call("weather", **given), **options)
    assert (reply.content or "").startswith(question or "") and bool(reply.calls) is (question is None)
    if question is not None and "Do you want" in question:
        messages = [{"role": "user", "content": "Rome, eet."}, reply.message, {"role": "user", "content": "Yes."}]
        assert decoder.chat(messages, [tool], "required", **options).calls, "it asks once"


def test_calls_before_a_question_are_made(decoder):
    two = f"{call('weather', city='Rome')}\n{call('weather', city='Oslo')}"
    reply = ask(decoder, "The weather in Rome, and elsewhere.", answer=two, ask="ungrounded")
    assert [each.arguments for each in reply.calls] == [{"city": "Rome"}] and reply.finish_reason == "tool_calls"
    assert reply.result.asked and reply.result.asked.arguments == {"city": "Oslo"} and reply.valid
    assert not reply.content


def test_a_stream_has_the_question_as_content(decoder):
    for choice, before in (("required", ""), ("auto", "Let me see. \n"), ("auto", "Hm\t"), ("auto", "OK: ")):
        says(decoder, lambda prompt, before=before: before + INVENTED)
        asked = [{"role": "user", "content": "The weather?"}]
        *pieces, whole = decoder.stream(asked, [TOOL], choice, ask="ungrounded")
        assert not [piece for piece in pieces if isinstance(piece, CallPiece)]
        assert "".join(piece.text for piece in pieces) == whole.content and "What should the city" in whole.content


@pytest.mark.parametrize("before", ["", "Let me see.\n"])
def test_an_answer_stands_in_place_of_a_call_that_is_likely_made_up(decoder: SyntheticDecoder, before: str) -> None:
    def stream(text: str = "Hello.", choice: str = "auto", spoken: str = "Hello, you.", **options: Any) -> list[Any]:
        says(decoder, lambda prompt: before + call("weather", city="Rome") if "<tools>" in prompt else spoken)
        options = {"confidence_offset": -9.0} | options
        return [*decoder.stream([{"role": "user", "content": text}], [TOOL], choice, **options)]

    *pieces, reply = stream()
    assert reply.content == "".join(piece.text for piece in pieces) == (before + "\nHello, you.").lstrip()
    assert reply.to_json("x")["left_out"]["ungrounded"] == ["city"] and reply.finish_reason == "stop"
    *_, cut = stream(spoken="x" * 200, max_tokens=90)
    assert len(cut.result.token_ids) == 90 and cut.result.cut and cut.result.left_out
    wanted = stream("Rome!"), stream(choice="required"), stream(choice="weather")
    for *_, reply in (*wanted, stream(confidence_offset=9.0), stream(never_ask=["city"])):
        assert reply.calls and reply.result.left_out is None


def test_it_asks_once(decoder):
    says(decoder, lambda prompt: INVENTED)
    messages = [{"role": "user", "content": "What is the weather?"}]
    first = decoder.chat(messages, [TOOL], "required", ask="ungrounded")
    partly = {"role": "assistant", "content": "What should the capacity be?"}
    again = decoder.chat([*messages, partly, messages[0]], [TOOL], "required", ask="ungrounded")
    assert not again.calls, "another key with these letters was asked for"
    messages += [first.message, {"role": "user", "content": "Where I was born."}]
    [made] = decoder.chat(messages, [TOOL], "required", ask="ungrounded").calls
    assert made.ungrounded == ("city",)


def test_a_call_that_only_what_nobody_said_tells_apart_is_one(decoder):
    three = [call("weather", city="Rome", days=4), call("weather", city="Rome", days=5), call("weather", city="Oslo")]

    def next_call(text: str) -> str:
        *done, begun = text.rpartition("[assistant]")[2].split("</tool_call>")
        wanted = ("\n" * bool(done) + three[len(done)]) if len(done) < len(three) else END
        return wanted.removeprefix(begun)

    decoder.engine = ScriptedEngine(decoder.table.texts, next_call)
    reply = decoder.chat([{"role": "user", "content": "The weather in Rome and in Oslo."}], [TOOL], "required")
    assert [each.arguments for each in reply.calls] == [{"city": "Rome"}, {"city": "Oslo"}] and not reply.repeated
    three[:] = three[:1] * 3
    assert decoder.chat([{"role": "user", "content": "The weather in Rome."}], [TOOL], "required").repeated


def test_an_agent_asks_and_goes_on_with_the_answer(decoder):
    def weather(city: str) -> str:
        """Tell the weather.

        Args:
            city: The city.
        """
        return "sunny"

    says(decoder, lambda prompt: "Sunny." if "[tool]" in prompt else call("weather", city="Rome"))
    agent = Agent(decoder, [weather])
    said, end = agent.run("What is the weather?", ask="ungrounded")
    assert said.content == "What should the city (The city) be?" and end == Event("end", "question")
    assert [each.kind for each in agent.run("In Rome.", ask="ungrounded")] == ["call", "result", "text", "end"]


TEXT = {"type": "string"}
PERSON = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": TEXT, "mail": TEXT, "bio": TEXT, "age": {"type": "integer"}},
}
PROFILE = documented("save", ["person"], person=PERSON, others={"type": "array", "items": PERSON})


@pytest.mark.parametrize(
    ("given", "options", "kept", "left_out"),
    [
        ({"name": "Ann", "mail": "ann@x.org", "bio": "Likes tea."}, {}, ["name", "mail"], {"person.bio": "Likes tea."}),
        ({"name": "Ann", "bio": "", "age": 8}, {}, ["name"], {"person.bio": "", "person.age": 8}),
        ({"name": "Zoe", "mail": "ann@x.org"}, {}, ["name", "mail"], {}),
        ({"name": "Zoe", "mail": "zoe@y.org"}, {}, ["name", "mail"], {}),
        ({"name": "Ann", "bio": "Likes tea."}, {"never_ask": "save.person.bio"}, ["name", "bio"], {}),
        ({"name": "Ann", "bio": "Likes tea."}, {"optional_arguments": "all"}, ["name", "bio"], {}),
    ],
)
def test_optional_keys_of_objects_that_nobody_said_are_left_out(
    decoder: SyntheticDecoder, given: Any, options: Any, kept: list[str], left_out: Any
) -> None:
    reply = ask(decoder, "Save Ann, ann@x.org.", PROFILE, call("save", person=given), max_value_tokens=200, **options)
    [made] = reply.calls
    assert made.arguments == {"person": {key: given[key] for key in kept}}
    assert {p.key: p.value for p in made.left_out} == left_out
    assert reply.valid and json.loads(reply.message["tool_calls"][0]["function"]["arguments"]) == made.arguments


def test_a_key_that_one_item_has_said_stays_in_all(decoder: SyntheticDecoder) -> None:
    others = [{"name": "Bob", "age": 42, "bio": "Runs."}, {"name": "Jane", "age": 43, "mail": "j@x.org"}]
    written = call("save", person={"name": "Ann"}, others=others)
    text = "Save Ann, Bob, who is 42, and Jane, a year older."
    [made] = ask(decoder, text, PROFILE, written, max_value_tokens=200).calls
    assert made.arguments["others"] == [{"name": "Bob", "age": 42}, {"name": "Jane", "age": 43}]
    assert {p.key for p in made.left_out} == {"others.0.bio", "others.1.mail"}


def test_what_the_documentation_needs_stays_inside_of_a_value(decoder: SyntheticDecoder) -> None:
    tool = documented("save", person=PERSON | {"dependentRequired": {"mail": ["age"]}})
    given = {"name": "Ann", "mail": "ann@x.org", "age": 8, "bio": "Likes tea."}
    [made] = ask(decoder, "Save Ann, ann@x.org.", tool, call("save", person=given), max_value_tokens=200).calls
    assert made.arguments == {"person": given}


def test_calls_go_on_behind_a_shortened_one(decoder: SyntheticDecoder) -> None:
    bob = call("save", person={"name": "Bob"})
    wanted = [f"{call('save', person={'name': 'Ann'} | bio)}\n{bob}" for bio in ({"bio": "Likes tea."}, {})]

    def continuation(text: str) -> str:
        """Goes on behind the call as it was written, and as it was shortened."""
        written = text.rpartition("[assistant]")[2]
        bound = map(decoder.table.special.bound, wanted)
        return next((each[len(written) :] for each in bound if each.startswith(written)), "") + END

    decoder.engine = ScriptedEngine(decoder.table.texts, continuation)
    messages = [{"role": "user", "content": "Save Ann and Bob."}]
    reply = decoder.chat(messages, [PROFILE], "required", max_value_tokens=200)
    assert [c.arguments["person"] for c in reply.calls] == [{"name": "Ann"}, {"name": "Bob"}] and reply.valid


@pytest.mark.parametrize(
    ("text", "never_ask", "ungrounded"),
    [
        ("Do it.", (), True),
        ("Do it.", ("to",), True),
        ("Do it.", ("to", "text"), False),
        ("Write to Bob.", (), False),
    ],
)
def test_a_call_is_ungrounded_if_nobody_said_any_of_it(
    decoder: SyntheticDecoder, text: str, never_ask: tuple[str, ...], ungrounded: bool
) -> None:
    tool = documented("send", ["to", "text"], to=TEXT, text=TEXT)
    written = call("send", to="Bob", text="Tea at five?")
    [made] = ask(decoder, text, tool, written, max_value_tokens=200, never_ask=never_ask).calls
    assert made.is_ungrounded == ungrounded


def test_a_further_call_of_which_nobody_said_any_is_left_out_if_it_is_rather_wrong(decoder: SyntheticDecoder) -> None:
    tool = documented("send", ["to", "text"], to=TEXT, text=TEXT)
    first, second = call("send", to="Ann", text="Tea at five?"), call("send", to="Bob", text="Soup at six?")
    options = {"max_value_tokens": 200, "next_call_threshold": math.inf}
    for text, offset, count in (
        ("Write to Ann: Tea at five?", 50.0, 2),
        ("Write to Ann: Tea at five?", -50.0, 1),
        ("Write to Ann, and to Bob: Tea at five?", -50.0, 2),
        ("Do it.", -50.0, 1),  # the first call is made
    ):
        made = ask(decoder, text, tool, f"{first}\n{second}", confidence_offset=offset, **options).calls
        assert [c.arguments["to"] for c in made] == ["Ann", "Bob"][:count]
