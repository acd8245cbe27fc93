"""Law 3: what a format renders, it reads back; what it cannot read, it refuses with the place."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lookup.dictionary import ToolSpec
from lookup.values.literal_values import is_literal, render_value
from tooldecoding.formats.call_format import Call, CallFormat, CallSyntaxError
from tooldecoding.formats.known_formats import CALL_FORMATS
from tools import WEATHER, lookup, parameter, tool

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="()[]=,'\""), min_size=1, max_size=8)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
LEAVES = st.one_of(TEXT, st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6), st.booleans(), st.none())
NESTED = st.recursive(LEAVES, lambda v: st.lists(v, max_size=3) | st.dictionaries(TEXT, v, max_size=3), max_leaves=5)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "str": TEXT,
    "int": st.integers(),
    "float": st.floats(allow_nan=False, allow_infinity=False),
    "bool": st.booleans(),
    "list": st.lists(NESTED, max_size=3),
    "dict": st.dictionaries(TEXT, NESTED, max_size=3),
    "tuple": st.lists(NESTED, max_size=3).map(tuple),
}
TOOLS = st.lists(
    st.tuples(NAMES, st.dictionaries(NAMES, st.sampled_from(list(VALUES)), max_size=4)),
    min_size=1,
    max_size=3,
    unique_by=lambda t: t[0],
).map(lambda rows: [tool(n, *(parameter(k, t) for k, t in keys.items())) for n, keys in rows])


def draw_call(data: st.DataObject, tools: list[ToolSpec]) -> Call:
    called = data.draw(st.sampled_from(tools))
    return Call(called.name, {p.name: data.draw(VALUES[p.type.kind]) for p in called.parameters})


def is_carried(call: Call, form: CallFormat) -> bool:
    """Whether the format can write the values, see ``test_value_grammar``."""
    return all(is_literal(render_value(value, form.notation), form.notation) for value in call.arguments.values())


@pytest.mark.parametrize("name", CALL_FORMATS)
@settings(max_examples=settings().max_examples // 2)  # the formats share a few notations
@given(tools=TOOLS, data=st.data())
def test_what_is_rendered_reads_back(name: str, tools: list[ToolSpec], data: st.DataObject) -> None:
    form = CALL_FORMATS[name]
    count = data.draw(st.integers(1, 3)) if form.parallel else 1
    calls = [draw_call(data, tools) for _ in range(count)]
    assume(all(is_carried(call, form) for call in calls))
    assert form.parse(form.render(calls), lookup(*tools)) == calls


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pythonic", "[GetWeather(city='O\\'Hare', days=3, tags=['a'], hourly=True)]"),
        ("api-bank", "[GetWeather(city='O\\'Hare', days='3', tags='[\"a\"]', hourly='True')]"),
    ],
)
def test_the_shape_of_each_format(name: str, text: str) -> None:
    call = Call("GetWeather", {"city": "O'Hare", "days": 3, "tags": ["a"], "hourly": True})
    assert CALL_FORMATS[name].render([call]) == text


@given(st.text(max_size=60) | st.text(alphabet="[]()=,' GetWeathrciy3\"{", max_size=60))
def test_any_other_text_is_refused_with_its_place(text: str) -> None:
    for form in CALL_FORMATS.values():
        try:
            calls = form.parse(text, lookup(WEATHER))
        except CallSyntaxError as error:
            assert "at offset" in str(error)
        else:
            assert all(c.name == "GetWeather" for c in calls)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GetWeather()", r"expected '\[' at offset 0"),
        ("[GetRain()]", r"expected one of the tools GetWeather"),
        ("[GetWeather(town='x')]", r"expected one of the keys of GetWeather at offset 12"),
        ("[GetWeather(days=1, days=2)]", r"expected no second 'days'"),
        ("[GetWeather(days=1) ]", r"expected '\]' at offset 19, found ' \]'"),
        ("[GetWeather(days=1)] ok", r"expected the end at offset 20"),
        ("[GetWeather(days=", r"at offset 17, found the end"),
        ("[GetWeather(days=1", r"expected ', ' at offset 18, found the end"),
    ],
)
def test_errors(text: str, expected: str) -> None:
    with pytest.raises(CallSyntaxError, match=expected):
        CALL_FORMATS["pythonic"].parse(text, lookup(WEATHER))


def test_the_longest_name_and_key_are_read() -> None:
    tools = lookup(tool("uber.ride", parameter("to", "str")), tool("uber.ride2", parameter("to", "str")))
    [call] = CALL_FORMATS["pythonic"].parse("[uber.ride2(to='x')]", tools)
    assert call.name == "uber.ride2"
