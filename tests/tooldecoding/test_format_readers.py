"""``valid`` means that the format's own reader reads a call back; what it cannot carry is known before decoding."""

import keyword
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_call_format import TOOLS, VALUES, draw_call

from eval.benchmarks.api_bank.parser import get_api_call, parse_arguments
from eval.benchmarks.bfcl.parser import decode_calls
from eval.benchmarks.python_calls import CallDecodeError
from growth import assert_linear
from lookup.dictionary import ToolSpec
from lookup.values.literal_values import render_value
from tooldecoding.calls.decoded_call import DecodedCall
from tooldecoding.formats.api_bank import read_api_bank
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS, unread, unreadable
from tooldecoding.formats.pythonic import read_pythonic
from tooldecoding.formats.reading import MAX_DEPTH, MAX_LENGTH, UnreadableCallError
from tooldecoding.result import Counters, DecodeResult
from tools import lookup, parameter, tool
from voting import VotedCall, VotedParameter

PYTHONIC, API_BANK = CALL_FORMATS["pythonic"], CALL_FORMATS["api-bank"]
WORDS = st.sampled_from([
    "f", "a.b", "a.b.c", "from", "None", "True", "match", "start-date", "a b", "x'y", 'q"z', "天气", "\ufb01", "1a",
    "a.", ".a", "a..b", "a(b=1), c", "a=1, b", "GET /x/{id}", "__debug__", "a.from", "a\nb", "😀", "naïve", " a", "#",
    "[f](",
])  # fmt: skip
NAMES = WORDS | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


def as_bfcl_reads(text: str) -> Any:
    try:
        return decode_calls(text)
    except CallDecodeError:
        return None


@given(tools=TOOLS, data=st.data())
def test_a_call_that_is_read_back_is_what_the_project_s_other_readers_find(
    tools: list[ToolSpec], data: st.DataObject
) -> None:
    call = draw_call(data, tools)
    text = PYTHONIC.render([call])
    if not unread(PYTHONIC, text, [call]):
        assert as_bfcl_reads(text) == [(call.name, call.arguments)]
    assert bool(unread(PYTHONIC, text, [call])) == bool(unreadable(PYTHONIC, {call.name: find(tools, call.name)}))
    text = API_BANK.render([call])
    if not unread(API_BANK, text, [call]):
        found = get_api_call(text)
        assert found is not None and found.name == call.name
        plain = {k: str(v) for k, v in call.arguments.items() if isinstance(v, bool | int)}
        if len(plain) == len(call.arguments):
            assert parse_arguments(found.arguments) == plain


def find(tools: list[ToolSpec], name: str) -> ToolSpec:
    return next(t for t in tools if t.name == name)


@given(name=NAMES, key=NAMES)
@example(name="from", key="a").via("a keyword")
@example(name="f", key="start-date").via("a hyphen")
def test_names_are_carried_exactly_where_the_official_readers_find_them(name: str, key: str) -> None:
    spec = tool(name, parameter(key, "str"))
    text = f"[{name}({key}='x')]"
    assert (as_bfcl_reads(text) == [(name, {key: "x"})]) == (not unreadable(PYTHONIC, lookup(spec)))
    found = get_api_call(text)
    read = found is not None and (found.name, parse_arguments(found.arguments)) == (name, {key: "x"})
    assert read == (not unreadable(API_BANK, lookup(spec)))


def test_what_cannot_be_carried_is_named_with_the_formats_that_can() -> None:
    tools = lookup(tool("get-weather", parameter("from", "str"), parameter("to", "str")), tool("uber.ride"))
    assert unreadable(PYTHONIC, tools) == [
        "the tool name 'get-weather' (hermes, qwen-xml, llama3-json and 16 more can carry it)",
        "the key 'from' of get-weather (api-bank, hermes, qwen-xml and 17 more can carry it)",
    ]
    assert unreadable(API_BANK, tools) == [
        "the tool name 'get-weather' (hermes, qwen-xml, llama3-json and 16 more can carry it)",
        "the tool name 'uber.ride' (pythonic, hermes, qwen-xml and 20 more can carry it)",
    ]
    assert not unreadable(PYTHONIC, lookup(tool("a.b", *(parameter(n, "str") for n in keyword.softkwlist))))


@given(value=st.one_of(*VALUES.values()))
def test_any_value_is_read_back(value: Any) -> None:
    for form in (f for f in CALL_FORMATS.values() if isinstance(f.notation, str)):  # others have no escapes
        call = Call("f", {"a": value, "b": "it's"})
        assert not unread(form, form.render([call]), [call])


@pytest.mark.parametrize(
    ("written", "meant"),
    [(1, True), (1, 1.0), ("1", 1), ([1], (1,)), ("a", "b"), (None, "None"), ({"a": 1}, {"a": "1"})],
)
def test_another_value_is_not_read_back(written: Any, meant: Any) -> None:
    text = f"[f(a={render_value(written, 'python')})]"
    assert unread(PYTHONIC, text, [Call("f", {"a": meant})])
    assert not unread(PYTHONIC, text, [Call("f", {"a": written})])


@pytest.mark.parametrize(
    "text",
    [
        "", "f(a=1)", "[f]", "[f(1)]", "[f(**a)]", "[f(a=b)]", "[f(a=g())]", "[f(a=1+1)]", "[f(a={1})]", "[f(a=-True)]",
        "[f(a={**b})]", "[f(a={[]: 1})]", "[f(a=f'x')]", "[f(a=...)]", "[f(a=1j)]", "[f(a=b'x')]", "[(f)()()]",
        "[f(a=1]", "[f(a=1)] x", "[f(a=1) for a in b]", "[f(a=1, *b)]", "[f(\0)]", "[" * 10_000,
        "[f(a=" + "-" * 50_000 + "1)]",
        f"[f(a={'[' * (MAX_DEPTH + 2)}{']' * (MAX_DEPTH + 2)})]", f"[f(a='{'x' * MAX_LENGTH}')]",
    ],
)  # fmt: skip
def test_what_is_no_call_of_constants_is_refused(text: str) -> None:
    with pytest.raises(UnreadableCallError):
        read_pythonic(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "f(a='1')", "[f]", "[f(a=1)]", "[f(a='1',b='2')]", "[f(a='1', )]", "[f(a='it's')]", "[f(a-b='1')]",
        "[f.g(a='1')]", "[f(a='1')] x", "x [f(a='1')]", "[f(a='1'), g()]", "[f(, a='1')]", "[f(a='\n')]",
        f"[f(a='{'x' * MAX_LENGTH}')]", "[f(a='\\", "[f(a='\\x')]",
    ],
)  # fmt: skip
def test_what_is_no_api_bank_call_is_refused(text: str) -> None:
    with pytest.raises(UnreadableCallError):
        read_api_bank(text)


@pytest.mark.parametrize("piece", ["a='x', ", "\\'", "a='", "[f(", "=", "a"])
@pytest.mark.parametrize("name", CALL_FORMATS)
def test_readers_take_linear_time(name: str, piece: str) -> None:
    def read(text: str) -> None:
        unread(CALL_FORMATS[name], text, [])

    assert_linear(read, lambda size: "[f(" + piece * (size // len(piece)), 20_000)


def result(name: str, key: str, format: str) -> DecodeResult:
    voted = VotedCall(name, (VotedParameter(key, "x", 1, 1.0, -0.1),), True, (), 1)
    form = CALL_FORMATS[format]
    text = "Sure: " + form.render([Call(name, voted.arguments)])
    counters = Counters(1, 1, 0, 0, 1, 1, 1, 1, 0.1)
    return DecodeResult(text, (DecodedCall(voted, (), 1, (1.0,)),), (), counters, form)


@pytest.mark.parametrize(
    ("name", "key", "format", "valid"),
    [
        ("get_weather", "city", "pythonic", True), ("a.b", "city", "pythonic", True), ("f", "from", "pythonic", False),
        ("get-weather", "city", "pythonic", False), ("f", "start-date", "pythonic", False),
        ("f", "x y", "pythonic", False),
        ("get_weather", "from", "api-bank", True), ("a.b", "city", "api-bank", False), ("f", "a b", "api-bank", False),
    ],
)  # fmt: skip
def test_a_result_is_valid_where_the_reader_reads_it(name: str, key: str, format: str, valid: bool) -> None:
    decoded = result(name, key, format)
    assert decoded.valid is valid is decoded.to_json("x")["valid"]
    assert bool(decoded.errors) is not valid
    if format == "pythonic":
        assert valid == (as_bfcl_reads(decoded.text.removeprefix("Sure: ")) == [(name, {key: "x"})])
    if not valid:
        assert f"the reader of the format {format}" in decoded.errors[0] and "can carry it" in decoded.errors[0]


def test_a_text_that_is_not_that_of_its_calls_is_invalid() -> None:
    decoded = result("f", "city", "pythonic")
    assert not DecodeResult(decoded.text[:-1], decoded.calls, (), decoded.counters, PYTHONIC).valid
