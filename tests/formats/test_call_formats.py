"""Law 3: what a format renders, its own reader reads back; what it cannot carry is known before decoding."""

import keyword
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from eval.benchmarks.api_bank.checker import get_api_call, parse_arguments
from eval.benchmarks.python_calls import decode_calls
from lookup.grammar.literal_values import is_literal, render_value
from lookup.literals.literal_reader import MAX_DEPTH
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.calls_reader import read_back
from tooldecoding.formats.cursor import MAX_LENGTH, UnreadableCallError
from tooldecoding.formats.known_formats import CALL_FORMATS, unread, unreadable
from tools import lookup, parameter, tool

PYTHONIC, API_BANK = CALL_FORMATS["pythonic"], CALL_FORMATS["api-bank"]
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
WORDS = st.sampled_from([
    "f", "a.b", "a.b.c", "from", "None", "True", "match", "start-date", "a b", "x'y", 'q"z', "天气", "\ufb01", "1a",
    "a.", ".a", "a..b", "a(b=1), c", "a=1, b", "GET /x/{id}", "__debug__", "a.from", "a\nb", "😀", "naïve", " a", "#",
    "[f](",
])  # fmt: skip
NAMES = WORDS | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
CALLS = st.builds(Call, NAMES, st.dictionaries(NAMES, st.one_of(*VALUES.values()), max_size=4))


def as_bfcl_reads(text: str) -> Any:
    try:
        return decode_calls(text)
    except UnreadableCallError:
        return None


@pytest.mark.parametrize("name", CALL_FORMATS)
@given(calls=st.lists(CALLS, min_size=1, max_size=3))
def test_calls_are_read_back_where_the_format_carries_their_names(name: str, calls: list[Call]) -> None:
    form = CALL_FORMATS[name]
    calls = calls if form.parallel else calls[:1]
    literals = [render_value(value, form.notation) for call in calls for value in call.arguments.values()]
    assume(all(is_literal(literal, form.notation) for literal in literals))  # raw texts have no escapes
    text = form.render(calls)
    specs = [tool(call.name, *(parameter(key, "any") for key in call.arguments)) for call in calls]
    carried = not any(unreadable(form, {spec.name: spec}) for spec in specs)
    assert bool(unread(form, text, calls)) != carried


@given(name=NAMES, key=NAMES)
@settings(max_examples=60)
@example(name="from", key="a").via("a keyword")
@example(name="f", key="start-date").via("a hyphen")
def test_names_are_carried_exactly_where_the_official_readers_find_them(name: str, key: str) -> None:
    spec = tool(name, parameter(key, "str"))
    text = f"[{name}({key}='x')]"
    assert (as_bfcl_reads(text) == [Call(name, {key: "x"})]) == (not unreadable(PYTHONIC, lookup(spec)))
    found = get_api_call(text)
    read = found is not None and (found.name, parse_arguments(found.arguments)) == (name, {key: "x"})
    assert read == (not unreadable(API_BANK, lookup(spec)))


def test_what_cannot_be_carried_is_named_with_the_formats_that_can() -> None:
    tools = lookup(tool("get-weather", parameter("from", "str"), parameter("to", "str")), tool("uber.ride"))
    assert unreadable(PYTHONIC, tools) == [
        "the tool name 'get-weather' (hermes, qwen-xml, llama3-json and 16 more can carry it)",
        "the key 'from' of get-weather (api-bank, hermes, qwen-xml and 17 more can carry it)",
    ]
    assert not unreadable(PYTHONIC, lookup(tool("a.b", *(parameter(n, "str") for n in keyword.softkwlist))))


@pytest.mark.parametrize(
    ("written", "meant"),
    [(1, True), (1, 1.0), ("1", 1), ([1], (1,)), ("a", "b"), (None, "None"), ({"a": 1}, {"a": "1"})],
)
def test_another_value_is_not_read_back(written: Any, meant: Any) -> None:
    text = f"[f(a={render_value(written, 'python')})]"
    assert unread(PYTHONIC, text, [Call("f", {"a": meant})])
    assert not unread(PYTHONIC, text, [Call("f", {"a": written})])


def test_the_shape_of_the_formats_of_benchmarks() -> None:
    call = Call("GetWeather", {"city": "O'Hare", "days": 3, "tags": ["a"], "hourly": True})
    assert PYTHONIC.render([call]) == "[GetWeather(city='O\\'Hare', days=3, tags=['a'], hourly=True)]"
    assert API_BANK.render([call]) == "[GetWeather(city='O\\'Hare', days='3', tags='[\"a\"]', hourly='True')]"


NO_CALLS = {
    "pythonic": [
        "", "f(a=1)", "[f]", "[f(1)]", "[f(**a)]", "[f(a=b)]", "[f(a=g())]", "[f(a=1+1)]", "[f(a={1})]", "[f(a=-True)]",
        "[f(a={**b})]", "[f(a={[]: 1})]", "[f(a=f'x')]", "[f(a=...)]", "[f(a=1j)]", "[f(a=b'x')]", "[(f)()()]",
        "[f(a=1]", "[f(a=1)] x", "[f(a=1) for a in b]", "[f(a=1, *b)]", "[f(\0)]", "[" * 10_000,
        "[f(a=" + "-" * 50_000 + "1)]",
        f"[f(a={'[' * (MAX_DEPTH + 2)}{']' * (MAX_DEPTH + 2)})]", f"[f(a='{'x' * MAX_LENGTH}')]",
    ],
    "api-bank": [
        "", "f(a='1')", "[f]", "[f(a=1)]", "[f(a='1',b='2')]", "[f(a='1', )]", "[f(a='it's')]", "[f(a-b='1')]",
        "[f.g(a='1')]", "[f(a='1')] x", "x [f(a='1')]", "[f(a='1'), g()]", "[f(, a='1')]", "[f(a='\n')]",
        f"[f(a='{'x' * MAX_LENGTH}')]", "[f(a='\\", "[f(a='\\x')]",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in NO_CALLS.items() for text in texts])
def test_what_is_no_call_of_constants_is_refused(name: str, text: str) -> None:
    with pytest.raises(UnreadableCallError):
        read_back(CALL_FORMATS[name], text)


@pytest.mark.parametrize(("format", "expected"), [("gemma4", "abC"), ("hermes", "bCa"), ("pythonic", "bCa")])
def test_gemma_has_its_keys_sorted_and_others_as_they_are_given(format: str, expected: str) -> None:
    written = CALL_FORMATS[format].render([Call("f", {"b_key": 1, "C_key": 2, "a_key": 3})])
    assert "".join(sorted("abC", key=lambda letter: written.index(f"{letter}_key"))) == expected
