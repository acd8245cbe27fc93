"""What a decode does with a model whose wishes are known: names, values, votes, optional keys, modes, counters."""

import re
from typing import Any

import pytest

from lookup.dictionary import LookupDictionary
from lookup.errors import DocumentationError
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.errors import ConfigError, PromptError
from tooldecoding.options import DecodeOptions
from tooldecoding.result import DecodeResult
from tooldecoding.testing import Continuation, ScriptedEngine, SyntheticDecoder
from tools import WEATHER, lookup, parameter, tool

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


def test_the_end_of_an_enum_member_merges_with_what_follows() -> None:
    values = {"city": "'Rome'", "days": "'3'", "unit": "'celsius'", "price": "'1.5'"}
    result = decode(lookup(WEATHER), script("GetWeather", values))
    for candidate in result.calls[0].candidates:
        assert list(candidate.token_ids) == TOKENIZER.encode(f" [{candidate.text}")


def test_passes_are_the_free_tokens_of_the_longest_branch_whatever_the_number_of_orders() -> None:
    single = decode(lookup(FOUR), script("Send", VALUES), order_limit=1, draft_tokens=0).counters
    assert single.forward_passes == single.free_tokens + single.constrained_tokens
    assert single.constrained_tokens == 0
    for order_limit in (4, 12, 24):
        counters = decode(lookup(FOUR), script("Send", VALUES), order_limit=order_limit, draft_tokens=0).counters
        assert counters.forward_passes == single.forward_passes + 1  # the prompt before orders part
    greedy = len(TOKENIZER.encode("[Send(to='Bob', subject='New York', body='see you', date='2023-01-02')]"))
    assert single.forward_passes < 0.8 * greedy


def test_orders_that_share_keys_compute_them_once() -> None:
    counters = {
        n: decode(lookup(FOUR), script("Send", VALUES), order_limit=n, draft_tokens=0).counters for n in (1, 24)
    }
    prompt = len(TOKENIZER.encode(PROMPT)) - 1
    one, all_orders = (counters[n].positions - prompt for n in (1, 24))
    # 24 orders of 4 keys have 4 + 12 + 24 + 24 distinct beginnings instead of 96
    assert all_orders < 24 * one * 64 / 96 * 1.05


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


def test_each_choice_among_names_costs_one_pass() -> None:
    others = lookup(FOUR, tool("SendAll", parameter("to", "str")), tool("Stop"))
    result = decode(others, script("Send", VALUES), order_limit=1, draft_tokens=0)
    assert result.calls[0].voted.name == "Send"
    assert result.counters.forward_passes == result.counters.free_tokens + result.counters.constrained_tokens
    longer = decode(others, script("SendAll", {"to": "'Bob'"}))
    assert longer.text == "[SendAll(to='Bob')]"
    assert decode(others, script("Stop", {})).text == "[Stop()]"


def test_the_vote_outweighs_a_value_that_depends_on_its_place() -> None:
    def continuation(written: str) -> str:
        wrong = script("Send", VALUES | {"to": "'Eve'"})
        return (wrong if re.search(r"\(to=", written) else script("Send", VALUES))(written)

    result = decode(lookup(FOUR), continuation, order_limit=24)
    [to] = [p for p in result.calls[0].voted.parameters if p.key == "to"]
    assert (to.value, to.votes, to.share) == ("Bob", 18, 0.75)
    assert decode(lookup(FOUR), continuation, order_limit=1).calls[0].voted.arguments["to"] == "Eve"


def test_optional_keys_are_the_models_choice() -> None:
    tools = lookup(WEATHER)
    required = {"city": "'Rome'", "days": "3", "unit": "'celsius'", "price": "1.5"}
    plain = decode(tools, script("GetWeather", required), format="pythonic")
    assert plain.text == "[GetWeather(city='Rome', days=3, unit='celsius', price=1.5)]"
    more = required | {"hourly": "True", "tags": "['a', 'b']"}
    full = decode(tools, script("GetWeather", more), format="pythonic")
    assert full.text == "[GetWeather(city='Rome', days=3, unit='celsius', price=1.5, tags=['a', 'b'], hourly=True)]"
    assert full.calls[0].voted.arguments["hourly"] is True


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


def test_auto_writes_text_until_the_opener() -> None:
    call = script("Send", VALUES)

    def continuation(written: str) -> str:
        text = "Let me see: "
        behind = written[len(PROMPT) :] if written.startswith(PROMPT) else ""
        return call(written) if "[" in behind else text[len(behind) :] + "[Send("

    result = decode(lookup(FOUR), continuation, tool_choice="auto")
    assert result.text.startswith("Let me see: [Send(to='Bob'")


def test_auto_may_write_no_call() -> None:
    text = "No tool is needed here, it is done."
    continuation = lambda written: text[len(written.rsplit("Request:")[-1].lstrip()) :]  # noqa: E731
    silent = decode(lookup(FOUR), continuation, tool_choice="auto", max_text_tokens=9)
    assert not silent.calls and silent.valid and len(silent.text) > 8 and text.startswith(silent.text)


def test_none_never_calls() -> None:
    result = decode(lookup(FOUR), lambda _: "[", tool_choice="none", max_text_tokens=9)
    assert result.text == "[" * 9 and not result.calls


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
    with pytest.raises(PromptError, match="unknown tool_choice 'Halt'; known: auto, required, none, Send, Stop"):
        decode(tools, script("Send", VALUES), tool_choice="Halt")


def test_a_value_without_an_end_is_closed_and_reported() -> None:
    result = decode(
        lookup(tool("Say", parameter("text", "str"))), script("Say", {"text": "'" + "la " * 500}), max_value_tokens=9
    )
    assert result.valid and result.calls[0].voted.parameters[0].truncated
    assert "'text'" in result.errors[0] and "limit of tokens" in result.errors[0]
    assert result.text.startswith("[Say(text='la la") and result.text.endswith("')]")


def test_free_values_are_dropped_by_their_type_when_voting() -> None:
    tools = lookup(tool("Add", parameter("x", "int"), parameter("y", "int")))

    def continuation(written: str) -> str:
        return script("Add", {"x": "'one'" if "y=" not in written else "1", "y": "2"})(written)

    result = decode(tools, continuation, format="pythonic", value_constraint="free")
    assert result.calls[0].voted.arguments == {"x": 1, "y": 2} and result.valid
    alone = decode(tools, continuation, format="pythonic", value_constraint="free", order_limit=1)
    assert not alone.valid and "'x'" in alone.errors[0]


def test_several_prompts_with_tools_of_their_own() -> None:
    decoder = ToolDecoder(tiny_model("llama", len(TOKENIZER)), TOKENIZER, prompt_cache_mb=0)
    requests = [
        Request("a\n", lookup(FOUR), DecodeOptions(max_value_tokens=5)),
        Request("bb bb\n", lookup(WEATHER), DecodeOptions(max_value_tokens=5, format="pythonic", max_calls=1)),
    ]
    together = decoder.run(requests)
    alone = [decoder.run([r])[0] for r in requests]
    assert [r.text for r in together] == [r.text for r in alone]
    assert [r.counters.positions for r in together] == [r.counters.positions for r in alone]
    assert [r.counters.forward_passes for r in together] == [r.counters.forward_passes for r in alone]
    assert decoder.run([]) == []


def test_a_prompt_longer_than_the_context_says_by_how_much() -> None:
    model = tiny_model("llama", len(TOKENIZER))
    model.config.max_position_embeddings = 100
    decoder = ToolDecoder(model, TOKENIZER)
    with pytest.raises(PromptError, match=r"200 tokens .* context is 100 tokens: \d+ too many"):
        decoder.decode("a " * 100, tools=lookup(FOUR))
    mixed = lookup(tool("Mix", parameter("a", "str"), parameter("b", "float"), parameter("c", "str", enum=("x", "yy"))))
    for length in (2, 30, *range(50, 100)):
        ids = [5] * length
        for options in (DecodeOptions(order_limit=2), DecodeOptions(format="pythonic", order_limit=2)):
            for tools in (lookup(FOUR), mixed):
                try:
                    [result] = decoder.run([Request(ids, tools, options)])
                except PromptError:
                    continue
                written = [c.token_ids for c in result.calls[0].candidates] + [result.token_ids]
                assert length + max(map(len, written)) <= 100


def test_wrong_input() -> None:
    with pytest.raises(PromptError, match="prompt is empty"):
        DECODER.decode("", tools=lookup(FOUR))
    with pytest.raises(PromptError, match="no tool to call"):
        DECODER.decode("x", tools=lookup())
    with pytest.raises(ConfigError, match="order_limit: expected a whole number of 1 or more, got 0"):
        DECODER.decode("x", tools=lookup(FOUR), order_limit=0)
    with pytest.raises(ConfigError, match=r"format: expected 'auto', 'api-bank', 'pythonic', .* got 'json'"):
        DECODER.decode("x", tools=lookup(FOUR), format="json")
    with pytest.raises(DocumentationError, match=r"'f\(' is the beginning of 'f\(x\)\('"):
        decode(lookup(tool("f"), tool("f(x)")), script("f", {}))


def test_the_json_object() -> None:
    row = decode(lookup(FOUR), script("Send", VALUES), order_limit=2).to_json("7")
    texts = ["format", "text", "thinking", "content"]
    assert list(row) == ["id", *texts, "calls", "valid", "errors", "repeated", "candidates", "counters"]
    assert row["calls"][0]["arguments"]["to"] == "Bob"
    assert {"name", "value", "votes", "share", "logprob"} <= set(row["calls"][0]["parameters"][0])
    assert row["candidates"][1]["order"] != row["candidates"][0]["order"]
    counters = {"forward_passes", "positions", "forced_tokens", "constrained_tokens", "free_tokens", "cache_bytes"}
    assert counters | {"seconds"} <= set(row["counters"])
