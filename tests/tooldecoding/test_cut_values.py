"""What a limit cuts is not valid and holds no half value; a number is the model's, or the call says that it is not."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lookup import extract
from lookup.dictionary import LookupDictionary
from synthetic import END, ScriptedEngine, Writer, decode, synthetic
from tooldecoding.decoding import order_decoder
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.result import DecodeResult
from tools import documented, sound

FORMATS = ("hermes", "pythonic", "api-bank", "qwen-xml", "gemma4", "llama3-json")
INTEGERS = {"type": "array", "items": {"type": "integer"}}
OBJECTS = {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}


def one(schema: Any) -> LookupDictionary:
    return extract(json.dumps([documented("f", x=schema)]))


def wanted(schema: Any, value: Any, form: str, back: bool = True, **fields: Any) -> DecodeResult:
    """What comes of a model that wants to call f with a value, for a prompt of one line."""
    written = CALL_FORMATS[form].render([Call("f", {"x": value})])
    options = {"format": form, "max_calls": 1, "order_limit": 1} | fields
    return decode(Writer("go\n", written, can_roll_back=back), "go\n", one(schema), **options)


def literal(schema: Any, number: str, back: bool = True, **fields: Any) -> DecodeResult:
    """What comes of a model that writes a number just so, in JSON."""
    text = f'<tool_call>\n{{"name": "f", "arguments": {{"x": {number}}}}}\n</tool_call>'
    options = {"format": "hermes", "max_calls": 1, "order_limit": 1} | fields
    return decode(Writer("go\n", text, can_roll_back=back), "go\n", one(schema), **options)


@settings(max_examples=60)
@given(st.lists(st.integers(-(10**6), 10**9), max_size=14), st.integers(1, 60), st.sampled_from(FORMATS), st.booleans())
def test_a_cut_list_has_whole_items_and_its_call_is_not_valid(
    items: list[int], limit: int, form: str, by_answer: bool
) -> None:
    limits = {"max_tokens": 3 * limit} if by_answer else {"max_value_tokens": limit}
    result = wanted(INTEGERS, items, form, **limits)
    found = result.calls[0].arguments.get("x", []) if result.calls else []
    assert sound(result) and found == items[: len(found)]
    assert result.valid == (found == items and not result.cut) or not result.calls
    assert result.valid or result.cut
    assert wanted(INTEGERS, items, form).calls[0].arguments == {"x": items}


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_kept_of_texts_objects_and_numbers(form: str) -> None:
    text = 'it\'s a "long" letter\nwith a C:\\path to Ann, 北京 and back'
    assert wanted({"type": "string"}, text, form).calls[0].arguments == {"x": text}
    rows = [{"n": n} for n in (11, 12, 30, 44)]
    for limit in range(1, 40):
        cut = wanted({"type": "string"}, text, form, max_value_tokens=limit)
        kept = cut.calls[0].arguments.get("x", "")
        assert sound(cut) and text.startswith(kept) and cut.valid == (kept == text and not cut.cut)
        cut = wanted(OBJECTS, rows, form, max_value_tokens=limit)
        kept = cut.calls[0].arguments.get("x", [])
        assert sound(cut) and kept == rows[: len(kept)] and (cut.valid or kept != rows or cut.cut)
    for schema, value in (({"type": "integer"}, 48930), (OBJECTS["items"], {"n": 48930})):
        cut = wanted(schema, value, form, max_value_tokens=2)
        assert cut.calls[0].arguments == {} and cut.cut and not cut.valid and "nothing of it is whole" in cut.errors[0]
        assert cut.calls[0].cut and cut.to_json("1")["calls"][0]["cut"] == ["x"]


def test_a_value_is_as_long_as_the_model_writes_it() -> None:
    text, ids = " ".join(f"line {n} of the file\n" for n in range(150)), list(range(4800, 5100))
    assert wanted({"type": "string"}, text, "hermes").calls[0].arguments == {"x": text}
    assert wanted(INTEGERS, ids, "hermes").calls[0].arguments == {"x": ids}


@pytest.mark.parametrize("said", [False, True])
def test_a_value_that_goes_round_in_circles_is_cut_unless_the_conversation_has_it(said: bool) -> None:
    row, prompt = "-+" * 600, "draw a line\n"
    prompt = f"draw {row}\n" if said else prompt
    text = CALL_FORMATS["hermes"].render([Call("f", {"x": row})])
    result = decode(Writer(prompt, text), prompt, one({"type": "string"}), format="hermes", max_calls=1, order_limit=1)
    assert (result.valid, result.cut) == (said, not said)
    assert row.startswith(result.calls[0].arguments["x"]) and said == (result.calls[0].arguments["x"] == row)


class TooManyBrackets(Writer):
    """Where it has written all, it wants to close a text and four brackets, and else white space."""

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        texts = synthetic().table.texts
        if self.wanted(b"".join(texts[t] or b"" for t in tokens)) != self._then:
            return super().next_logits(tokens)
        liked = [2.0 * (text == b'"}}}}') + 1.0 * (text is not None and text[:1] == b" ") for text in texts]
        return NextTokenLogits(torch.tensor(liked))


@pytest.mark.parametrize("back", [True, False])
@pytest.mark.parametrize("said", ["Mia", ""])
def test_a_text_ends_with_its_quote_whatever_the_model_writes_behind_it(said: str, back: bool) -> None:
    text = f'<tool_call>\n{{"name": "f", "arguments": {{"x": "{said}'
    fields: dict[str, Any] = {"format": "hermes", "max_calls": 1, "order_limit": 1, "tool_choice": "f"}
    engine = TooManyBrackets("go\n", text, can_roll_back=back)
    result = decode(engine, "go\n", one({"type": "string"}), **fields)
    assert result.calls[0].arguments == {"x": said} and result.valid


@pytest.mark.parametrize("size", [1, 15, 120, 430, 1000])
def test_a_circle_is_found_whatever_its_length(size: int) -> None:
    """Some equal rows are none; eight are, and at least 1,024 characters."""
    row = "".join(chr(ord("a") + n * n % 23) for n in range(size - 1)) + "|"
    for rows, is_cut in ((4, False), (9 + 1200 // size, True)):
        text = "x" + row * rows
        result = wanted({"type": "string"}, text, "hermes")
        assert result.cut == is_cut and text.startswith(result.calls[0].arguments["x"])


NUMBERS = st.one_of(
    st.integers(-(10**12), 10**12).map(str),
    st.decimals(-1000, 1000, places=3).map(lambda d: f"{d:f}"),
    st.tuples(st.integers(-99, 99), st.integers(-310, 310)).map(lambda n: f"{n[0]}e{n[1]}"),
    st.tuples(st.integers(1, 9), st.integers(0, 99), st.sampled_from("eE"), st.integers(-40, 40)).map(
        lambda n: f"{n[0]}.{n[1]}{n[2]}{n[3]:+}"
    ),
)
RANGES: list[dict[str, Any]] = [
    {}, {"minimum": 0}, {"minimum": 0, "maximum": 1}, {"exclusiveMinimum": 0}, {"maximum": 100}, {"multipleOf": 0.5},
    {"minimum": 1, "maximum": 5},
]  # fmt: skip


@settings(max_examples=300)
@given(NUMBERS, st.sampled_from(["integer", "number"]), st.sampled_from(RANGES), st.booleans(), st.booleans())
def test_a_number_is_the_one_that_the_model_writes_or_the_call_says_that_it_is_not(
    number: str, kind: str, limits: dict[str, Any], nullable: bool, back: bool
) -> None:
    schema = {"type": [kind, "null"] if nullable else kind, **limits}
    result = literal(schema, number, back)
    assert sound(result)
    if result.valid:
        assert Decimal(repr(result.calls[0].arguments["x"])) == Decimal(repr(float(number))) or (
            result.calls[0].arguments["x"] == Decimal(number)
        )


@pytest.mark.parametrize(
    ("schema", "number", "value"),
    [
        ({"type": "number", "minimum": 0}, "6.626e-34", 6.626e-34),
        ({"type": "number", "minimum": 0}, "1.6e-19", 1.6e-19),
        ({"type": "number", "minimum": 0}, "1.5e41", 1.5e41),
        ({"type": "number"}, "1e100", 1e100),
        ({"type": "number"}, "-1e-300", -1e-300),
        ({"type": "number", "minimum": 0, "maximum": 1}, "5e-35", 5e-35),
        ({"type": "integer"}, "1e6", 10**6),
        ({"type": "integer"}, "1e23", 10**23),
        ({"type": "integer"}, "1.5e3", 1500),
        ({"type": ["integer", "null"]}, "3e8", 3 * 10**8),
        ({"type": "integer", "minimum": 10, "maximum": 2000}, "1e3", 1000),
        ({"type": "integer"}, "3.0", 3),
        ({"type": "number", "minimum": -(10**400), "maximum": 10**400}, "1e5", 1e5),  # limits that no float holds
        ({"type": "integer", "maximum": 10**400}, "1e5", 10**5),
        (INTEGERS, "[1e6, 2e3]", [10**6, 2000]),
        ({"type": "array", "items": {"type": "number"}}, "[1e-9, 3]", [1e-9, 3]),
    ],
)
@pytest.mark.parametrize("back", [True, False])
def test_exponents(schema: Any, number: str, value: Any, back: bool) -> None:
    result = literal(schema, number, back)
    assert result.valid and result.calls[0].arguments == {"x": value}, result.errors


@pytest.mark.parametrize(
    ("schema", "number"),
    [
        ({"type": "integer"}, "1.5"),
        ({"type": "integer"}, "2024-05-01"),
        ({"type": "integer"}, "1_000"),
        ({"type": "integer"}, "007"),
        ({"type": "integer", "maximum": 100}, "150"),
        ({"type": "integer", "minimum": 1, "maximum": 5}, "12"),
        ({"type": "integer", "minimum": 0}, "-5"),
        ({"type": "number", "maximum": 1}, "1.5"),
        ({"type": "number"}, "1e400"),
        ({"type": "integer"}, "12:30"),
        # no digits are added that nobody wrote
        ({"type": "integer", "minimum": 1000}, "12"),
        ({"type": "integer", "multipleOf": 7}, "12"),
        ({"type": "number", "exclusiveMinimum": 0}, "0"),
        ({"type": ["integer", "null"], "minimum": 10}, "5"),
        ({"enum": [100, 200]}, "10"),
        ({"enum": [1, 12, 123]}, "5"),
        ({"enum": [1.5, 15, 0.1]}, "15e-1"),
    ],
)
def test_a_number_that_may_not_stand_there_is_told(schema: Any, number: str) -> None:
    result = literal(schema, number)
    assert not result.valid and result.cut and repr(number) in result.errors[0]


@pytest.mark.parametrize("items", ["[12, 34, 5]", "[12,34,5]"])
def test_a_number_ends_where_the_list_must(items: str) -> None:
    result = literal({"type": "array", "items": {"type": "integer"}, "maxItems": 2}, items)
    assert result.calls[0].arguments == {"x": [12, 34]}


def test_a_number_that_stands_in_the_list_already_is_told() -> None:
    result = literal(INTEGERS | {"uniqueItems": True}, "[7, 2, 2]")
    assert not result.valid and result.cut and result.calls[0].arguments == {"x": [7, 2]}


@pytest.mark.parametrize(("prompt", "value"), [("We need 1,250,000 of them.\n", 1_250_000), ("go\n", 1)])
def test_commas_between_thousands_as_the_conversation_has_them(prompt: str, value: int) -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {"x": 1,250,000}}\n</tool_call>'
    options: dict[str, Any] = {"format": "hermes", "max_calls": 1, "order_limit": 1}
    result = decode(Writer(prompt, text), prompt, one({"type": "integer"}), **options)
    assert result.calls[0].arguments == {"x": value}


def test_an_optional_list_that_is_cut_is_told_with_free_values() -> None:
    form = "api-bank"
    tools = extract(json.dumps([documented("f", ["a"], a={"type": "string"}, b=INTEGERS)]))
    written = CALL_FORMATS[form].render([Call("f", {"a": "hi", "b": [12, 34, 56, 78]})])
    options: dict[str, Any] = {"format": form, "max_calls": 1, "order_limit": 1, "value_constraint": "free"}
    result = decode(Writer("go\n", written), "go\n", tools, max_value_tokens=6, **options)
    assert result.calls[0].arguments == {"a": "hi"} and result.cut and not result.valid


@pytest.mark.parametrize(("kind", "written"), [("number", "3"), ("number", "3.0"), ("integer", "3")])
def test_a_number_stays_as_it_is_written(kind: str, written: str) -> None:
    assert json.dumps(literal({"type": kind}, written).calls[0].arguments["x"]) == written


CITY = extract(
    json.dumps(
        [
            documented(
                "city",
                title={"type": "string"},
                population={"type": "integer"},
                tags={"type": "array", "items": {"type": "string"}},
            )
        ]
    )
)
VALUES = {"title": '"Rome"', "population": "2873000", "tags": '["capital", "old", "city centre"]'}


def running_away(runs: Callable[[list[str]], bool]) -> ScriptedEngine:
    """A model of a city whose tags have no end where the keys so far say so."""

    def continuation(text: str) -> str:
        arguments = text.rpartition('"arguments": {')[2]
        places = sorted((arguments.find(f'"{key}": '), key) for key in VALUES if f'"{key}": ' in arguments)
        if not places:
            return ""
        (place, key), keys = places[-1], [key for _, key in places]
        written = arguments[place + len(f'"{key}": ') :]
        value = VALUES[key] + (", " if len(keys) < len(VALUES) else "}\n</tool_call>" + END)
        if key == "tags" and runs(keys):
            value = "[" + '"city centre", ' * 500
        return value[len(written) :] if value.startswith(written) else END

    return ScriptedEngine(synthetic().table.texts, continuation)


@pytest.mark.parametrize("orders", [3, 4, 6])
@pytest.mark.parametrize("before", [(), ("title", "population"), ("population", "title"), ("population",)])
def test_an_order_that_can_no_longer_change_the_vote_is_stopped(
    orders: int, before: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def decoded(limit: int, runs: Callable[[list[str]], bool]) -> DecodeResult:
        fields: dict[str, Any] = {"format": "hermes", "max_calls": 1, "tool_choice": "city", "draft_tokens": 0}
        return decode(running_away(runs), "go\n", CITY, order_limit=limit, **fields)

    single = decoded(1, lambda keys: False)
    found = decoded(orders, lambda keys: tuple(keys[:-1]) == before)
    assert found.valid and found.calls[0].arguments == single.calls[0].arguments
    assert found.counters.forward_passes <= 1.5 * single.counters.forward_passes
    monkeypatch.setattr(order_decoder, "is_settled", lambda *_: False)
    without = decoded(orders, lambda keys: tuple(keys[:-1]) == before)
    same = [(call.arguments, call.voted.valid, call.voted.errors) for call in (found.calls[0], without.calls[0])]
    assert same[0] == same[1] and without.counters.forward_passes >= found.counters.forward_passes


def test_all_orders_that_run_away_give_a_call_that_is_not_valid() -> None:
    result = decode(running_away(lambda keys: True), "go\n", CITY, order_limit=4, format="hermes", max_calls=1)
    assert not result.valid and result.cut and "round in circles" in result.errors[0]


@pytest.mark.parametrize(("most", "wished"), [(4, 3), (4, 4), (4, 6), (1, 3)])
def test_calls_beyond_max_calls_are_told(most: int, wished: int) -> None:
    calls = [Call("f", {"x": n}) for n in range(wished)]
    written = CALL_FORMATS["hermes"].render(calls)
    fields: dict[str, Any] = {"format": "hermes", "order_limit": 1, "max_calls": most}
    result = decode(Writer("go\n", written), "go\n", one({"type": "integer"}), **fields)
    assert [call.arguments["x"] for call in result.calls] == list(range(min(most, wished))) and result.valid
    assert result.cut == result.too_many == (1 < most < wished)  # of one call, one is asked for
    assert any("max_calls" in error for error in result.errors) == result.cut


class CountsOn(Writer):
    """A model that ends its answer behind a call; in a further one that it is asked for it counts on without an end."""

    def wanted(self, written: bytes) -> bytes:
        if written.endswith(b"</tool_call>"):
            return END.encode()
        if written.count(b"<tool_call>") < 2:
            return super().wanted(written)
        number = written.rpartition(b"[")[2]
        counted, _, begun = number.rpartition(b", ")
        wish = str(counted.count(b",") + bool(counted)).encode() + b", "
        return wish.removeprefix(begun) if b"[" in written.rpartition(b"<tool_call>")[2] else b"["


def test_a_further_call_that_is_asked_for_does_not_run_on_to_the_end_of_the_context() -> None:
    engine = CountsOn("go\n", CALL_FORMATS["hermes"].render([Call("f", {"x": [7]})]))
    fields: dict[str, Any] = {"format": "hermes", "order_limit": 1, "next_call_threshold": -1e9}
    result = decode(engine, "go\n", one(INTEGERS), **fields)
    assert result.valid and not result.cut and [call.arguments for call in result.calls] == [{"x": [7]}]
    assert 512 <= result.counters.forward_passes <= 512 + 40
