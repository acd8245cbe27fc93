"""Free text: the model's own until it opens a call; thinking, stops, limits, sampling, and calls that it repeats."""

import re
from typing import Any

import pytest
import torch

from synthetic import END, RandomEngine, ScriptedEngine, Writer, decode, synthetic
from tooldecoding.decoder import ToolDecoder
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS, NATIVE_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tools import PROMPTS, lookup, parameter, sound, tool

TOOLS = lookup(tool("get_weather", parameter("city", "str")), tool("a"), tool("1"))
LIMIT = 40
SHORT: dict[str, Any] = {"tool_choice": "auto", "max_text_tokens": LIMIT, "max_value_tokens": 4}


BRACKETS = [
    *("See the docs [1] for details.", "an array like [a, b] or [get it](http://x)", "[get_weather]", "["),
    *("[[1]] [get_weather] [RFC(2119)] [f(x)]", "f[a]( [a (x) [no(b = 1)] [a,b(c=1)]", "So [f(g(x))] or [f(), g()]"),
    *("[get_weather.py](x) [getting_started] [get_", "So [get_wind] or [get_weather_wether]", "[f(x)] [f]"),
    *("Write [tool_name(key='value')] to call one.", "So [1]: [getWeather()]", "So [1]: [get_weather2(city='x')]"),
]


@pytest.mark.parametrize("text", BRACKETS)
def test_a_bracket_in_text_is_text(text: str) -> None:
    result = decode(Writer("go on ", text, " so"), "go on ", TOOLS, **SHORT)
    assert result.text.startswith(text) and not result.calls


LOST = ["get(get(x=1", "weather(), ", "get_wether_get_wether", "get_weather_get_weather", "get_id='Rome'", "get_{"]
INVENTED = ["get_weather2(city='x')]", "weather(town='Rome')]", "getWeather()]"]


@pytest.mark.parametrize(("lost", "more"), [*((text, " so") for text in INVENTED), *((text, "_get") for text in LOST)])
@pytest.mark.parametrize("before", ["", "\n "])
def test_an_answer_that_begins_with_an_invented_name_calls_a_documented_one(before: str, lost: str, more: str) -> None:
    result = decode(Writer("go on ", f"{before}[{lost}", more), "go on ", TOOLS, **SHORT)
    assert result.text.startswith(f"{before}[") and sound(result)
    assert result.calls[0].voted.name in TOOLS


@pytest.mark.parametrize(
    ("text", "stop", "expected"),
    [
        (" No.\nUser: [get_weather(city='Rome')]", "\n", " No."),
        ("\n\n No.\n[get_weather(city='Rome')]", "\n", "\n\n No."),
        (" No.\nNo.\n\n[a()]", "\n\n", " No.\nNo."),
        (" So: [a()]\nUser:", "\n", " So: [a()]"),
        (" So:\n[a()]", None, " So:\n[a()]"),
    ],
)
def test_text_ends_before_the_stop_of_a_request(text: str, stop: str | None, expected: str) -> None:
    result = decode(Writer("go on", text), "go on", TOOLS, line_end=stop, **SHORT)
    assert result.text.rstrip("\n") == expected and bool(result.calls) == expected.endswith(")]")


CALL = re.compile(r"[^\s\[\](){}=,'\"]+\(([\w.-]+=|\)\])")
"""What looks like a call, whatever its name."""


def test_text_of_random_models_is_that_of_greedy_decoding() -> None:
    """Token for token, up to a special token, the limit, or a call."""
    called, table = 0, synthetic().table
    for seed in range(60):
        liked = (b"[", b"a", b"(", b"1")[: seed % 5]
        engine = RandomEngine(table.texts, seed, lambda text, liked=liked: 5.0 * (text in liked))
        prompt = PROMPTS[seed % 3] + " " * (seed % 2)
        ids = begun = synthetic().tokenizer.encode(prompt)
        while len(ids) < len(begun) + LIMIT and not table.is_special(token := engine.next_logits(tuple(ids)).best):
            ids = [*ids, token]
        own, result = table.join(ids[len(begun) :]), decode(engine, prompt, TOOLS, **SHORT)
        if result.calls:
            called += 1
            start = result.text.index(f"[{result.calls[0].voted.name}(") + 1
            assert own.startswith(result.text[:start].encode())
            behind = own[start:].decode(errors="replace")
            assert behind.startswith(f"{result.calls[0].voted.name}(") or CALL.match(behind)
        else:
            assert result.text == own.decode(errors="replace")
    assert 5 < called < 55


CHAT_TOOLS = lookup(tool("get_weather", parameter("city", "str"), parameter("days", "int")), tool("get_time"))
CALLS = [Call("get_weather", {"city": "Rome", "days": 3}), Call("get_time", {})]
PROMPT = "user: Rome?\nassistant:</s>\n"


def answer(text: str, with_tokens: bool = True, prompt: str = PROMPT, tools: Any = CHAT_TOOLS, **fields: Any) -> Any:
    """What comes of a model, perhaps with tokens for marks, that writes ``text`` and then ends its turn."""
    kind = "marks" if with_tokens else "byte level"
    options = {"tool_choice": "auto", "order_limit": 1} | fields
    return decode(Writer(prompt, text, kind=kind), prompt, tools, kind, **options)


def found(result: DecodeResult) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in result.calls]


@pytest.mark.parametrize("with_tokens", [True, False])
@pytest.mark.parametrize("call_format", NATIVE_FORMATS, ids=lambda f: f.name)
def test_text_then_calls(call_format: Any, with_tokens: bool) -> None:
    calls = CALLS if call_format.parallel else CALLS[:1]
    written = "Let me see [1].\n" + call_format.render(calls)
    result = answer(written, with_tokens, format=call_format.name)
    assert result.valid and found(result) == [(c.name, c.arguments) for c in calls]
    assert result.text == written and result.content == "Let me see [1]."


THINKS = [
    ("<think>\n", "\n</think>\n\n"),
    ("[THINK]", "[/THINK]"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant"),
]


@pytest.mark.parametrize(("opening", "closing"), THINKS, ids=lambda mark: mark.strip())
@pytest.mark.parametrize(
    ("choice", "with_tokens"),
    # without a token for its mark, thinking before a required call cannot be told from other text
    [("auto", True), ("auto", False), ("required", True), ("get_weather", True)],
)
def test_thinking_then_a_call(choice: str, opening: str, closing: str, with_tokens: bool) -> None:
    name = "harmony" if "analysis" in opening else "hermes"
    written = f"{opening}They want <b> the weather [get_time()].{closing}{CALL_FORMATS[name].render(CALLS[:1])}"
    result = answer(written, with_tokens, format=name, tool_choice=choice, max_calls=1)
    assert result.valid and found(result) == [("get_weather", CALLS[0].arguments)]
    assert result.thinking == "They want <b> the weather [get_time()]." and not result.content
    assert result.text == written


@pytest.mark.parametrize("choice", ["auto", "required", "none"])
def test_the_prompt_may_open_the_thinking(choice: str) -> None:
    fields = {"tool_choice": choice, "format": "hermes", "max_calls": 1}
    result = answer("Well.\n</think>\n\nIt is sunny.", prompt=PROMPT + "<think>\n", **fields)
    assert result.thinking == "Well."
    assert bool(result.calls) == (choice == "required") and result.content == "It is sunny." * (choice != "required")


@pytest.mark.parametrize("limit", [0, 1, 7])
def test_thinking_has_a_limit_of_its_own(limit: int) -> None:
    fields: dict[str, Any] = {"max_thinking_tokens": limit, "max_text_tokens": 5, "format": "hermes"}
    result, table = answer("x" * 50, prompt=PROMPT + "<think>", **fields), synthetic("marks").table
    assert len(table.encode_after(b"<think>", result.thinking.encode())) <= limit and "</think>" in result.text


@pytest.mark.parametrize("stop", ["sunny", "is su", "\n"])
def test_stops_end_the_content(stop: str) -> None:
    result = answer(f"<think>{stop}</think>It is sunny.\nYes.", stop=(stop,), format="hermes")
    assert result.content == "It is sunny.\nYes.".partition(stop)[0]
    assert result.thinking == stop.strip("\n")


STOPS = ["\n", '"', "{", "(", "[", "<", "name", "get_weather", "get_", ": ", "call", "\n\n", ">\n", " ", "`"]


@pytest.mark.parametrize("with_tokens", [True, False])
@pytest.mark.parametrize("call_format", NATIVE_FORMATS, ids=lambda f: f.name)
def test_no_stop_acts_inside_of_a_call(call_format: Any, with_tokens: bool) -> None:
    for before in ("", call_format.lead, "<think>\nHm.\n</think>\n\n"):
        written = before + call_format.render(CALLS[:1])
        plain = answer(written, with_tokens, format=call_format.name, max_calls=1)
        for stop in STOPS:
            result = answer(written, with_tokens, format=call_format.name, max_calls=1, stop=(stop,))
            assert (result.text, found(result)) == (plain.text, found(plain)), (before, stop)
        assert found(plain) == [("get_weather", CALLS[0].arguments)]


@pytest.mark.parametrize("with_tokens", [True, False])
@pytest.mark.parametrize(
    ("text", "stop", "content"),
    [
        ("I look.\n\nCALL", "\n", "I look."),
        ("I look: [1] CALL", "[1", "I look: "),
        ("\nNo.", "\n", ""),
        ("\n\n", "\n", ""),
        ("<think>\nHm.\n</think>\n\nNo.\nCALL", "\n", "No."),
        ('<tool_call>\n{"name": "get_time"', "name", '<tool_call>\n{"'),
        ('<tool_call>\n{"name": "no"}', "name", '<tool_call>\n{"'),
        ("see <tools> and more", "<to", "see "),
        ("so <", "<", "so "),
    ],
)
def test_a_stop_before_a_call_or_in_what_becomes_none_ends_the_text(
    text: str, stop: str, content: str, with_tokens: bool
) -> None:
    if with_tokens and text.startswith("<tool_call>"):
        pytest.skip("the mark alone opens a call")
    text = text.replace("CALL", CALL_FORMATS["hermes"].render(CALLS[:1]))
    result = answer(text, with_tokens, format="hermes", stop=(stop,))
    assert (result.content, result.calls, result.cut) == (content, (), False)


@pytest.mark.parametrize("choice", ["auto", "none"])
@pytest.mark.parametrize("opened", [True, False])
@pytest.mark.parametrize("behind", ["It is sunny.", "CALL", ""])
def test_thinking_that_is_never_closed_is_closed_once(behind: str, opened: bool, choice: str) -> None:
    call = CALL_FORMATS["hermes"].render(CALLS[:1])
    begun, thought = PROMPT + "<think>\n" * opened, "<think>\n" * (not opened) + f"I look.\n{call}"
    told, table = behind.replace("CALL", call), synthetic("marks").table
    bound = [table.special.bound(text) for text in (begun + thought, f"{begun}{thought}</think>\n\n{told}")]

    def continuation(text: str) -> str:
        whole = bound[len(text) > len(bound[0])]
        return (whole[len(text) :] if whole.startswith(text) else "") or table.special.bound(END)

    engine = ScriptedEngine(table.texts, continuation)
    options: dict[str, Any] = {"tool_choice": choice, "format": "hermes", "order_limit": 1, "max_calls": 1}
    result = decode(engine, begun, CHAT_TOOLS, "marks", **options)
    assert result.thinking.startswith("I look.\n<tool_call>") and not result.cut and result.valid
    called = behind == "CALL" and choice == "auto"
    assert found(result) == [("get_weather", CALLS[0].arguments)] * called
    assert (result.content or "").strip() == behind or behind != "It is sunny."


def rome(name: str, times: int) -> str:
    """The first call again and again, as a model writes it."""
    return CALL_FORMATS[name].lead + CALL_FORMATS[name].render(CALLS[:1] * times)


PARALLEL = [call_format.name for call_format in CALL_FORMATS.values() if call_format.parallel][::2]


@pytest.mark.parametrize(("place", "name"), list(enumerate(PARALLEL)))
def test_a_model_that_writes_one_call_again_and_again_makes_it_once(place: int, name: str) -> None:
    fields = {"format": name, "tool_choice": ("required", "auto", "get_weather")[place % 3]}
    result, once = answer(rome(name, 3), **fields), answer(rome(name, 1), **fields)
    assert found(result) == [(CALLS[0].name, CALLS[0].arguments)]
    assert (result.repeated, result.valid, result.cut, result.errors) == (True, True, False, ())
    assert result.text == CALL_FORMATS[name].ending(result.text, rome(name, 1))
    assert (result.text, result.token_ids, once.repeated) == (once.text, once.token_ids, False)


@pytest.mark.parametrize(
    ("orders", "first", "second", "equal"),
    [
        (12, '{"a": 1, "b": [true, {"c": null}]}', '{"b": [true, {"c": null}], "a": 1}', True),
        (1, '{"a": "A"}', '{"a": "\\u0041"}', True),
        (1, '{"a": 1}', '{"a": 1.0}', True),
        (12, '{"a": 1}', '{"a": true}', False),
        (1, '{"a": 1}', '{"a": "1"}', False),
        (1, '{"a": [1, 2]}', '{"a": [2, 1]}', False),
        (1, '{"a": null}', "{}", False),
    ],
)
def test_arguments_are_compared_as_values(orders: int, first: str, second: str, equal: bool) -> None:
    tools = lookup(tool("f", parameter("x", "dict"), parameter("y", "int")))
    calls = [f'<tool_call>\n{{"name": "f", "arguments": {{"x": {x}, "y": 2}}}}\n</tool_call>' for x in (first, second)]
    fields: dict[str, Any] = {"format": "hermes", "order_limit": orders, "tool_choice": "required"}
    result = answer("\n".join(calls), tools=tools, **fields)
    assert (len(result.calls), result.repeated, result.valid) == (2 - equal, equal, True)


REAL = ToolDecoder(synthetic().model, synthetic().tokenizer)


def written(**fields: Any) -> str:
    options = DecodeOptions(tool_choice="none", max_text_tokens=12, **fields)
    return REAL.run([Request("once upon a time ", TOOLS, options)])[0].text


@pytest.mark.parametrize("penalty", [1.0, 1.3, 0.7])
def test_greedy_text_is_that_of_generate(penalty: float) -> None:
    table, options = REAL.table, DecodeOptions(tool_choice="none")
    ids = torch.tensor([REAL.prompt_ids(Request("once upon a time ", TOOLS, options))])
    ends = [token for token, text in table.special.texts.items() if text]
    fields: dict[str, Any] = {"do_sample": False, "repetition_penalty": penalty, "pad_token_id": 0}
    output = REAL.model.generate(ids, max_new_tokens=12, eos_token_id=ends, **fields)
    tokens = [token for token in output[0, ids.shape[1] :].tolist() if token not in ends]
    assert written(repetition_penalty=penalty) == table.join(tokens).decode(errors="replace")


def test_sampled_text_depends_on_the_seed_alone_and_narrow_sampling_is_greedy() -> None:
    texts = [written(temperature=1.5, seed=seed) for seed in (1, 1, 2, 3)]
    assert texts[0] == texts[1] and len(set(texts)) > 1
    for narrow in ({"top_k": 1}, {"top_p": 0.0}, {"temperature": 1e-6}):
        assert written(**{"temperature": 1.0} | narrow) == written()
