"""Requests as today's clients send them: what they send back, and the fields that they always send."""

import json
from typing import Any

import pytest

from chat.chat_models import HERMES, call, decoder_of, says
from running_server import HELLO, MODEL, PATH, RESPONSES, ROME, TOOLS, Running, called, error_of, in_schema, running
from tools import documented

PLACE = in_schema(documented("x", city={"type": "string", "maxLength": 8})["parameters"], strict=True)
USER = {"role": "user", "content": "Go."}


def history(call_ids: list[str | None], texts: list[str]) -> list[dict[str, Any]]:
    """A conversation with a turn for each id, whose call has one of the texts as arguments."""
    messages: list[dict[str, Any]] = []
    for number, (call_id, text) in enumerate(zip(call_ids, texts, strict=True)):
        made = called("", "get_weather", text) | {"id": call_id}
        messages += [*ROME, {"role": "assistant", "content": None, "tool_calls": [made]}]
        messages += [{"role": "tool", "tool_call_id": call_id, "content": f"result {number}"}]
    return messages


def items(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same conversation for Responses."""
    found: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "tool":
            found.append(
                {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
            )
        elif made := message.get("tool_calls"):
            found += [{"type": "function_call", "call_id": each["id"], **each["function"]} for each in made]
        else:
            found.append(message)
    return found


@pytest.mark.parametrize("call_id", ["call_0", "terminal:0", "functions.get_weather:0", ""])
def test_a_call_id_may_come_again_in_each_turn(client: Any, call_id: str) -> None:
    messages = history([call_id] * 3, ['{"city": "Rome"}'] * 3)
    said = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS, max_tokens=2)
    assert said.choices[0].message.role == "assistant"
    flat = [{"type": "function", **each["function"]} for each in TOOLS]
    response = client.responses.create(model=MODEL, input=items(messages), tools=flat, max_output_tokens=16)
    assert response.status in ("completed", "incomplete")


CUT = ['{"city": "Par', json.dumps('{"city": "Rome"}'), '[{"city": "Rome"}]', '{"city": NaN}', "Rome"]


def test_arguments_that_are_no_object_are_history_like_any_other(client: Any, server: Running) -> None:
    messages = history([f"call_{n}" for n in range(len(CUT))], CUT)
    short = {"model": MODEL, "max_tokens": 2}
    assert client.chat.completions.create(messages=messages, tools=TOOLS, **short).choices
    asked = {"model": MODEL, "input": items(messages), "max_output_tokens": 16}
    assert server.http.post(RESPONSES, json=asked).status_code == 200


HINTS: dict[str, Any] = {
    "metadata": {"trace": "1"}, "prompt_cache_key": "opencode", "prompt_cache_retention": "24h",
    "safety_identifier": "someone", "service_tier": "priority", "store": True, "user": "someone",
}  # fmt: skip
LITELLM = HINTS | {"verbosity": "low", "reasoning_effort": "high", "n": 1, "logprobs": False, "top_logprobs": 0}
AGENTS = HINTS | {
    "include": ["reasoning.encrypted_content", "web_search_call.action.sources"],
    "reasoning": {"effort": "medium", "summary": "auto"},
    "text": {"verbosity": "low"},
    "truncation": "disabled",
    "max_tool_calls": 5,
    "conversation": None,
    "prompt": None,
}


@pytest.mark.parametrize("path", [PATH, RESPONSES])
def test_hints_change_nothing_in_an_answer(server: Running, path: str) -> None:
    asked = {"model": MODEL, "max_tokens": 8, "messages": HELLO}
    if path == RESPONSES:
        asked = {"model": MODEL, "max_output_tokens": 16, "input": HELLO}
    answers = [server.http.post(path, json=asked | more) for more in ({}, LITELLM if path == PATH else AGENTS)]
    assert [answer.status_code for answer in answers] == [200, 200], answers[1].text
    plain, hinted = (answer.json() for answer in answers)
    key = "choices" if path == PATH else "usage"
    assert plain[key] == hinted[key]


def test_a_field_that_somebody_may_expect_is_refused_with_a_reason(server: Running) -> None:
    for field, reason in (({"n": 2}, "seed"), ({"logprobs": True}, "log-probability of each argument")):
        assert reason in error_of(server.ask(**field), 400)["message"]


@pytest.mark.parametrize("path", [PATH, RESPONSES])
def test_a_prompt_that_is_too_long_has_the_code_that_clients_look_for(server: Running, path: str) -> None:
    for text in ("Hello there. " * 4_000, "Hello there. " * 40_000):
        messages = [{"role": "user", "content": text}]
        asked = {"model": MODEL, "messages": messages} if path == PATH else {"model": MODEL, "input": messages}
        told = error_of(server.http.post(path, json=asked), 400)
        assert (told["code"], told["type"]) == ("context_length_exceeded", "invalid_request_error")


def test_a_slash_behind_a_path_changes_nothing(server: Running) -> None:
    for path in ("/v1/models", f"/v1/models/{MODEL}", "/health", "/ready", "/metrics"):
        assert server.http.get(f"{path}/").status_code == 200
    for path, asked in ((PATH, {"messages": HELLO, "max_tokens": 2}), (RESPONSES, {"input": "Hi."})):
        assert server.http.post(f"{path}/", json={"model": MODEL} | asked).status_code == 200


@pytest.mark.parametrize("function", [{"parameters": None}, {}, {"parameters": None, "description": None}])
def test_a_tool_without_parameters_is_called(server: Running, function: dict[str, Any]) -> None:
    stop = {"type": "function", "function": {"name": "stop", "strict": None} | function}
    [choice] = server.ask(tools=[stop], tool_choice="required").json()["choices"]
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "stop", "arguments": "{}"}
    flat = {"type": "function", **stop["function"]}
    asked = {"model": MODEL, "input": "Stop.", "tools": [flat], "tool_choice": "required"}
    assert server.http.post(RESPONSES, json=asked).json()["output"][0]["arguments"] == "{}"


def test_the_conversation_may_end_with_a_system_message(server: Running) -> None:
    for messages in ([{"role": "system", "content": "Say hello."}], [*HELLO, {"role": "developer", "content": "Now."}]):
        assert server.ask(messages=messages, tools=None, max_tokens=2).status_code == 200


SAYS = {
    "a call": (call("f", x=1), "tool_calls"),
    "a call behind words": (f"I look.\n{call('f', x=1)}", "tool_calls"),
    "words": ("It is Rome.", "stop"),
    "nothing": ("", "stop"),
    "a thought and a call": (f"<think>\nHm.\n</think>\n\n{call('f', x=1)}", "tool_calls"),
    "a thought and words": ("<think>\nHm.\n</think>\n\nRome.", "stop"),
}


@pytest.mark.parametrize("kind", [PLACE, {"type": "json_object"}], ids=["schema", "object"])
@pytest.mark.parametrize("name", SAYS)
def test_with_tools_an_answer_is_a_call_or_fits_the_format(name: str, kind: dict[str, Any]) -> None:
    said, reason = SAYS[name]
    decoder = decoder_of(HERMES, ("<think>", "</think>"), max_value_tokens=20)
    says(decoder, lambda prompt: said if "<tools>" in prompt else '{"city": "Rome"}')
    tools = [{"type": "function", "function": documented("f", x={"type": "integer"})}]
    asked = {"messages": [USER], "tools": tools, "response_format": kind, "max_tokens": 80}
    with running(decoder) as made:
        [whole] = made.ask(**asked).json()["choices"]
        chunks = [choice for chunk in made.chunks(**asked) for choice in chunk["choices"]]
        [forced] = made.ask(**asked, tool_choice="required").json()["choices"]
        [silent] = made.ask(**asked, tool_choice="none").json()["choices"]
    message = whole["message"]
    assert whole["finish_reason"] == reason == chunks[-1]["finish_reason"]
    text = "".join(chunk["delta"].get("content") or "" for chunk in chunks)
    pieces = [piece for chunk in chunks for piece in chunk["delta"].get("tool_calls", [])]
    if reason == "tool_calls":
        assert message["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"x": 1}'}
        assert "".join(piece["function"]["arguments"] for piece in pieces) == '{"x": 1}'
        assert (message["content"] or "") == text.strip() == ("I look." if "words" in name else "")
    else:
        assert json.loads(message["content"]) == json.loads(text) == {"city": "Rome"} and not pieces
    thoughts = "".join(chunk["delta"].get("reasoning_content") or "" for chunk in chunks)
    assert (message.get("reasoning_content") or "") == thoughts == "Hm." * ("thought" in name)
    assert forced["finish_reason"] == "tool_calls" and forced["message"]["tool_calls"]
    assert json.loads(silent["message"]["content"]) == {"city": "Rome"}


@pytest.mark.parametrize(
    ("said", "fields"),
    [("Go.", {}), ("Go <think> now.", {}), ("Go.", {"tooldecoding": {"min_confidence": 1.0}})],
)
def test_an_answer_in_json_is_written_whatever_was_said_and_however_unsure(said: str, fields: dict[str, Any]) -> None:
    decoder = decoder_of(HERMES, ("<think>", "</think>"), max_value_tokens=20)
    says(decoder, lambda prompt: "Words." if "<tools>" in prompt else '{"city": "Rome"}')
    with running(decoder) as made:
        for tools in (None, TOOLS[:1]):
            asked = {"messages": [USER | {"content": said}], "tools": tools, "response_format": {"type": "json_object"}}
            [choice] = made.ask(**asked, **fields).json()["choices"]
            assert (choice["message"]["content"], choice["finish_reason"]) == ('{"city": "Rome"}', "stop")


def test_thinking_before_an_answer_in_json_counts() -> None:
    decoder = decoder_of(HERMES, ("<think>", "</think>"), max_value_tokens=20)
    thought = f"<think>\n{'Hm. ' * 10}\n</think>\n\n"
    says(decoder, lambda prompt: f"{thought}Words." if "<tools>" in prompt else '{"city": "Rome"}')
    asked = {"messages": [USER], "tools": TOOLS[:1], "response_format": {"type": "json_object"}}
    with running(decoder) as made:
        whole = made.ask(**asked, max_tokens=150).json()
        cut = made.ask(**asked, max_tokens=45).json()
    assert whole["choices"][0]["message"]["content"] == '{"city": "Rome"}'
    usage = whole["usage"]
    assert usage["completion_tokens"] > usage["completion_tokens_details"]["reasoning_tokens"] + 5
    assert cut["choices"][0]["finish_reason"] == "length" and cut["usage"]["completion_tokens"] <= 45


def test_an_answer_in_json_needs_no_tools_in_full(server: Running) -> None:
    for tools in (None, TOOLS):
        few = {"tooldecoding": {"documentation": "summaries"}, "max_tokens": 20}
        answer = server.ask(messages=HELLO, tools=tools, response_format=PLACE, **few)
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("marks", [(), ("<|foo|>", "<tool_call>", "</think>")])
def test_a_stop_text_may_spell_a_special_token(marks: tuple[str, ...]) -> None:
    for stop in ("<|foo|>", "<tool_call>", "</think>"):
        decoder = decoder_of(HERMES, marks)
        says(decoder, lambda prompt, stop=stop: f"Hi{stop}more")
        with running(decoder) as made:
            [choice] = made.ask(messages=[USER], tools=None, stop=stop).json()["choices"]
        assert (choice["message"]["content"], choice["finish_reason"]) == ("Hi", "stop")


def test_a_stop_text_leaves_a_call_whole() -> None:
    decoder = decoder_of(HERMES)
    tools = [{"type": "function", "function": documented("f", x={"type": "integer"})}]
    for before in ("", "I look.\n"):
        says(decoder, lambda prompt, before=before: before + call("f", x=1))
        for stop in ("\n", '"', "{", "name", "f"):
            with running(decoder) as made:
                [choice] = made.ask(messages=[USER], tools=tools, stop=stop, max_tokens=200).json()["choices"]
            stopped = stop == "\n" and before
            assert choice["finish_reason"] == ("stop" if stopped else "tool_calls")
            assert (choice["message"]["content"] or "") == before.strip()
