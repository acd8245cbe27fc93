"""The threshold of a further call: asked beside the writing, with the calls so far as a JSON list."""

from dataclasses import replace
from typing import Any

import pytest

from lookup import extract
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.decoder import ToolDecoder
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tools import documented, sound

SHORT = {"type": "string", "maxLength": 3}  # no value is cut
TOOLS = extract([documented("book", ["days"], days=SHORT), documented("stop"), documented("go")])
PROMPTS = ["User: go\nCalls: ", "Book three days, then stop. ", "x"]


@pytest.fixture(scope="module", params=["llama-packed", "llama-batched", "mamba-batched"])
def decoder(request: pytest.FixtureRequest) -> ToolDecoder:
    shape, strategy = request.param.split("-")
    tokenizer = byte_level_tokenizer()
    return ToolDecoder(tiny_model(shape, len(tokenizer)), tokenizer, prompt_cache_mb=0, strategy=strategy)


def decoded(decoder: ToolDecoder, threshold: float | None, **fields: object) -> list[DecodeResult]:
    few: dict[str, Any] = {"order_limit": 2, "max_calls": 4, "tool_choice": "required"}
    options = DecodeOptions(**{**few, **fields}, next_call_threshold=threshold)
    return decoder.run([Request(prompt, TOOLS, options) for prompt in PROMPTS])


@pytest.mark.parametrize("call_format", ["hermes", "pythonic", "json-list"])
@pytest.mark.parametrize("choice", ["required", "auto", "book"])
def test_a_call_follows_where_its_log_odds_are_above_the_threshold(
    decoder: ToolDecoder, call_format: str, choice: str
) -> None:
    fields = {"format": call_format, "tool_choice": choice, "max_text_tokens": 8}
    every = decoded(decoder, -1e9, **fields)
    for alone, most in zip(decoded(decoder, None, **fields), every, strict=True):
        assert [str(c) for c in alone.calls] == [str(c) for c in most.calls][: len(alone.calls)]
    middle = sorted(odds for result in every for odds in result.next_call_log_odds)
    assert middle or choice == "auto"
    for threshold in (middle[len(middle) // 2], 1e9) if middle else ():
        for result, most in zip(decoded(decoder, threshold, **fields), every, strict=True):
            asked = result.next_call_log_odds
            assert all(odds > threshold for odds in asked[:-1])
            assert result.repeated or len(result.calls) in (4, sum(odds > threshold for odds in asked) + bool(asked), 0)
            assert [str(c) for c in result.calls] == [str(c) for c in most.calls][: len(result.calls)]
            assert result.to_json("1")["next_call_log_odds"] == [round(odds, 3) for odds in asked]
            assert asked == pytest.approx(most.next_call_log_odds[: len(asked)], abs=1e-3)


def test_no_call_is_asked_for_that_needs_the_result_of_an_earlier_one(decoder: ToolDecoder) -> None:
    text, called = SHORT, []
    for end in ("id", "name"):  # send needs what find returns, and find what send returns; or neither
        found = {"type": "object", "properties": {f"user_{end}": text}}
        find = documented("find", order_id=text) | {"outputSchema": found}
        send = documented("send", user_id=text) | {"output_parameters": {f"order_{end}": text}}
        options = DecodeOptions(order_limit=1, max_calls=4, tool_choice="required", format="hermes")
        options = replace(options, next_call_threshold=-1e9)
        results = decoder.run(
            [Request(prompt * n, extract([find, send]), options) for prompt in PROMPTS for n in (1, 2, 3)]
        )
        assert all(sound(result) for result in results)
        called.append([[call.name for call in result.calls] for result in results])
    scalar = {"type": "string", "description": "An id."}
    assert extract([documented("a") | {"outputSchema": scalar}])["a"].returns == ()
    for allowed, names in zip(*called, strict=True):
        assert len(set(allowed)) == 1 and names[: len(allowed)] == allowed
    assert any(len(set(names)) == 2 for names in called[1])
