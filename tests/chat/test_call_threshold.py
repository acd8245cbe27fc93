"""The threshold of a call under ``auto``: whether a tool fits is asked beside the writing, where a call is opened."""

import math
from typing import Any

import pytest
from chat_models import HERMES, call, decoder_of, random_logits, says

from tooldecoding.chat.reply import ChatMessage
from tooldecoding.errors import ConfigError
from tooldecoding.testing import SyntheticDecoder
from tools import documented

TOOLS = [documented("weather", ["city"], city={"type": "string"}), documented("stop")]
MESSAGES = [{"role": "user", "content": "The weather in Rome?"}]
CALL = call("weather", city="Rome")


@pytest.fixture
def decoder() -> SyntheticDecoder:
    return decoder_of(HERMES, max_value_tokens=30)


def ask(decoder: SyntheticDecoder, fits: str, written: str = CALL, choice: str = "auto", **options: Any) -> ChatMessage:
    """The reply of a model that writes something by itself, and answers both questions."""

    def answer(prompt: str) -> str:
        if prompt.endswith("Answer yes or no.\n"):
            return fits
        return "I cannot see that." if prompt.endswith("without them.\n") else written

    says(decoder, answer)
    whole = decoder.chat(MESSAGES, TOOLS, choice, **{"call_threshold": 0.0, **options})
    *_, streamed = decoder.stream(MESSAGES, TOOLS, choice, **{"call_threshold": 0.0, **options})
    assert isinstance(streamed, ChatMessage) and streamed.result.text == whole.result.text
    return whole


@pytest.mark.parametrize("fits", ["Yes", "yes, one can", " YES."])
def test_a_call_is_made_where_a_tool_fits(decoder: SyntheticDecoder, fits: str) -> None:
    reply = ask(decoder, fits)
    assert [made.arguments for made in reply.calls] == [{"city": "Rome"}] and not reply.content
    assert reply.result.call_log_odds is not None and reply.result.call_log_odds > 0
    assert reply.result.to_json("1")["call_log_odds"] == round(reply.result.call_log_odds, 3)


@pytest.mark.parametrize("fits", ["No", "Nothing", "Y"])
@pytest.mark.parametrize(
    ("written", "content"), [(CALL, "I cannot see that."), ("Let me see. " + CALL, "Let me see. "), ("Hi.", "Hi.")]
)
def test_else_the_model_answers_without_tools(
    decoder: SyntheticDecoder, fits: str, written: str, content: str
) -> None:
    reply = ask(decoder, fits, written)
    assert not reply.calls and reply.content == content
    odds = reply.result.call_log_odds
    assert odds is None if written == "Hi." else odds is not None and odds < 0


@pytest.mark.parametrize(("choice", "threshold"), [("auto", None), ("required", 0.0)])
def test_nobody_else_is_held_to_it(decoder: SyntheticDecoder, choice: str, threshold: float | None) -> None:
    reply = ask(decoder, "No", choice=choice, call_threshold=threshold)
    assert [made.name for made in reply.calls] == ["weather"] and reply.result.call_log_odds is None


def test_a_template_that_does_not_go_on_behind_its_prompt_asks_nothing() -> None:
    reply = ask(decoder_of("{{ messages | length }}" + HERMES, max_value_tokens=30), "No")
    assert reply.calls and reply.result.call_log_odds is None


@pytest.mark.parametrize("seed", range(6))
def test_the_question_changes_no_call(decoder: SyntheticDecoder, seed: int) -> None:
    random_logits(decoder, seed)
    own, low, high = (
        decoder.chat(MESSAGES, TOOLS, "auto", call_threshold=threshold, max_text_tokens=30).result
        for threshold in (None, -1e9, 1e9)
    )
    assert low.text == own.text and (low.call_log_odds is None) == (not own.calls)
    assert not high.calls and (high.text == own.text or own.calls)


@pytest.mark.parametrize("wrong", [math.inf, math.nan, "low"])
def test_a_threshold_is_a_number(decoder: SyntheticDecoder, wrong: Any) -> None:
    with pytest.raises(ConfigError, match="call_threshold: expected"):
        decoder.chat(MESSAGES, TOOLS, "auto", call_threshold=wrong)
