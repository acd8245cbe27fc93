"""Messages in OpenAI's shape, and rows of dialogues: what is read and shown, and one clear line for each mistake."""

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiny_models import byte_level_tokenizer
from tooldecoding.chat.call_ids import IdForm, new_id, template_ids
from tooldecoding.chat.calls import ToolCall
from tooldecoding.chat.chat import continued
from tooldecoding.chat.dialogue import dialogue_lines, documented_tools, openai_messages, read_dialogue, read_rows
from tooldecoding.chat.messages import MAX_CHARACTERS, MAX_MESSAGES, read_messages
from tooldecoding.errors import PromptError
from tooldecoding.formats.known_formats import CALL_FORMATS

USER = {"role": "user", "content": "hi"}


def call(call_id: Any = "a", name: Any = "f", arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def calls(*given: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(given), **more}


def result(call_id: Any = "a", content: Any = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


DEEP = json.loads("[" * 70 + "]" * 70)

CALLS = "messages[1]['tool_calls']"

BAD: list[tuple[Any, str]] = [
    ("hi", "messages: expected a list of messages, found str"),
    ([], f"messages: expected 1 to {MAX_MESSAGES} messages, found 0"),
    ([USER] * (MAX_MESSAGES + 1), f"messages: expected 1 to {MAX_MESSAGES} messages"),
    ([{"role": "user", "content": "x" * (MAX_CHARACTERS + 1)}], f"messages: expected at most {MAX_CHARACTERS}"),
    ([USER, calls(call(arguments={"a": "x" * MAX_CHARACTERS})), result()], f"at most {MAX_CHARACTERS} characters"),
    (["hi"], 'messages[0]: expected a message {"role": …, "content": …}, found str'),
    ([{"content": "x"}], "messages[0]: expected a 'role' of system, developer, user, assistant, tool, found None"),
    ([USER, {"role": "robot", "content": "x"}], "messages[1]: expected a 'role' of system"),
    ([{"role": "user"}], "messages[0]['content']: Field required"),
    ([{"role": "user", "content": [{"type": "image_url"}]}], "messages[0]['content'][0]['type']: expected 'text'"),
    ([{"role": "user", "content": "x", "tool_calls": [call()]}], "messages[0]['tool_calls']: Extra inputs"),
    ([{"role": "assistant", "content": None}, USER], "messages[0]: expected content, a text"),
    ([USER, {"role": "assistant", "content": "x"}], "messages[1]: the conversation ends with a message of role assist"),
    ([USER, calls(call())], "the end: the call 'a' of 'f' has no result"),
    ([USER, calls(call(), call("b")), result(), USER], "messages[3]: the call 'b' of 'f' has no result"),
    ([USER, result()], "messages[1]: the tool_call_id 'a' is of no call that lacks a result"),
    ([USER, calls(call()), result("b")], "calls without a result: 'a'"),
    ([USER, calls(call()), result(), result()], "messages[3]: the tool_call_id 'a' is of no call that lacks a result"),
    ([USER, calls(call()), result(content={"sky": 1})], "messages[2]['content']: expected a text or a list of text"),
    ([USER, calls(call(), call())], "messages[1]: two calls have the id 'a'"),
    ([USER, calls(call("")), result("")] * 2 + [result("")], "messages[6]: the tool_call_id '' is of no call"),
    ([USER, calls(call("a"), call("b")), result("")], "calls without a result: 'a', 'b'"),
    ([USER, {**calls(), "tool_calls": "f()"}], f"{CALLS}: Input should be a valid list"),
    ([USER, calls(call(name=""))], f"{CALLS}[0]['function']['name']: String should have at least 1 character"),
    ([USER, calls(call(arguments={1: 2}))], "the key 1, which is no text"),
    ([USER, calls(call(arguments=["a", {1}]))], "a value that JSON does not have"),
    ([USER, calls(call(arguments={"a": {1}}))], "a value that JSON does not have"),
    ([USER, calls(call(arguments={"a": float("inf")}))], "a value that JSON does not have"),
    ([USER, calls(call(arguments={"a": 1 << 20_000}))], "a number of more than"),
    ([USER, calls(call(arguments={"a": DEEP}))], "more than 64 levels of nesting"),
]


@pytest.mark.parametrize(("given", "said"), BAD, ids=[said[:60] for _, said in BAD])
def test_each_mistake_is_one_clear_line(given: Any, said: str) -> None:
    with pytest.raises(PromptError) as error:
        read_messages(given)
    assert said in str(error.value)
    assert len(str(error.value)) < 600 and "\n" not in str(error.value)


def test_what_openai_writes_is_read() -> None:
    answer = calls(call(), refusal=None, annotations=[], audio=None, function_call=None)
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    given = [{"role": "developer", "content": parts}, USER, answer, result(content=parts)]
    system, _, called, returned = read_messages(given).messages
    assert (system.role, system.content) == ("system", "ab")
    assert called.calls == (ToolCall("a", "f", {}),)
    assert (returned.content, returned.result_of) == ("ab", called.calls[0])


def test_arguments_are_the_same_as_text_and_as_data() -> None:
    arguments = {"city": "R\u00f4me", "list": [1, 2.5, None, True], "inner": {"a": {}}}
    as_text, as_data = (
        read_messages([USER, calls(call(arguments=given)), result()]) for given in (json.dumps(arguments), arguments)
    )
    assert as_text == as_data and as_data.calls[0].arguments == arguments


@pytest.mark.parametrize("arguments", ["", " \n", None, "null", "{}", {}])
def test_a_call_without_arguments_may_be_written_in_many_ways(arguments: Any) -> None:
    assert read_messages([USER, calls(call(arguments=arguments)), result()]).calls[0].arguments == {}
    [made, _] = read_rows([{"role": "API", "api_name": "f", "param_dict": arguments, "result": 1}], "rows")
    assert made.calls[0].arguments == {}


UNREAD = [
    '{"city": "Par', '{"a": NaN}', '{"a": 1, "a": 2}', "x", "[1, 2]", '"Paris"', "7", '{"a":' * 1000,
    '{"a": ' + "9" * 5000 + "}", json.dumps("x"), json.dumps(json.dumps([1])),
]  # fmt: skip


@pytest.mark.parametrize("text", UNREAD, ids=lambda text: text[:20])
def test_what_is_no_object_stays_the_text_that_it_is(text: str) -> None:
    [made] = read_messages([USER, calls(call(arguments=text)), result()]).calls
    assert made.openai()["function"]["arguments"] == text == made.text
    assert json.loads(json.dumps(made.openai(as_text=False)["function"]["arguments"])) == {"arguments": text}


def test_data_that_is_no_object_is_its_text() -> None:
    for data in ([], [{"city": "Rome"}], 7, True):
        [made] = read_messages([USER, calls(call(arguments=data)), result()]).calls
        assert made.text == json.dumps(data)


@pytest.mark.parametrize("times", [1, 2, 3])
def test_an_object_is_found_where_it_is_encoded_again(times: int) -> None:
    for wanted in ({"city": "Par\u00eds", "a": {"b": [1]}}, {}):
        given: Any = wanted
        for _ in range(times):
            given = json.dumps(given)
        [made] = read_messages([USER, calls(call(arguments=given)), result()]).calls
        assert (made.arguments, made.text) == (wanted, None)


@pytest.mark.parametrize("call_id", ["call_0", "terminal:0", "", None])
def test_an_id_may_come_again_in_a_later_turn(call_id: Any) -> None:
    turns = [turn for n in "fgf" for turn in (calls(call(call_id, n)), result(call_id, f"of {n}"), USER)]
    messages = read_messages([USER, *turns]).messages
    assert [(m.result_of.name, m.content) for m in messages if m.result_of] == [(n, f"of {n}") for n in "fgf"]


def test_calls_without_ids_have_their_results_by_name_else_in_sequence() -> None:
    made = calls(call("", "f"), call(None, "g"), {"type": "function", "function": {"name": "f"}})
    named = [result("", f"{n} {number}") | {"name": n} for n, number in (("g", 1), ("f", 1), ("f", 2))]
    unnamed = [{"role": "tool", "content": content} for content in ("f 1", "g 1", "f 2")]
    for results in (named, unnamed, [result("") | {"content": row["content"]} for row in unnamed]):
        said = read_messages([USER, made, *results]).messages[2:]
        assert [m.content for m in said] == ["f 1", "g 1", "f 2"]
        assert [m.result_of and m.result_of.name for m in said] == ["f", "g", "f"]
    for one, other in (("", "x"), ("x", "")):
        assert read_messages([USER, calls(call(one)), result(other)]).messages[2].result_of
    mixed = [result("a", "f"), result("", "g")]
    said = read_messages([USER, calls(call("a"), call("", "g")), *mixed]).messages[2:]
    assert [m.content for m in said] == ["f", "g"]


def test_a_result_may_have_no_content() -> None:
    given = [USER, calls(call("c", "f")), {"role": "tool", "tool_call_id": "c", "content": None}]
    assert read_messages(given).messages[-1].content == ""


def test_a_conversation_may_end_with_a_system_message() -> None:
    late = {"role": "developer", "content": "Be brief."}
    for said in ([late], [USER, late], [USER, calls(call()), result(), late]):
        assert read_messages(said).messages[-1].role == "system"


def test_reasoning_is_read_by_either_name_and_what_says_nothing_is_left_out() -> None:
    for key, other in (("reasoning", None), ("reasoning_content", None), ("reasoning_content", "x")):
        thoughts = {"reasoning": other, key: "Hm."}
        more = {"reasoning_details": [{"type": "text"}], "annotations": [{}], "provider_specific_fields": {"a": 1}}
        [_, made, _] = read_messages([USER, calls(call(), **thoughts, **more), result()]).messages
        assert made.thinking == "Hm."


IDS = st.text(min_size=1, max_size=12) | st.sampled_from(["call_0000", "call00000", "functions.f:0", "0", "1"])


@pytest.mark.parametrize("form", get_args(IdForm))
@given(ids=st.lists(IDS | st.just(""), max_size=6), new=st.integers(0, 3))
def test_ids_are_unique_and_kept_where_they_fit(form: IdForm, ids: list[str], new: int) -> None:
    earlier = [ToolCall(call_id, "f", {}) for call_id in ids]
    written = template_ids(form, earlier)
    assert len({*written}) == len(written) == len(ids) and "" not in written
    for number, (given_id, own) in enumerate(zip(ids, written, strict=True)):
        assert form != "any" or not given_id or given_id in ids[:number] or own == given_id
    for _ in range(new):
        counted = form in ("named", "number")  # other new ids are unique in the world
        assert (new_id(form, earlier, "f") == new_id(form, earlier, "f")) == counted
        earlier.append(ToolCall(new_id(form, earlier, "f"), "f", {}))
    assert len({call.id for call in earlier}) == len({*ids}) + new
    again = template_ids(form, earlier)
    assert again[len(ids) :] == [call.id for call in earlier[len(ids) :]], "a new id is already in the form"


WORDS = ["role", "content", "tool_calls", "id", "type", "function", "name", "arguments", "tool_call_id", "user", "tool"]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(WORDS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=12,
)


@given(st.lists(VALUES | st.just(USER), max_size=4))
def test_anything_else_is_refused_and_nothing_breaks(given: Any) -> None:
    try:
        read_messages(given)
    except PromptError as error:
        assert str(error).startswith(("messages", "the end"))
        assert len(str(error)) < 600 and "\n" not in str(error)


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
    formats, tokenizer = (CALL_FORMATS["pythonic"], CALL_FORMATS["harmony"]), byte_level_tokenizer()
    assert continued("<turn>", "Well.", formats[0], tokenizer) == "<turn>Well."
    assert continued("<turn><think>\n", "Well.", formats[0], tokenizer) == "<turn><think>\n</think>\n\nWell."
    behind = str(continued("<|start|>assistant", "Well.", formats[1], tokenizer))
    assert behind.endswith("Well.<|end|><|start|>assistant")


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
        ('{"role": "API", "param_dict": {}}', "d:1['api_name']: Field required"),
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
