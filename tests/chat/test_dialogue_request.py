"""A dialogue of turns in a model's chat template: its messages, and how the model goes on with what it said."""

from typing import Any

import pytest
from chat_models import HERMES, decoder_of

from tooldecoding.batches.requests import make_request
from tooldecoding.chat.dialogue import ToolRequest, ToolResponse, Turn, Utterance
from tooldecoding.chat.dialogue_request import continued, openai_messages
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import read_messages
from tooldecoding.errors import PromptError
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options.decode_command import DecodeCommand

PYTHONIC = CALL_FORMATS["pythonic"]
TOOL = {"name": "f", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
DOCUMENTATION = Documentation.read([TOOL], "d")
TURNS: tuple[Turn, ...] = (
    Utterance("user", "Is it warm?"),
    ToolRequest("f", {"city": "Rome"}),
    ToolResponse("f", {"degrees": 30}),
    Utterance("assistant", "Yes."),
    Utterance("user", "And in Oslo?"),
)


def text(turns: tuple[Turn, ...], tokenizer: Any) -> str:
    return str(make_request(turns, DOCUMENTATION, DecodeCommand(template="chat"), tokenizer).prompt)


def test_a_dialogue_becomes_messages() -> None:
    turns = (
        Utterance("user", "One."),
        Utterance("user", "Two."),
        Utterance("assistant", "I look."),
        ToolRequest("f", {"city": "a"}),
        ToolRequest("g", {}),
        ToolResponse("g", [1]),
        ToolResponse("f", "done"),
        ToolRequest("f", {"city": "b"}),
        ToolResponse("f", None),
    )
    messages = read_messages(openai_messages(turns)).messages
    assert [m.role for m in messages] == ["user", "assistant", "tool", "tool", "assistant", "tool"]
    assert messages[0].content == "One.\nTwo."
    assert messages[1].content == "I look." and [c.arguments for c in messages[1].calls] == [{"city": "a"}, {}]
    assert [m.content for m in messages[2:]] == ["done", "[1]", "", "null"]


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        ((TURNS[0], TURNS[2]), "a result of 'f' without a call before that it answers"),
        ((*TURNS[:3], TURNS[2]), "a result of 'f' without a call before that it answers"),
        ((*TURNS[:2], TURNS[4]), "the dialogue's messages.2.: the call .* of 'f' in .* has no result"),
        (TURNS[:2], "the call .* of 'f' in .* has no result"),
    ],
)
def test_calls_and_results_that_do_not_fit(turns: tuple[Turn, ...], said: str) -> None:
    with pytest.raises(PromptError, match=said):
        text(turns, decoder_of(HERMES).tokenizer)


def test_a_turn_goes_on_behind_open_thinking() -> None:
    assert continued("<turn>", "Well.", PYTHONIC) == "<turn>Well."
    assert continued("<turn><think>\n", "Well.", PYTHONIC) == "<turn><think>\n</think>\n\nWell."
    assert continued("<|start|>assistant", "Well.", CALL_FORMATS["harmony"]).endswith("Well.<|end|><|start|>assistant")
