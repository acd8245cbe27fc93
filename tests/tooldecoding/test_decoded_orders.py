"""Orders: what they leave behind: a branch, log-probabilities, whole characters, confidence."""

import io
import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from rich.console import Console

from synthetic import ScriptedEngine, Weighted, Writer, decode, synthetic
from tooldecoding.cli.decode import show_result
from tooldecoding.decoding.calibration import ARGUMENT
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.tokens.trie import Trie
from tools import PROMPTS, WEATHER, lookup, parameter, tool


def reads(good: str, literal: Callable[[str, bool], str]) -> Callable[[str], str]:
    """A model that calls ``g`` only behind the call ``good``; ``literal`` is its value for a key, the first or not."""

    def continuation(written: str) -> str:
        text = written.partition("\n")[2]
        if "f(" not in text:
            return "[f("[len(text) :]
        wanted = f"{good}, g()]"
        if wanted.startswith(text) and len(text) >= len(good) - 1:
            return wanted[len(text) :]
        if begun := re.search(r"([(,]) ?(\w)=([^,()]*)$", text):
            value = literal(begun[2], begun[1] == "(")
            if value.startswith(begun[3]) and value != begun[3]:
                return value[len(begun[3]) :] + ")"
        return ")]"[text.endswith(")") :]

    return continuation


@pytest.mark.parametrize(
    ("keys", "literal", "good"),
    [
        ("ab", lambda key, first: "1.5", "[f(a=1.5, b=1.5)"),  # of equal calls the documented order is read
        # and of those with equal votes
        ("ab", lambda key, first: "1" if (key == "a") == first else "1.0", "[f(a=1, b=1)"),
        ("abc", lambda key, first: "2.5" if first else "1.5", "[f(a=1.5, b=1.5, c=1.5)"),  # no order wrote what won
    ],
)
def test_a_further_call_reads_the_voted_one_nearest_to_documentation_order(keys: str, literal: Any, good: str) -> None:
    tools = lookup(tool("f", *(parameter(key, "float") for key in keys)), tool("g"))
    for seed in range(3):
        engine = ScriptedEngine(synthetic().table.texts, reads(good, literal))
        result = decode(engine, "x\n", tools, format="pythonic", order_limit=6, max_calls=2, seed=seed)
        assert [call.name for call in result.calls] == ["f", "g"], result.text


PATH = r"C:\Users\bob\new.txt"
BACKSLASHES = [
    (f"Open {PATH}, please.", PATH, PATH),
    (f'Open "{PATH}".', PATH, PATH),
    (f"Open {PATH}.", PATH.replace("\\", "\\\\"), PATH),  # the model escapes by itself
    (r"Open \\host\temp\a.", r"\\host\temp\a", r"\\host\temp\a"),
    (r"Find ^\d+\.txt$ there.", r"^\d+\.txt$", r"^\d+\.txt$"),
    ("List C:\\temp\\ now.", "C:\\temp\\", "C:\\temp\\"),
    (r'Result: {"text": "one\ntwo"}', r"one\ntwo", "one\ntwo"),
    (r"Split at \n here.", r"\n", "\n"),
]


@pytest.mark.parametrize(
    ("form", "said", "written", "value"),
    [
        ("pythonic", "x", "I'm late, don't wait", "I'm late, don't wait"),
        ("pythonic", "x", "the dogs' bone", "the dogs"),
        ("pythonic", "x", "O'Brien', 'Ann's", ["O'Brien", "Ann's"]),
        ("pythonic", "x", "It", "It"),
        ("api-bank", "x", "I'm late, don't wait", "I'm late, don't wait"),
        ("hermes", "x", "I'm", "I'm"),
        ("qwen-xml", "x", "I'm O'Neill", "I'm O'Neill"),
        *((form, *case) for form in ("pythonic", "hermes", "mistral-args") for case in BACKSLASHES),
        *(("qwen-xml", *case) for case in BACKSLASHES[:2]),  # it has no escapes
    ],
)
def test_escapes_that_the_model_forgets_are_written(form: str, said: str, written: str, value: Any) -> None:
    arguments = {"a": ["@"] if isinstance(value, list) else "@"} | ({"b": 1} if "\\" in written else {})
    wanted = CALL_FORMATS[form].render([Call("f", arguments)]).replace("@", written)

    def continuation(text: str) -> str:
        begun = text[len(said) + 1 :]
        meant = begun if wanted.startswith(begun) else re.sub(r"\\(['\"\\])", r"\1", begun)
        return wanted[len(meant) :] if wanted.startswith(meant) else ""

    specs = [parameter(key, {"a": type(arguments["a"]).__name__, "b": "int"}[key]) for key in arguments]
    engine = ScriptedEngine(synthetic().table.texts, continuation)
    options = {"format": form, "order_limit": 1, "max_calls": 1, "max_value_tokens": 60}
    result = decode(engine, f"{said}\n", lookup(tool("f", *specs)), **options)
    assert result.calls[0].voted.arguments == arguments | {"a": value}, result.text


@pytest.mark.parametrize("behind", ["\uff0cb='京')]", "的", "9", " b"])
def test_a_quote_behind_a_text_is_no_apostrophe(behind: str) -> None:
    tools = lookup(tool("f", parameter("a", "str")))
    result = decode(Writer("x\n", f"[f(a='京'{behind}"), "x\n", tools, format="pythonic", order_limit=1, max_calls=1)
    assert result.calls[0].voted.arguments == {"a": "京"}


def test_the_logprob_of_a_value_is_the_mean_of_its_tokens() -> None:
    text, tools = "[f(a='one two three', b=12345)]", lookup(tool("f", parameter("a", "str"), parameter("b", "int")))
    ids, size = tuple(synthetic().tokenizer.encode(f"x\n{text}")), len(synthetic().table.texts)
    engine = Weighted({ids: 1.0}, torch.full((size,), 1 / (size - 2)))  # all others together are as likely
    result = decode(engine, "x\n", tools, format="pythonic", max_calls=1, order_limit=1)
    assert [p.logprob for p in result.calls[0].voted.parameters] == pytest.approx([math.log(0.5)] * 2, abs=1e-3)


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5])
def test_a_value_at_its_limit_ends_with_a_whole_character(most: int) -> None:
    tools, texts = lookup(tool("f", parameter("a", "str"))), synthetic().table.texts
    assert not any("京".encode() in (text or b"") for text in texts)
    result = decode(Writer("x\n", "[f(a='" + "京" * 9), "x\n", tools, max_calls=1, max_value_tokens=most)
    value = result.calls[0].arguments["a"]
    assert value == "京" * len(value) and result.calls[0].candidates[0].text == f"f(a='{value}')"
    assert 1 <= len(value) <= most


def test_what_texts_share_ends_before_a_character_that_differs() -> None:
    for texts, shared in ((["xé", "xè"], "x"), (["é", "è"], ""), (["éa", "éb"], "é")):
        trie = Trie(synthetic().table, texts)
        assert trie.node().shared == shared.encode()


LITERALS = {"city": "'Rome'", "days": "3", "unit": "'celsius'", "price": "1.5"}


def plain(written: str) -> str:
    """A model that writes these values and no optional key."""
    if "GetWeather(" not in written:
        return "[GetWeather("
    *before, call = re.split(r"(?:\(|, )(?=\w+=)", written[written.index("GetWeather(") :])
    key, given = call.split("=", 1) if before else ("", "")
    wanted = LITERALS.get(key, "") + ")]"
    return wanted[len(given) :] if wanted.startswith(given) else ")]"


def test_confidence_in_what_is_printed() -> None:
    """A model whose first key depends on its place."""

    def continuation(written: str) -> str:
        return plain(written).replace("Rome", "Oslo" if "(city" in written else "Rome")

    def doubtful(**fields: Any) -> Any:
        engine = ScriptedEngine(synthetic().table.texts, continuation)
        fields |= {"format": "pythonic", "order_limit": 24, "max_value_tokens": 9, "draft_tokens": 0}
        result = decode(engine, PROMPTS[0], lookup(WEATHER), **fields)
        console = Console(file=io.StringIO(), width=120)
        show_result(console, "x", result, show_orders=False)
        return result.to_json("1")["calls"][0], console.file.getvalue()  # type: ignore[attr-defined]

    call, shown = doubtful()
    assert call["orders_used"] == 24
    assert [p["share"] for p in call["parameters"]] == [0.75, 1.0, 1.0, 1.0]
    for p in call["parameters"]:
        score = min(1.0, p["share"] * math.exp(p["logprob"] * math.sqrt(p["tokens"])))
        assert p["confidence"] == ARGUMENT.probability(score) and "needs_confirmation" not in p
    assert call["parameters"][0]["runner_up"] is None  # the other value is cut off
    assert 0 < call["confidence"] < call["name_confidence"] <= 1
    assert "confirmation" not in shown and "the vote over 24 candidates" in shown

    least = min(p["confidence"] for p in call["parameters"][1:])
    call, shown = doubtful(min_confidence=least)
    doubted = [p["confidence"] < least for p in call["parameters"]]
    assert [p["needs_confirmation"] for p in call["parameters"]] == doubted and doubted[0]
    lines = [line for line in shown.splitlines() if "confirmation" in line]
    assert len(lines) == 1 + call["needs_confirmation"] and "city" in lines[-1]
