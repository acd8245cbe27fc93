"""What a decode does with a model whose wishes are known: names, values, votes, optional keys, modes, counters."""

import re
from typing import Any

import pytest

from lookup.dictionary import LookupDictionary
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tooldecoding.testing import Continuation, ScriptedEngine, SyntheticDecoder
from tools import lookup, parameter, tool

TOKENIZER = byte_level_tokenizer()
DECODER = SyntheticDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER)
FOUR = tool("Send", *(parameter(k, "str") for k in ("to", "subject", "body", "date")))
PROMPT = "User: go on\nAPI-Request: "


def script(name: str, values: dict[str, str], then: str = "]") -> Continuation:
    """A model that wants to call ``name`` with these literals, optional keys in this sequence."""

    def pairs(left: list[str]) -> str:
        return ", ".join(f"{key}={values[key]}" for key in left) + ")" + then

    def continuation(written: str) -> str:
        if f"{name}(" not in written:
            begun = re.search(r"(?:\[|\), )([\w]*)$", written)
            return (name[len(begun[1]) :] if begun else "[" + name) + "(" + pairs(list(values))
        call = written[written.rindex(f"{name}(") + len(name) + 1 :]
        keys = re.findall(r"(?:^|, )(\w+)=", call)
        left = [key for key in values if key not in keys]
        if keys:
            rest = values[keys[-1]] + (", " if left else "") + pairs(left)
            given = call.rsplit(f"{keys[-1]}=", 1)[-1]
            if rest.startswith(given):
                return rest[len(given) :]
        begun = call.rsplit(", ", 1)[-1]  # the text ends inside a key that is being injected
        first = next((key for key in left if key.startswith(begun)), None)
        return pairs(sorted(left, key=lambda key: key != first))[len(begun) :] if first else ""

    return continuation


def decode(
    tools: LookupDictionary, continuation: Continuation, can_drop: bool = True, prompt: str = PROMPT, **fields: Any
) -> DecodeResult:
    engine = ScriptedEngine(DECODER.table.texts, continuation, can_drop)
    DECODER.engine = engine
    [result] = DECODER.run([Request(prompt, tools, DecodeOptions(**fields))])
    return result


VALUES = {"to": "'Bob'", "subject": "'New York'", "body": "'see you'", "date": "'2023-01-02'"}


@pytest.mark.parametrize("can_drop", [True, False])
@pytest.mark.parametrize("order_limit", [1, 4, 12])
def test_all_orders_give_the_scripted_call(order_limit: int, can_drop: bool) -> None:
    result = decode(lookup(FOUR), script("Send", VALUES), can_drop, order_limit=order_limit)
    assert result.text == "[Send(to='Bob', subject='New York', body='see you', date='2023-01-02')]"
    assert [p.votes for p in result.calls[0].voted.parameters] == [order_limit] * 4
    assert len({c.order for c in result.calls[0].candidates}) == order_limit
    for candidate in result.calls[0].candidates:  # the boundaries are the tokenizer's, too
        assert list(candidate.token_ids) == TOKENIZER.encode(f" [{candidate.text}")


def test_a_long_prompt_is_computed_once_before_orders_part() -> None:
    def cost(repeats: int, order_limit: int) -> tuple[int, int]:
        prompt = "User: " + "go on, please. " * repeats
        options = {"order_limit": order_limit, "draft_tokens": 0}
        counters = decode(lookup(FOUR), script("Send", VALUES), prompt=prompt, **options).counters
        return counters.forward_passes, counters.positions

    for order_limit in (4, 24):
        extra = {cost(n, order_limit)[1] - cost(n, 1)[1] for n in (20, 40, 80)}
        assert len(extra) == 1  # what further orders add does not depend on the prompt
        assert cost(40, order_limit)[0] == cost(40, 1)[0] + 1


def test_the_vote_outweighs_a_value_that_depends_on_its_place() -> None:
    def continuation(written: str) -> str:
        wrong = script("Send", VALUES | {"to": "'Eve'"})
        return (wrong if re.search(r"\(to=", written) else script("Send", VALUES))(written)

    result = decode(lookup(FOUR), continuation, order_limit=24)
    [to] = [p for p in result.calls[0].voted.parameters if p.key == "to"]
    assert (to.value, to.votes, to.share) == ("Bob", 18, 0.75)
    assert decode(lookup(FOUR), continuation, order_limit=1).calls[0].voted.arguments["to"] == "Eve"


def test_parallel_calls() -> None:
    tools = lookup(tool("Add", parameter("x", "int")))

    def continuation(written: str) -> str:
        done = written.count("Add(") - 1
        value = ("1", "22", "3")[min(written.count("x=") - 1, 2)] if "x=" in written else "1"
        return (
            script("Add", {"x": value}, then=", Add(" if done < 2 else "]")(written) if "Add(" in written else "[Add("
        )

    result = decode(tools, continuation, format="pythonic")
    assert [c.voted.arguments["x"] for c in result.calls] == [1, 22, 3]
    assert result.text == "[Add(x=1), Add(x=22), Add(x=3)]"
    assert decode(tools, continuation, format="pythonic", max_calls=2).text == "[Add(x=1), Add(x=22)]"
    assert len(decode(tools, continuation, format="api-bank").calls) == 1


def test_branches_are_released_also_without_a_call() -> None:
    for choice in ("none", "auto", "required"):
        engine = ScriptedEngine(DECODER.table.texts, lambda _: "no")
        released: list[int] = []
        engine.release = released.append  # type: ignore[method-assign]
        DECODER.engine = engine
        options = DecodeOptions(tool_choice=choice, max_text_tokens=3, order_limit=1, max_value_tokens=3)
        DECODER.run([Request(PROMPT, lookup(FOUR), options)])
        assert sorted(released) == list(range(engine.fork(0)))  # all ids before the next one, each once


def test_a_named_tool() -> None:
    tools = lookup(FOUR, tool("Stop"))
    assert decode(tools, script("Send", VALUES), tool_choice="Stop").text == "[Stop()]"


def test_a_value_without_an_end_is_closed_and_reported() -> None:
    result = decode(
        lookup(tool("Say", parameter("text", "str"))), script("Say", {"text": "'" + "la " * 500}), max_value_tokens=9
    )
    assert result.valid and result.calls[0].voted.parameters[0].truncated
    assert "'text'" in result.errors[0] and "limit of tokens" in result.errors[0]
    assert result.text.startswith("[Say(text='la la") and result.text.endswith("')]")
