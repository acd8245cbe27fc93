"""Grounding: what a conversation says of a value, in whatever words, and what it does not say."""

import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from growth import assert_linear
from lookup import extract
from tooldecoding.chat.messages import Message
from tooldecoding.grounding.grounding import Grounding, conversation_sources, ground
from tooldecoding.grounding.index import ConversationIndex, Source
from tools import documented

TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "number"}, {"type": "boolean"}
PERIOD = {
    "type": "object",
    "properties": {"start": TEXT, "end": TEXT, "note": TEXT, "exact": FLAG},
    "required": ["start", "end"],
}


def grounded(value: Any, *texts: str, key: str = "value", schema: Any = TEXT) -> Grounding:
    spec = extract([documented("tool", **{key: schema})]).tools[0].parameter(key)
    return ground(spec, value, ConversationIndex(Source(number, text) for number, text in enumerate(texts)))[0]


SAID = {
    "case": ("ROME", "the weather in rome", "rome"),
    "accents": ("São Paulo", "to Sao Paulo, please", "Sao Paulo"),
    "another form": ("reservation", "all my reservations", "reservations"),
    "a slip": ("restaurant", "a resturant nearby", "resturant"),
    "a part of a name": ("New York, NY", "flights to New York", "New York"),
    "a part of a path": ("Europe/Paris", "the time in Paris", "Paris"),
    "most of a name": ("Grand Hotel Rome", "the hotel in Rome", "hotel"),
    "plural": ("dog", "two dogs", "dogs"),
    "another alphabet's letter": ("Lodz", "to Łódź", "Łódź"),
    "a sign": ("👍", "react with 👍", "👍"),
    "initials": ("San Francisco", "a hotel in SF", "SF"),
    "a name of initials": ("NYC", "from New York City on", "New York City"),
    "possessive": ("Luigi", "a table at Luigi's", "Luigi"),
    "Chinese": ("东京", "我想知道东京的天气", "东京"),
    "camel case": ("fullSize", "a full size car", "full size"),
    "digits": (1200, "pay $1,200.00 today", "1,200.00"),
    "words": (21, "for twenty-one people", "twenty-one"),
    "German": (3, "für drei Tage", "drei"),
    "Chinese number": (3, "三天", "三"),
    "percent": (0.05, "a discount of 5%", "5%"),
    "thousands": (250000, "at most 250k", "250k"),
    "minutes": (180, "for 3 hours", "3 hours"),
    "in a formula": (3, "what is 5+3?", "3"),
    "in a list": (2, "add 1,2,3", "2"),
    "a hundred": (100, "a hundred times", "a hundred"),
    "a number as a text": ("2", "two tickets", "two"),
    "ISO date": ("2024-03-04", "on March 4th, please", "4"),
    "a date in words": ("March 4", "am 04.03.2024", "04"),
    "German month": ("2024-03-04", "am 4. März", "4"),
    "weekday": ("2024-03-04", "next Monday", "Monday"),
    "weekday of another language": ("2024-03-04", "le lundi suivant", "lundi"),
    "the fourth": ("2024-03-04", "on the fourth", "on the fourth"),
    "the day after tomorrow": ("2024-03-04", "the day after tomorrow", "day after tomorrow"),
    "another language's tomorrow": ("2024-03-04", "明天吧", "明天"),
    "a date and a time": ("2024-03-04T15:30:00", "remind me at 3:30 pm", "3:30 pm"),
    "past the hour": ("20:20", "at twenty past eight", "twenty past eight"),
    "tomorrow": ("2024-03-04", "Today is 2024-03-03. Book it for tomorrow.", "tomorrow"),
    "in days": ("2024-03-04", "in three days", "days"),
    "evening": ("19:30", "half past seven in the evening", "half past seven"),
    "pm": ("19:30", "at 7:30 pm", "7:30 pm"),
    "noon": ("12:00", "at noon", "noon"),
    "language": ("es", "translate it to Spanish", "Spanish"),
    "currency": ("USD", "it costs $ 20", "$"),
    "plural of a currency": ("EUR", "20 euros", "euros"),
    "a language's own name": ("de", "auf Deutsch", "Deutsch"),
    "locale": ("en-US", "in English, please", "English"),
    "a short name": ("MON", "every Monday", "Monday"),
    "none": ("None", "without subtitles", "subtitles"),
}


@pytest.mark.parametrize("name", SAID)
def test_said_in_other_words(name: str) -> None:
    value, text, where = SAID[name]
    key, schema = ("subtitle" if name == "none" else "value"), {} if isinstance(value, int | float) else TEXT
    found = grounded(value, "Hello.", text, key=key, schema=schema)
    assert not found.missing and found.spans, found
    span = found.spans[0]
    assert (span.message, text[span.start : span.end]) == (1, where)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("celsius", "the weather in Rome"),
        ("Any theater", "a film in a theater"),  # the key says theater as well
        ("dontcare", "I dontcare"),
        ("2024-03-04", "on March 5th"),
        ("2024-03-04", "Today is 2024-03-01. Book it for tomorrow."),
        ("2024-03-04", "the trends of recent years"),
        ("19:30", "at 8 pm"),
        ("19:00", "the 7 dwarfs"),
        ("2024-03-02", "wait a second"),
        ("2021-03-04", "on March 4th 2024"),
        (10, "what is on TV"),
        (120, "a table for 2"),
        ("北京", "去东京"),
        ("New York", "new shoes"),
        ("John Doe", "tell John"),
        ("Matt Evans", "tell me"),
        ("IN", "in Indiana"),
        (12, "in Rome"),
        ("", "Hello."),
        ("alice@example.com", "Tell Bob."),
    ],
)
def test_not_said(value: Any, text: str) -> None:
    assert grounded(value, text, key="theater_name", schema={}) == Grounding((), ("",))


def test_booleans_go_by_a_word_of_their_key() -> None:
    assert grounded(True, "with live music", key="has_live_music", schema=FLAG).spans
    assert grounded("False", "no live music", key="hasLiveMusic", schema=FLAG | TEXT).spans
    assert not grounded(True, "a place to eat", key="has_live_music", schema=FLAG).spans
    assert not grounded(True, "without live music", key="has_live_music", schema=FLAG).spans
    assert grounded({"recursive": True}, "delete it recursively", schema={}).spans
    assert grounded(True, "turn it on", key="is_on", schema=FLAG).spans


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (None, {"type": ["string", "null"]}),
        (False, FLAG),
        ("x", {"const": "x"}),
        (5, {"type": "integer", "default": 5}),
        ({"exact": True}, PERIOD | {"required": ["exact"]}),
    ],
)
def test_nothing_is_missing_where_nothing_was_made_up(value: Any, schema: Any) -> None:
    assert not grounded(value, "Hello.", schema=schema).missing


def test_results_of_tools_are_read_through_their_escapes() -> None:
    result = Message("tool", r'{"city": "Z\u00fcrich", "text": "now in:\nRome"}')
    spec = extract([documented("tool", value=TEXT)]).tools[0].parameter("value")
    for value in ("Zürich", "Rome"):
        assert ground(spec, value, ConversationIndex(conversation_sources([result])))[0].spans


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        ({"start": "Monday", "end": "Friday", "note": "invented", "exact": True}, ()),
        ({"start": "Monday", "end": "Sunday"}, ("end",)),
        ({"start": "2019-01-01", "end": "Sunday"}, ("start", "end")),
    ],
)
def test_an_object_needs_its_required_keys(value: Any, missing: tuple[str, ...]) -> None:
    assert grounded(value, "from Monday to Friday", schema=PERIOD).missing == missing
    listed = grounded([value, {"start": "Monday", "end": "Friday"}], "from Monday to Friday", schema={"items": PERIOD})
    assert not listed.missing, "a list needs one item"


def test_a_tuple_inside_of_an_object_is_said_by_its_items() -> None:
    schema, value = {"properties": {"name": TEXT, "ends": {"type": "tuple"}}}, {"name": "Ann", "ends": ("Rome", "Oslo")}
    spec = extract([documented("tool", value=schema)]).tools[0].parameter("value")
    assert ground(spec, value, ConversationIndex([Source(0, "Ann, from Rome")]), lambda _: True)[1] == value


def test_the_assistant_says_what_the_user_confirmed() -> None:
    proposed = Message("assistant", "In celsius for Rome?")
    agree = ("Yes, please.", "That sounds good, can you?", "好的", "d'accord", "👍", "Actually yes")
    refuse = ("No, it is fine without.", "And in Oslo?", "That's not right", "Oslo would be perfect", "Ja nicht!", "")
    for answer, said in [*((text, True) for text in agree), *((text, False) for text in refuse)]:
        sources = conversation_sources([Message("user", "The weather?"), proposed, Message("user", answer)])
        assert any(source.text == proposed.content for source in sources) == said, answer
    assert not conversation_sources([proposed])
    asked = Message("assistant", "What should the date (such as 2024-01-01) be?")
    assert len(conversation_sources([asked, Message("user", "Fine.")])) == 1, "a question says nothing"


LETTERS = st.text(string.ascii_letters + "äöüßéñçæ東京วัน", min_size=1, max_size=20)
VALUES = st.one_of(
    st.lists(LETTERS, min_size=1, max_size=5).map(" ".join),
    st.integers(0, 10**9),
    st.dates().map(str),
    st.times().map(lambda time: time.strftime("%H:%M")),
    st.emails(),
)
NO_VALUES = ("none", "null", "default", "dontcare", "unknown", "true", "false")
PROSE = st.text(max_size=200)


@given(VALUES, PROSE, PROSE)
@settings(max_examples=300, deadline=None)
def test_a_value_that_is_pasted_into_a_conversation_is_grounded(value: Any, before: str, after: str) -> None:
    text = f"{before} {value} {after}"
    if str(value).casefold() in NO_VALUES or len(str(value)) < 4:
        return
    found = grounded(value, text, schema={})
    assert found.spans and not found.missing
    for span in found.spans:
        assert 0 <= span.start < span.end <= len(text)


@given(st.text(string.ascii_lowercase, min_size=12, max_size=20), st.integers(10**5, 10**9))
@settings(max_examples=100, deadline=None)
def test_a_random_value_is_not_grounded(word: str, number: int) -> None:
    text = "Please book a table for two people at the best place in town, tomorrow around seven in the evening. " * 3
    assert not grounded(word, text).spans
    assert not grounded(number, text, schema=NUMBER).spans


@pytest.mark.parametrize("piece", ["in Rome on March 4th at 7 pm, ", "1", "1 ", "a", "東", "next week 4 ", "é"])
def test_time_is_linear_in_the_conversation(piece: str) -> None:
    values = ["Rome, Italy", "2024-03-04", "19:30", 17, "x" * 100, "week " * 50, "NYC", "東京", "1 " * 50]

    def read(text: str) -> None:
        messages = [Message("user", text[start : start + 500]) for start in range(0, len(text), 500)]
        index = ConversationIndex(conversation_sources(messages))
        specs = extract([documented("tool", value={})]).tools[0].parameters
        for value in values:
            ground(specs[0], value, index)

    assert_linear(read, lambda size: (piece * size)[:size], 30_000)


@pytest.mark.parametrize("text", ["day ", "today is 999 ", "a", "\n", "? "])
def test_no_message_blows_the_look_up_up(text: str) -> None:
    long = text * 100_000
    messages = [Message("system", long), Message("assistant", long + "?"), Message("user", "Yes, ok.")]
    index = ConversationIndex(conversation_sources(messages))
    spec = extract([documented("f", ["x"], x={"type": "string"})])["f"].parameter("x")
    for value in ("2027-03-08", "12:30", "b" * 20_000, "c" * 19_000 + "1"):
        is_said = "today" in text and value == "2027-03-08"  # without a year it names no day
        assert ground(spec, value, index)[0].missing == (() if is_said else ("",))
