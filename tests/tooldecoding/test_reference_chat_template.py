"""The reference model's chat template: BFCL's prompt, calls in the format pythonic, one clear line on errors."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooldecoding.chat.dialogue_request import openai_messages
from tooldecoding.errors import PromptError
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.models.loading import load_tokenizer
from tooldecoding.prompts.dialogue import ToolRequest, ToolResponse, Turn, Utterance, dialogue_lines
from tooldecoding.prompts.prompts import BFCL_ENDING, BFCL_LABELS, bfcl_prompt, chat_prompt, shows_tools

TOKENIZER = load_tokenizer("reference")
PYTHONIC = CALL_FORMATS["pythonic"]
TOOLS = [
    {"type": "function", "function": {"name": name, "description": "Größe <b>", "parameters": {"type": "object"}}}
    for name in ("f", "g.h")
]
USER = {"role": "user", "content": "Hello."}

texts = st.text(st.characters(exclude_categories=["Cs"])) | st.text(
    "\"'\\/bfnrtu0{}[],: \n\r\t\x00\x7f\u2028é\U0001f600"
)
scalars = texts | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=8)
names = st.from_regex(r"[a-z_]{1,8}(\.[a-z]{1,4})?", fullmatch=True)
arguments = st.dictionaries(names, values, max_size=4)


def is_no_json(value: object) -> bool:
    """Whether a message can say that a result is this value: a text that looks like JSON is taken for JSON."""
    if not isinstance(value, str):
        return True
    try:
        json.loads(value)
    except ValueError:
        return value.strip()[:1] + value.strip()[-1:] not in ("{}", "[]", '""')
    return False


spoken = st.builds(Utterance, st.sampled_from(["user", "assistant"]), texts.filter(bool))
exchanges = st.builds(
    lambda name, given, result: [ToolRequest(name, given), ToolResponse(name, result)],
    names,
    arguments,
    values.filter(is_no_json),
)
dialogues = st.lists(spoken.map(lambda turn: [turn]) | exchanges, min_size=1, max_size=5)


def prompt(messages: list[dict[str, Any]], tools: list[dict[str, Any]] = TOOLS) -> str:
    return chat_prompt(TOKENIZER, messages, tools)


def functions(tools: list[dict[str, Any]]) -> str:
    return json.dumps([tool["function"] for tool in tools], indent=4, ensure_ascii=False)


def asked(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def written(name: str, given: object) -> dict[str, Any]:
    return {"id": "1", "type": "function", "function": {"name": name, "arguments": given}}


@given(st.none() | texts, dialogues)
def test_dialogues_are_written_as_in_training(system: str | None, exchanged: list[list[Turn]]) -> None:
    turns: list[Turn] = [] if system is None else [Utterance("system", system)]
    for turn in itertools.chain.from_iterable(exchanged):
        speaker = getattr(turn, "speaker", None)
        if speaker is None or not turns or speaker != getattr(turns[-1], "speaker", None):  # else it is one message
            turns.append(turn)
    lines = dialogue_lines(turns, PYTHONIC, BFCL_LABELS)
    assert prompt(openai_messages(turns)) == bfcl_prompt(functions(TOOLS), lines)


@given(st.lists(st.tuples(names, arguments), min_size=1, max_size=3), st.sampled_from([dict, json.dumps]))
def test_calls_are_those_of_the_format(calls: list[tuple[str, dict[str, Any]]], given: Any) -> None:
    text = prompt([USER, asked(*(written(name, given(pairs)) for name, pairs in calls))])
    line = PYTHONIC.render([Call(name, pairs) for name, pairs in calls])
    assert text.endswith(f"\nUser: Hello.\nCalls: {line}\nCalls: ")


@given(arguments, st.sampled_from([{"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}]))
def test_arguments_as_text_may_be_spaced_and_escaped_in_any_way(pairs: dict[str, Any], style: dict[str, Any]) -> None:
    texts = (json.dumps(pairs, **style), json.dumps(pairs).replace("/", "\\/"))
    for text in texts:
        assert prompt([USER, asked(written("f", text))]) == prompt([USER, asked(written("f", pairs))])


@given(texts | st.recursive(st.just("[1]"), lambda inner: inner.map(lambda text: f"[{text}]"), max_leaves=3))
def test_text_that_is_no_json_object_is_refused(text: str) -> None:
    try:
        is_object = isinstance(json.loads(text), dict)
    except ValueError:
        is_object = False
    if not is_object:
        with pytest.raises(PromptError, match="not the text of one JSON object"):
            prompt([USER, asked(written("f", text))])


@pytest.mark.parametrize(
    "text",
    ["", "{", "}", "[]", "1", '"a"', "{} {}", '{"a": 1,}', '{"a" 1}', '{"a": }', '{"a": [1,]}', '{"a": [1 2]}',
     "{a: 1}", '{"a": nope}', '{"a": "b}', '{"a": "\\x"}', '{"a": "\\u12"}', '{"a": "\\u+123"}', '{"a": {]}',
     '{"a": 1}}', '{"a": 1_0}', '{"a": NaN}', '{"a": "b" "c"}', '{"a": [}', '{,}',
     '{"a": ' + "[" * 70 + "]" * 70 + "}"],
)  # fmt: skip
def test_malformed_arguments(text: str) -> None:
    with pytest.raises(PromptError, match="the arguments of the call of f are not the text of one JSON object"):
        prompt([USER, asked(written("f", text))])


def test_a_dialogue_of_several_turns() -> None:
    messages = [
        {"role": "system", "content": "Be\nbrief."},
        USER,
        asked(written("f", {"city": "Paris"}), {"name": "g.h", "arguments": '{"n": [1, true, null]}'}),
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
    assert prompt(messages) == bfcl_prompt(functions(TOOLS), lines)
    history = TOKENIZER.apply_chat_template(messages, tools=TOOLS, tokenize=False)
    assert history + BFCL_ENDING == prompt(messages)


@pytest.mark.parametrize("result", [{"a": [1, None]}, [1, "x"], 20, 2.5, True, [], ""])
def test_results_that_are_no_texts(result: object) -> None:
    text = prompt([USER, asked(written("f", {})), {"role": "tool", "content": result}])
    assert text.endswith(f"\nResults: {json.dumps(result)}\nCalls: ")


def test_without_tools_it_is_a_plain_chat() -> None:
    messages = [{"role": "system", "content": "Be brief."}, USER, {"role": "assistant", "content": "Hi."}, USER]
    assert prompt(messages, []) == "System: Be brief.\nUser: Hello.\nAI: Hi.\nUser: Hello.\nAI: "


@given(texts)
def test_one_token_ends_every_turn(text: str) -> None:
    (newline,) = [n for n in range(len(TOKENIZER)) if TOKENIZER.decode([n]).endswith("\n")]
    for answer in (PYTHONIC.render([Call("f", {"a": text})]), "None of these functions can do that."):
        ids = TOKENIZER.encode(answer + "\n", add_special_tokens=False)
        assert ids[-1] == newline and newline not in ids[:-1]


def test_functions_are_shown_without_their_wrapper() -> None:
    bare = [tool["function"] for tool in TOOLS]
    assert prompt([USER], bare) == prompt([USER], TOOLS) == bfcl_prompt(functions(TOOLS), ["User: Hello."])
    assert shows_tools(TOKENIZER)


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([{"role": "critic", "content": "x"}], "unknown role critic; known: system, user, assistant, tool"),
        ([{"content": "x"}], "unknown role ; known"),
        ([USER, {"role": "system", "content": "x"}], "a system message must be the first message"),
        ([USER, {"role": "tool", "content": "x"}], "a tool message must follow the call whose result it is"),
        ([asked(written("f", {})), USER, {"role": "tool", "content": "x"}], "must follow the call"),
        ([asked(written("f", {})), *[{"role": "tool", "content": "x"}] * 2], "must follow the call"),
        ([asked(written("f", {})), {"role": "tool"}], "a message of role tool needs a content"),
        ([{"role": "user"}], "a message of role user needs a content"),
        ([{"role": "user", "content": 3}], "a message of role user needs a content"),
        ([{"role": "user", "content": [{"type": "image"}]}], "texts only; a message of role user has another part"),
        ([{"role": "assistant", "content": None}], "a message of role assistant needs a content"),
        ([asked({"type": "function"})], "a tool call needs a function with a name"),
        ([asked(written("f", [1]))], "the arguments of the call of f are not"),
        ([asked(written("f", {"a": json.loads("[" * 70 + "]" * 70)}))], "nested deeper than 64 levels"),
    ],
)
def test_wrong_messages(messages: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(PromptError, match=message) as error:
        prompt(messages)
    assert "\n" not in str(error.value)
