"""Dialogues: rows of API-Bank and of chat models, and the lines that a prompt shows."""

import json

import pytest

from tooldecoding.chat.chat import continued
from tooldecoding.chat.dialogue import dialogue_lines, documented_tools, openai_messages, read_dialogue, read_rows
from tooldecoding.chat.messages import read_messages
from tooldecoding.errors import PromptError
from tooldecoding.formats.known_formats import CALL_FORMATS

API_ROW = {
    "role": "API",
    "api_name": "AddAlarm",
    "param_dict": {"time": "2023-09-12 13:50:00", "days": ["Mon"]},
    "result": {"output": {"status": "é"}, "exception": None},
}


def as_text(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_rows_become_openai_messages_and_lines() -> None:
    given = read_dialogue(
        as_text(
            {"role": "system", "content": "Be brief."},
            {"role": "User", "content": "One."},
            {"role": "user", "text": "Two."},
            {"role": "AI", "text": "I look."},
            API_ROW,
            {"role": "API", "name": "f", "arguments": {}, "result": {"output": None, "exception": "12"}},
            {"role": "ASSISTANT", "content": "Done."},
            {"role": "API", "name": "f", "arguments": {"k": 1}, "result": "done"},
        ),
        "d",
    )
    messages = read_messages(openai_messages(given)).messages
    said = ["system", "user", "assistant", "tool", "assistant", "tool", "assistant", "tool"]
    assert [m.role for m in messages] == said
    assert messages[1].content == "One.\nTwo." and messages[2].content == "I look."
    assert [(c.name, c.arguments) for m in messages for c in m.calls] == [
        ("AddAlarm", API_ROW["param_dict"]), ("f", {}), ("f", {"k": 1}),
    ]  # fmt: skip
    assert [m.content for m in messages[3:]] == ['{"status": "é"}', "", '"12"', "Done.", "done"]
    assert dialogue_lines(given, CALL_FORMATS["api-bank"])[1:] == [
        "User: One.",
        "User: Two.",
        "AI: I look.",
        "API-Request: [AddAlarm(time='2023-09-12 13:50:00', days='[\"Mon\"]')]",
        'API-Response: {"status": "é"}',
        "API-Request: [f()]",
        'API-Response: "12"',
        "AI: Done.",
        "API-Request: [f(k='1')]",
        'API-Response: "done"',
    ]


def test_a_call_without_result_is_refused_in_a_chat_template() -> None:
    call = {key: value for key, value in API_ROW.items() if key != "result"}
    for rows in ([call], [call, {"role": "User", "text": "Hi"}]):
        with pytest.raises(PromptError, match=r"the call .* of 'AddAlarm' has no result"):
            read_messages(openai_messages(read_rows(rows, "d")), "the dialogue's messages")


def test_the_assistant_goes_on_behind_open_thinking() -> None:
    formats = CALL_FORMATS["pythonic"], CALL_FORMATS["harmony"]
    assert continued("<turn>", "Well.", formats[0]) == "<turn>Well."
    assert continued("<turn><think>\n", "Well.", formats[0]) == "<turn><think>\n</think>\n\nWell."
    assert continued("<|start|>assistant", "Well.", formats[1]).endswith("Well.<|end|><|start|>assistant")


def test_documentation_in_tool_searcher_results() -> None:
    def found(*tools: object) -> dict[str, object]:
        output = list(tools) if len(tools) > 1 else tools[0]
        return {"role": "API", "api_name": "ToolSearcher", "param_dict": {}, "result": {"output": output}}

    first = {"name": "A", "input_parameters": {}, "desc_for_search": "a"}
    second = {"name": "B", "input_parameters": {}}
    changed = {"name": "A", "input_parameters": {"k": {"type": "str", "description": ""}}}
    turns = read_dialogue(as_text(found("none", first, second), found(first), API_ROW), "d")
    assert documented_tools(turns) == [{"name": "A", "input_parameters": {}}, second]
    turns = read_dialogue(as_text(found(first, second), found(changed)), "d")
    assert documented_tools(turns) == [changed, second]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n \n", "d: expected a dialogue"),
        ('\n{"text": "x"}', "d:2: expected a 'role' of User, AI, API, system or assistant, found None"),
        ('{"role": 3}', "d:1: expected a 'role' of User, AI, API, system or assistant, found 3"),
        ('{"role": "User"}', "d:1['text']: Field required"),
        ('{"role": "User", "text": 5}', "d:1['text']: Input should be a valid string"),
        ('{"role": "API", "param_dict": {}}', "d:1['api_name']: Field required"),
        ('{"role": "API", "api_name": "A"}', "d:1['param_dict']: Field required"),
        ('{"role": "assistant", "content": "", "tool_calls": [{"id": 1}]}', "d:1['tool_calls']: List should"),
        ('{"role": "tool", "content": "x", "name": "f"}', "found 'tool'; give calls of chat as messages"),
        ('{"role": "User", }', "d:1:"),
        ("[1]", "d:1: expected a JSON object, found list"),
        ("[" * 100_000, "d:1: malformed JSON: nested too deeply"),
    ],
)
def test_bad_rows(text: str, said: str) -> None:
    with pytest.raises(PromptError) as error:
        read_dialogue(text, "d")
    assert said in str(error.value)


@pytest.mark.parametrize("rows", [None, [], "text", [4], [{"role": "User"}]])
def test_bad_row_lists(rows: object) -> None:
    with pytest.raises(PromptError, match="row"):
        read_rows(rows, "b:3")
