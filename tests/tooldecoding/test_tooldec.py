"""TOOLDEC: every finished call is right, what is unfinished is reported, and the model chooses every token."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data import DATA, needs_data
from eval.methods.call_machine import CallMachine, Finished, Position
from eval.methods.tooldec import ToolDecResult, run_tooldec
from formats.law.documents import Document, documents
from formats.law.judges import Judged, ask
from formats.law.law import BIASES, uncarried
from formats.readers.reader_cases import needs_judges
from lookup.dictionary import LookupDictionary, ToolSpec
from synthetic import RandomEngine, Writer, synthetic
from tooldecoding.decoding.compiled_tools import CompiledTools
from tooldecoding.errors import PromptError
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tools import WEATHER, lookup, parameter, tool

PING = tool("ping")
CHINESE = tool("查询天气", parameter("城市", "str"), parameter("天数", "int", required=False))
TABLE = synthetic().table


def tooldec(engine: Any, prompt: Any, tools: LookupDictionary, **fields: Any) -> ToolDecResult:
    """What TOOLDEC writes with an engine."""
    synthetic().engine = engine
    [result] = run_tooldec(synthetic(), [Request(prompt, tools, DecodeOptions(**fields))])
    return result


def demand_right(result: ToolDecResult, document: Document, format: str) -> None:
    """Judges find a finished result right."""
    calls = [(call.name, call.arguments) for call in result.calls]
    for called, arguments in calls:
        documented = [p.name for p in document.tools[called].parameters]
        assert list(arguments) == [key for key in documented if key in arguments]
    ask(Judged(format, result.text, calls, document.schemas))


def read_through(text: str, tools: LookupDictionary, format: str) -> Any:
    """The calls of a text that is read character by character; None if they are unfinished."""
    machine = CallMachine(tools.decided("optional"), CALL_FORMATS[format], "typed", 2)
    position: Position | None = machine.start
    for character in text.removesuffix("\ufffd"):  # an unfinished character
        position = position and machine.advance(position, character.encode())
    assert position is not None
    return machine.read(position) if isinstance(position, Finished) else None


@needs_data
@needs_judges
@pytest.mark.parametrize("step", [180, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("format", ["api-bank", "pythonic"])
def test_random_models_on_the_data(format: str, step: int) -> None:
    biases, ends = list(BIASES.values()), {False: 0, True: 0}
    for number, document in enumerate(list(documents(DATA))[::step]):
        if uncarried(document, CALL_FORMATS[format]):
            continue
        engine = RandomEngine(TABLE.texts, number, biases[number % len(biases)], can_roll_back=number % 3 > 0)
        fields: dict[str, Any] = {"format": format, "max_value_tokens": 24, "max_calls": 2}
        result = tooldec(engine, f"{document.question}\n", document.tools, **fields)
        counters = result.counters
        chosen = counters.constrained_tokens + counters.free_tokens
        assert counters.forced_tokens == 0 and chosen <= counters.forward_passes <= chosen + (not engine.can_roll_back)
        ends[result.truncated] += 1
        read = read_through(result.text, document.tools, format)  # however its tokens are cut
        assert read == (None if result.truncated else result.calls) and bool(result.calls) != result.truncated
        if not result.truncated:
            demand_right(result, document, format)
    assert min(ends.values()) > 4


VALUES: dict[str, Any] = {"str": "a, b)] ü'\"", "int": -3, "float": 1.5, "bool": True, "list": ["x", 1, None, 0.5]}
KEYS = st.dictionaries(
    st.sampled_from(["k", "key", "k y", "ü", "a.b"]),
    st.tuples(st.sampled_from(list(VALUES)), st.booleans()),
    max_size=4,
)
NAMES = st.sampled_from(["f", "tool.1", "get weather", "查询", "a/b", "x" * 40])
TOOLS = st.dictionaries(NAMES, KEYS, min_size=1, max_size=4).map(
    lambda rows: [
        tool(n, *(parameter(k, t, required) for k, (t, required) in keys.items())) for n, keys in rows.items()
    ]
)


def draw_call(data: st.DataObject, tools: list[ToolSpec]) -> Call:
    """A call with any of the optional keys, in the documented sequence."""
    called = data.draw(st.sampled_from(tools))
    specs = [p for p in called.parameters if p.required or data.draw(st.booleans())]
    return Call(called.name, {p.name: VALUES[p.type.kind] for p in specs})


@pytest.mark.parametrize("name", ["api-bank", "pythonic"])
@settings(max_examples=40)
@given(prompt=st.sampled_from(["API-Request: ", "API-Request:", "Call\n"]), tools=TOOLS, data=st.data())
def test_what_the_model_wants_is_written(name: str, prompt: str, tools: list[ToolSpec], data: st.DataObject) -> None:
    format = CALL_FORMATS[name]
    count = data.draw(st.integers(1, 3)) if format.parallel else 1
    calls = [draw_call(data, tools) for _ in range(count)]
    wanted = format.render(calls)
    choice = data.draw(st.sampled_from(["required", "auto"]))
    result = tooldec(Writer(prompt, wanted), prompt, lookup(*tools), format=format.name, tool_choice=choice)
    assert result.text == wanted and list(result.calls) == calls and not result.truncated
    counters = result.counters
    assert counters.forward_passes == counters.constrained_tokens + counters.free_tokens


@pytest.mark.parametrize("can_roll_back", [True, False])
@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("I will call. [查询天气(城市='北京')] and", "I will call. [查询天气(城市='北京')]"),
        ("See [1]", "See [查询天气(城市="),
        ("No call.</s>", "No call."),
    ],
)
def test_free_text_before_a_call(written: str, text: str, can_roll_back: bool) -> None:
    fields: dict[str, Any] = {"format": "pythonic", "tool_choice": "auto", "max_value_tokens": 40}
    result = tooldec(Writer("Q", written, can_roll_back=can_roll_back), "Q", lookup(CHINESE), **fields)
    if written == "See [1]":
        assert result.text.startswith(text)
    else:
        called = (Call("查询天气", {"城市": "北京"}),) if "查" in written else ()
        assert (result.text, result.calls, result.truncated) == (text, called, False)


@pytest.mark.parametrize("can_roll_back", [True, False])
def test_a_token_that_goes_on_wrongly_behind_the_opener_is_cut(can_roll_back: bool) -> None:
    token = next(t.decode() for t in TABLE.texts if t and re.fullmatch(rb"[^\[]*\[[^\[p]+", t))
    result = tooldec(Writer("Q", f"x{token}", can_roll_back=can_roll_back), "Q", lookup(PING), tool_choice="auto")
    assert result.text == f"x{token[: token.index('[')]}[ping()]" and result.calls == (Call("ping", {}),)


def test_the_named_tool_is_called_and_none_where_none_is_allowed() -> None:
    result = tooldec(RandomEngine(TABLE.texts), "Q", lookup(WEATHER, PING), tool_choice="ping")
    assert result.text == "[ping()]" and result.calls == (Call("ping", {}),)
    wanted, none = "[ping()] [ping()]", {"tool_choice": "none", "max_text_tokens": 4}
    result = tooldec(Writer("Q ", wanted), "Q ", lookup(WEATHER, PING), **none)
    assert not result.calls and not result.truncated and wanted.startswith(result.text) and result.text


SAY = lookup(tool("say", parameter("text", "str")))
FLAG = lookup(tool("f", parameter("x", "bool")))


@pytest.mark.parametrize(
    ("tools", "start", "rest", "limit", "cut"),
    [
        (SAY, "[say(text='", "!?" * 99, 20, True),
        (FLAG, "[f(x=True)]", "", len(TABLE.encode_after(b"=", b"True")), False),
    ],
)
def test_a_value_beyond_the_limit_is_reported(
    tools: LookupDictionary, start: str, rest: str, limit: int, cut: bool
) -> None:
    result = tooldec(Writer("\n", start + rest), "\n", tools, format="pythonic", max_value_tokens=limit)
    assert (result.truncated, not result.calls) == (cut, cut)
    assert result.text.startswith(start + rest[:4]) and (not cut or result.counters.free_tokens == limit - 1)


def test_the_end_of_the_context_is_reported() -> None:
    fields = {"max_value_tokens": 10**6}
    room = CompiledTools(lookup(WEATHER), TABLE, DecodeOptions(**fields)).shortest
    ids, engine = [5] * (4096 - room), RandomEngine(TABLE.texts, bias=BIASES["never closes"])
    result = tooldec(engine, ids, lookup(WEATHER), **fields)
    assert result.truncated and result.counters.constrained_tokens + result.counters.free_tokens == room
    with pytest.raises(PromptError, match="1 too many"):
        tooldec(engine, [5, *ids], lookup(WEATHER), **fields)
