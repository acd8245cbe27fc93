"""The reference model's chat template: BFCL's prompt, calls in the format pythonic, one clear line on errors."""

import json
from typing import Any

import pytest

from tooldecoding.chat.probe import chat_prompt
from tooldecoding.chat.prompts import BFCL_ENDING, bfcl_prompt
from tooldecoding.errors import PromptError
from tooldecoding.models.loading import load_tokenizer

TOKENIZER = load_tokenizer("reference")
TOOLS = [
    {"type": "function", "function": {"name": name, "description": "Größe <b>", "parameters": {"type": "object"}}}
    for name in ("f", "g.h")
]
USER = {"role": "user", "content": "Hello."}


def prompt(messages: list[dict[str, Any]]) -> str:
    return chat_prompt(TOKENIZER, messages, TOOLS)


def asked(given: object, *more: dict[str, Any]) -> dict[str, Any]:
    """Calls, the first of f."""
    first = {"id": "1", "type": "function", "function": {"name": "f", "arguments": given}}
    return {"role": "assistant", "content": None, "tool_calls": [first, *more]}


MALFORMED = [
    *("", "{", "[]", "{} {}", '{"a": 1,}', "{a: 1}", '{"a": "b}', '{"a": "\\u12"}', '{"a": 1}}', '{"a": NaN}', "{,}")
]
TOO_DEEP = '{"a": ' + "[" * 70 + "]" * 70 + "}"
NO_OBJECT = "the arguments of the call of f are not the text of one JSON object"


def test_a_dialogue_of_several_turns() -> None:
    messages = [
        {"role": "system", "content": "Be\nbrief."},
        USER,
        asked({"city": "Paris"}, {"name": "g.h", "arguments": '{"n": [1, true, null]}'}),
        {"role": "tool", "tool_call_id": "1", "content": '{\n "sky": "blue"\n}'},
        {"role": "tool", "tool_call_id": "2", "content": "it's 20"},
        {"role": "assistant", "content": "It is blue."},
        {"role": "user", "content": [{"type": "text", "text": "And"}, {"type": "text", "text": " now?"}]},
    ]
    lines = [
        "System: Be brief.",
        "User: Hello.",
        "Calls: [f(city='Paris'), g.h(n=[1, True, None])]",
        'Results: {  "sky": "blue" }',
        'Results: "it\'s 20"',
        "AI: It is blue.",
        "User: And now?",
    ]
    functions = json.dumps([tool["function"] for tool in TOOLS], indent=4, ensure_ascii=False)
    assert prompt(messages) == bfcl_prompt(functions, lines)
    history = TOKENIZER.apply_chat_template(messages, tools=TOOLS, tokenize=False)
    assert history + BFCL_ENDING == prompt(messages)


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([{"role": "critic", "content": "x"}], "unknown role critic; known: system, user, assistant, tool"),
        ([{"content": "x"}], "unknown role ; known"),
        ([USER, {"role": "system", "content": "x"}], "a system message must be the first message"),
        ([USER, {"role": "tool", "content": "x"}], "a tool message must follow the call whose result it is"),
        ([asked({}), *[{"role": "tool", "content": "x"}] * 2], "must follow the call"),
        ([asked({}), {"role": "tool"}], "a message of role tool needs a content"),
        ([{"role": "user", "content": 3}], "a message of role user needs a content"),
        ([{"role": "user", "content": [{"type": "image"}]}], "texts only; a message of role user has another part"),
        ([{"role": "assistant", "content": None}], "a message of role assistant needs a content"),
        ([asked({}, {"type": "function"})], "a tool call needs a function with a name"),
        *(([USER, asked(text)], NO_OBJECT) for text in (*MALFORMED, TOO_DEEP)),
        ([asked([1])], "the arguments of the call of f are not"),
        ([asked({"a": json.loads("[" * 70 + "]" * 70)})], "nested deeper than 64 levels"),
    ],
)
def test_wrong_messages(messages: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(PromptError, match=message) as error:
        prompt(messages)
    assert "\n" not in str(error.value)
