"""Requests that nobody sends in good faith: each is refused in words or answered right, and the next one is served.

And schemas: those that cannot be obeyed are refused or told, and a model that wants an object gets it.
"""

import copy
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.chat_models import decoder_of, says
from running_server import PATH, RESPONSES, ROME, TOOLS, Running, body, called, error_of, in_schema, tool
from tooldecoding.server.chat_body import read_chat_body
from tooldecoding.server.chat_completions import ChatAnswer
from tooldecoding.server.request_parser import MAX_TOOLS, RequestParser

SHORT = {"max_tokens": 2, "tooldecoding": {"order_limit": 1}}
ANSWER = in_schema(TOOLS[0]["function"]["parameters"])
HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "Help."},
    {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
    {"role": "assistant", "content": None, "tool_calls": [called("call_1", "get_weather", '{"city": "Rome"}')]},
    {"role": "tool", "tool_call_id": "call_1", "content": "Sunny."},
]
VALID: list[dict[str, Any]] = [
    body(**SHORT, tool_choice="required", seed=1, stop=["x"], temperature=0.5, top_p=0.5, user="a"),
    body(**SHORT, messages=HISTORY, tool_choice={"type": "function", "function": {"name": "get_weather"}}),
    body(**SHORT, stream=True, stream_options={"include_usage": True}, parallel_tool_calls=False),
    {"model": "reference", "messages": ROME, "response_format": ANSWER, **SHORT},
]
"""What is mutated."""


@pytest.fixture(autouse=True, scope="module")
def _serves_the_next(server: Running) -> Any:
    yield
    server.assert_served()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"model": "reference"} {}',
        b'{"temperature": NaN}',
        b'{"temperature": 1e999}',
        b'{"seed": ' + b"9" * 10_000 + b"}",
        b'{"model": "a", "model": "reference"}',
        b'{"messages": [{"role": "user", "role": "system"}]}',
        b'{"model": "\xff"}',
        "\ufeff{}".encode(),
        '{"model": "reference"}'.encode("utf-16"),
        b'{"messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"messages": ' + b"[" * 70 + b"]" * 70 + b"}",
        b"{" + b",".join(b'"%d": 0' % number for number in range(200_000)) + b', "199999": 0}',
    ],
    ids=lambda content: content[:24].decode(errors="replace"),
)
def test_what_is_no_json_object_is_refused(server: Running, content: bytes) -> None:
    for path in (PATH, RESPONSES):
        told = error_of(server.send(content, path=path), 400)
        assert (told["type"], told["code"]) == ("invalid_request_error", "invalid_json")
        assert len(told["message"]) < 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"])
def test_other_content_types_are_refused(server: Running, kind: str) -> None:
    for path in (PATH, RESPONSES):
        told = error_of(server.send(json.dumps(body()), {"Content-Type": kind}, path), 415)
        assert told["code"] == "unsupported_media_type"
    with_charset = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert server.send(json.dumps(body(**SHORT)), with_charset).status_code == 200


@pytest.mark.parametrize("announced", [True, False])
def test_ten_megabytes_are_too_many(server: Running, announced: bool) -> None:
    content = json.dumps(body(messages=[{"role": "user", "content": "x" * (10 << 20)}])).encode()
    pieces = (content[i : i + 65536] for i in range(0, len(content), 65536))
    answer = server.send(content if announced else pieces)
    assert error_of(answer, 413)["code"] == "request_too_large"


def test_two_thousand_tools_are_read_and_more_are_refused(server: Running) -> None:
    many = [tool(f"tool_{number}", **{f"key_{number}": {"type": "string"}}) for number in range(MAX_TOOLS + 1)]
    assert error_of(server.ask(tools=many), 400)["param"] == "tools"
    for too_long in ({"tools": many[:-1]}, {"messages": [{"role": "user", "content": "Hello there. " * 20_000}]}):
        assert "tokens" in error_of(server.ask(**too_long), 400)["message"]  # more than the context has


SCHEMAS: list[dict[str, Any]] = [
    {"$ref": "#"},
    {"$ref": "file:///etc/passwd"},
    {"$ref": "http://localhost:1/schema.json"},
    {"type": "object", "properties": {"x": {"$ref": "#"}}, "required": ["x"]},
    {"type": "string", "pattern": "^((a|b|ab)*c){50}(a?){200}a{200}$"},
    {"type": "string", "pattern": "^(a{1000}){1000}$"},
    {"type": "string", "minLength": 10**9, "maxLength": 10**12},
    {"type": "string", "enum": []},
    {"type": "string", "enum": [f"value {number}" for number in range(2_000)]},
    {"anyOf": [{"type": "object", "properties": {f"k{i}": {"type": "string"}}} for i in range(60)]},
    {"type": 7},
    {"const": {"__proto__": {"polluted": True}}},
]


def asking(value: dict[str, Any], **more: bool) -> dict[str, dict[str, Any]]:
    """Requests by the field with the schema: for a call of a tool, and for an answer, with such a value."""
    use = tool("use", x=value)
    answer = in_schema(use["function"]["parameters"], **more)
    use["function"] |= more
    return {
        "tools": {"tools": [use], "tool_choice": "required"},
        "response_format": {"tools": None, "response_format": answer},
    }


@pytest.mark.parametrize(
    "value",
    [{"$ref": "#/nowhere"}, {"type": "string", "pattern": "(["}, {"type": "array", "contains": {"type": "string"}}],
    ids=str,
)
def test_what_cannot_be_enforced_is_refused_if_strict_and_told_if_not(server: Running, value: dict[str, Any]) -> None:
    for name, request in asking(value, strict=True).items():
        told = error_of(server.ask(**request), 400)
        assert told["param"] == name and "strict" in told["message"]
    for request in asking(value).values():
        [warning] = server.ask(**request, max_tokens=4).json()["tooldecoding"]["warnings"]
        assert "x" in warning or "nowhere" in warning


def test_what_no_value_can_obey_is_refused(server: Running) -> None:
    for request in asking({"allOf": [{"type": "string"}, {"type": "integer"}]}).values():
        assert "no value can obey" in error_of(server.ask(**request, max_tokens=4), 400)["message"]


@pytest.mark.parametrize("wish", ['{"a": {"b": [1, 2.5, null, true]}, "": "say \\"K\\""}', "{}", '{"x": {}}'])
def test_the_model_gets_the_object_that_it_wants(wish: str) -> None:
    decoder = decoder_of("{% for m in messages %}{{ m.content }}{% endfor %}[assistant]", max_value_tokens=60)
    says(decoder, lambda prompt: wish)
    asked = read_chat_body({"model": "x", "messages": ROME, "response_format": {"type": "json_object"}})
    parsed = RequestParser(decoder).parse(asked)
    [result] = decoder.run([parsed.request])
    [choice] = ChatAnswer(asked, parsed, decoder, "x").whole(result)["choices"]
    assert (choice["message"]["content"], choice["finish_reason"], result.valid) == (wish, "stop", True)


NAMES = [
    "", "\x00", "a\nb", "\x1b[31m", "x" * 10_000, "__proto__", "get_weather(", "')]", "\ud800", "天气", "\u202egnp",
    "<|im_end|>", "</tool_call>", "{{ 7 * 7 }}", "../../etc/passwd",
]  # fmt: skip


WEIRD = [tool("use", x=schema) for schema in SCHEMAS]
WEIRD += [tool(name, city={"type": "string"}) for name in NAMES]
WEIRD += [tool("use", **{name: {"type": "integer"}}) for name in NAMES]


@pytest.mark.parametrize("weird", WEIRD, ids=lambda weird: ascii(weird["function"])[8:60])
def test_hostile_tools_and_schemas_are_refused_or_obeyed(server: Running, weird: dict[str, Any]) -> None:
    few = {"max_tokens": 12, "tooldecoding": {"order_limit": 1, "max_value_tokens": 4}}
    name, schema = weird["function"]["name"], weird["function"]["parameters"]
    found = _refused_or_answered(server.ask(tools=[weird], tool_choice="required", **few))
    for call in (found and found["choices"][0]["message"].get("tool_calls")) or []:
        assert call["function"]["name"] == name
        assert set(json.loads(call["function"]["arguments"])) <= set(schema["properties"])  # some are cut
    _refused_or_answered(server.ask(tools=None, response_format=in_schema(schema), **few))


@pytest.mark.parametrize("text", NAMES, ids=lambda text: ascii(text)[:20])
def test_hostile_texts_are_refused_or_taken(server: Running, text: str) -> None:
    calls = [called(text, text, json.dumps({text: text}))]
    result = {"role": "tool", "tool_call_id": text, "content": text}
    for messages in ([{"role": "user", "content": text}], [*ROME, {"role": "assistant", "tool_calls": calls}, result]):
        _refused_or_answered(server.ask(messages=messages, **SHORT))


def _refused_or_answered(answer: Any) -> Any:
    """Refuses any answer but a completion, or an error object for a wrong request."""
    if answer.status_code == 200:
        if answer.headers["content-type"] != "application/json":
            assert answer.text.endswith("data: [DONE]\n\n"), answer.text[-500:]
            return None
        found = answer.json()
        assert found["choices"][0]["finish_reason"] in ("stop", "length", "tool_calls")
        return found
    told = error_of(answer, answer.status_code)
    assert answer.status_code in (400, 404), told
    assert len(told["message"]) < 1000
    return None


ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**63, 10**30, 0.5, 1e308, "", "x", "\x00", "\ud800", "auto", [], [[]], [None], {},
    {"": {}},    {"type": "function"}, {"$ref": "#"}, "x" * 3000, ["a"] * 50,
]  # fmt: skip


@given(st.integers(0, 2**32))
def test_mutated_requests_never_break_the_server(server: Running, seed: int) -> None:
    draw = random.Random(seed)
    request = copy.deepcopy(draw.choice(VALID))
    for _ in range(draw.choice([1, 1, 2, 4])):
        request = _mutated(request, draw)
    _refused_or_answered(server.send(json.dumps(request)))


def _mutated(value: Any, draw: random.Random) -> Any:
    """The value with one odd thing in it, put in place of something, beside it, or without it."""
    if not isinstance(value, dict | list) or not value or draw.random() < 0.05:
        return draw.choice(ODD)
    changed, how = value.copy(), draw.random()
    place = draw.choice([*value]) if isinstance(value, dict) else draw.randrange(len(value))
    if how < 0.1:
        del changed[place]
    elif how > 0.2:
        changed[place] = _mutated(value[place], draw)
    elif isinstance(changed, list):
        changed.insert(place, draw.choice([value[place], draw.choice(ODD)]))
    else:
        changed[draw.choice(["", "type", "x", "\x00", "__proto__", "strict"])] = draw.choice(ODD)
    return changed
