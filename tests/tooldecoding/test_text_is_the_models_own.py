"""With ``auto``, text is that of greedy decoding, token for token, until the model opens a call."""

import re
from typing import Any

import pytest

from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.testing import RandomEngine, ScriptedEngine, SyntheticDecoder
from tools import PROMPTS, lookup, parameter, tool

TOKENIZER = byte_level_tokenizer()
DECODER = SyntheticDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER)
TOOLS = lookup(tool("get_weather", parameter("city", "str")), tool("a"), tool("1"))
LIMIT = 40
CALL = re.compile(r"[^\s\[\](){}=,'\"]+\(([\w.-]+=|\)\])")
"""What looks like a call, whatever its name."""


def decode(engine: Any, tools: Any = TOOLS, prompt: str = "go on ", **fields: Any) -> Any:
    DECODER.engine = engine
    options = DecodeOptions(tool_choice="auto", max_text_tokens=LIMIT, max_value_tokens=4, **fields)
    return DECODER.run([Request(prompt, tools, options)])[0]


@pytest.mark.parametrize(
    "text",
    [
        "See the docs [1] for details.",
        "an array like [a, b] or [get it](http://x)",
        "[[1]] [get_weather] [RFC(2119)] [f(x)]",
        "f[a]( [a (x) [no(b = 1)] [a,b(c=1)]",
        "[get_weather.py](x) [getting_started] [get_",
        "So [get_wind] or [get_weather_wether]",
        "So [f(g(x))] or [f(), g()]",
        "[f(x)] [f]",
        "[get_weather]",
        "[",
    ],
)
def test_a_bracket_in_text_is_text(text: str) -> None:
    engine = ScriptedEngine(DECODER.table.texts, lambda so_far: text[len(so_far) - len("go on ") :] or " so")
    result = decode(engine)
    assert result.text.startswith(text) and not result.calls


LOST = ["get(get(x=1", "weather(), ", "get_wether_get_wether", "get_weather_get_weather", "get_id='Rome'", "get_{"]
INVENTED = ["get_weather2(city='x')]", "weather(town='Rome')]", "getWeather()]"]


@pytest.mark.parametrize(
    ("before", "lost", "more"),
    [*(("So [1]: ", text, " so") for text in INVENTED), *((b, text, "_get") for b in ("", "\n ") for text in LOST)],
)
def test_a_call_of_an_invented_name_is_one_of_a_documented_name(before: str, lost: str, more: str) -> None:
    text = f"{before}[{lost}"
    engine = ScriptedEngine(DECODER.table.texts, lambda so_far: text[len(so_far) - len("go on ") :] or more)
    result = decode(engine)
    assert result.text.startswith(f"{before}[") and result.valid
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
    DECODER.engine = ScriptedEngine(DECODER.table.texts, lambda so_far: text[len(so_far) - len("go on") :] or "</s>")
    options = DecodeOptions(tool_choice="auto", max_text_tokens=LIMIT)
    [result] = DECODER.run([Request("go on", TOOLS, options, stop=stop)])
    assert result.text.rstrip("\n") == expected and bool(result.calls) == expected.endswith(")]")


def greedy(engine: RandomEngine, prompt: list[int]) -> bytes:
    """What greedy decoding without constraint writes, up to a special token or the limit."""
    ids, table = list(prompt), DECODER.table
    while len(ids) < len(prompt) + LIMIT:
        token = engine.next_logits(tuple(ids)).best
        if table.is_special(token):
            break
        ids.append(token)
    return table.join(ids[len(prompt) :])


def test_text_of_random_models_is_that_of_greedy_decoding() -> None:
    called = 0
    for seed in range(60):
        likes = (b"[", b"a", b"(", b"1")[: seed % 5]
        engine = RandomEngine(DECODER.table.texts, seed, lambda t, likes=likes: 5.0 * (t in likes))
        prompt = PROMPTS[seed % 3] + " " * (seed % 2)
        own = greedy(engine, TOKENIZER.encode(prompt))
        result = decode(engine, prompt=prompt)
        if result.calls:
            called += 1
            start = result.text.index(f"[{result.calls[0].voted.name}(") + 1
            assert own.startswith(result.text[:start].encode())
            behind = own[start:].decode(errors="replace")
            assert behind.startswith(f"{result.calls[0].voted.name}(") or CALL.match(behind)
        else:
            assert result.text == own.decode(errors="replace")
    assert 5 < called < 55
