"""What orders leave behind: the branch that a further call reads, log-probabilities, whole characters, who is fed."""

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from test_law_valid_calls import of_few_positions

from lookup.values.grammar import value_grammar
from synthetic import Writer, decode, synthetic
from tiny_models import byte_level_tokenizer
from tooldecoding.calls.value_end import ValueState
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.testing import ScriptedEngine, SyntheticDecoder
from tooldecoding.tokens.trie import Trie
from tools import lookup, parameter, tool

FURTHER = tool("g")


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
        (
            "ab",
            lambda key, first: "1" if (key == "a") == first else "1.0",
            "[f(a=1, b=1)",
        ),  # and of those with equal votes
        ("abc", lambda key, first: "2.5" if first else "1.5", "[f(a=1.5, b=1.5, c=1.5)"),  # no order wrote what won
    ],
)
def test_a_further_call_reads_the_voted_one_nearest_to_documentation_order(keys: str, literal: Any, good: str) -> None:
    tools = lookup(tool("f", *(parameter(key, "float") for key in keys)), FURTHER)
    for seed in range(3):
        engine = ScriptedEngine(synthetic().table.texts, reads(good, literal))
        result = decode(engine, "x\n", tools, format="pythonic", order_limit=6, max_calls=2, seed=seed)
        assert [call.name for call in result.calls] == ["f", "g"], result.text


class Torn(Writer):
    """A model that likes what it writes as much as a token that no value has."""

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        """See SyntheticEngine."""
        found = super().next_logits(tokens).logits.clone()
        found[self._texts.index(None)] = found.max()
        return NextTokenLogits(torch.where(found < found.max(), -1e4, found))


def test_the_logprob_of_a_value_is_the_mean_of_its_tokens() -> None:
    text, tools = "[f(a='one two three', b=12345)]", lookup(tool("f", parameter("a", "str"), parameter("b", "int")))
    result = decode(Torn("x\n", text), "x\n", tools, format="pythonic", max_calls=1, order_limit=1)
    assert [p.logprob for p in result.calls[0].voted.parameters] == pytest.approx([math.log(0.5)] * 2, abs=1e-3)


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5])
def test_a_value_at_its_limit_ends_with_a_whole_character(most: int) -> None:
    tools, texts = lookup(tool("f", parameter("a", "str"))), synthetic().table.texts
    assert not any("京".encode() in (text or b"") for text in texts)
    result = decode(Writer("x\n", "[f(a='" + "京" * 9), "x\n", tools, max_calls=1, max_value_tokens=most)
    value = result.calls[0].arguments["a"]
    assert value == "京" * len(value) and result.calls[0].candidates[0].text == f"f(a='{value}')"
    assert 1 <= len(value) <= most


@pytest.mark.parametrize(
    ("format", "piece", "kept"),
    [
        ("pythonic", "a')]", "a'"),
        ("pythonic", "a', b", "a'"),
        ("pythonic", "a')x", None),
        ("qwen-xml", "a</tool_call>", None),
        ("qwen-xml", "a</parameter>b", None),
    ],
)
def test_what_may_stand_in_and_behind_a_value(format: str, piece: str, kept: str | None) -> None:
    state = ValueState(value_grammar(parameter("a", "str"), CALL_FORMATS[format].notation), CALL_FORMATS[format])
    step = state(piece.encode())
    assert (step and step.value) == kept and (step is None or step.closed)


def test_what_texts_share_ends_before_a_character_that_differs() -> None:
    for texts, shared in ((["xé", "xè"], "x"), (["é", "è"], ""), (["éa", "éb"], "é")):
        trie = Trie(synthetic().table, texts)
        assert trie.shared(trie.all) == shared.encode()


def test_no_call_follows_where_the_context_has_no_room() -> None:
    decoder = SyntheticDecoder(of_few_positions(256), byte_level_tokenizer())
    prompt, tools = "x\n", lookup(*(tool(f"f{number}") for number in range(10, 99)))
    text = "[" + ", ".join(f"{name}()" for name in tools) + "]"
    decoder.engine = Writer(prompt, text)
    [result] = decoder.run([Request(prompt, tools, DecodeOptions(format="pythonic", max_calls=500))])
    assert 3 < len(result.calls) < 100 and result.valid
    assert max(len(branch.tokens) for branch in decoder.engine._branches.values()) <= 256
