"""``response_format``: the content is JSON that fits the schema, or the answer says that it was cut."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from running_server import ROME, TOOLS, Running, error_of, in_schema, tool
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.server.chat_answer import ChatAnswer
from tooldecoding.server.chat_body import read_chat_body
from tooldecoding.server.prepared import Preparation
from tooldecoding.testing import ScriptedEngine, SyntheticDecoder

PLACE = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "pattern": "^[a-z]{1,6}$"},
        "zip": {"type": "integer", "minimum": 10000, "maximum": 99999},
    },
    "required": ["city", "zip"],
    "additionalProperties": False,
}
SCHEMAS: dict[str, dict[str, Any]] = {
    "nested": {"place": PLACE, "value": {"anyOf": [{"type": "boolean"}, {"type": "integer", "minimum": 0}]}},
    "odd keys": {"naïve key": {"type": "boolean"}, 'a"b': {"enum": [1, 2, 3]}},
}


def asking(schema: dict[str, Any], strict: bool | None = None) -> dict[str, Any]:
    return {"tools": None, "response_format": in_schema(schema, strict)}


@pytest.mark.parametrize("name", SCHEMAS)
def test_content_fits_the_schema(server: Running, name: str) -> None:
    required = ['a"b'] if name == "odd keys" else [*SCHEMAS[name]]
    schema = {"type": "object", "properties": SCHEMAS[name], "required": required, "additionalProperties": False}
    answer = server.ask(**asking(schema, strict=True), max_tokens=80, tooldecoding={"order_limit": 2}).json()
    [choice] = answer["choices"]
    assert choice["finish_reason"] == "stop"
    Draft202012Validator(schema).validate(json.loads(choice["message"]["content"]))
    assert "tool_calls" not in choice["message"]


@pytest.mark.parametrize(
    "part",
    [
        {"$ref": "#/nowhere"},
        {"type": "string", "pattern": "(["},
        {"type": "array", "contains": {"type": "string"}},
    ],
    ids=str,
)
def test_what_cannot_be_enforced_is_refused_if_strict_and_told_if_not(server: Running, part: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"x": part}, "required": ["x"]}
    assert error_of(server.ask(**asking(schema, strict=True)), 400)["param"] == "response_format"
    strict = tool("use", x=part)
    strict["function"]["strict"] = True
    told = error_of(server.ask(tools=[strict]), 400)
    assert told["param"] == "tools" and "strict" in told["message"]

    for request in (asking(schema), {"tools": [tool("use", x=part)], "tool_choice": "required"}):
        [warning] = server.ask(**request, max_tokens=4).json()["tooldecoding"]["warnings"]
        assert "x" in warning or "nowhere" in warning


def test_what_no_value_can_obey_is_refused(server: Running) -> None:
    part = {"allOf": [{"type": "string"}, {"type": "integer"}]}
    schema = {"type": "object", "properties": {"x": part}, "required": ["x"]}
    for request in (asking(schema), {"tools": [tool("use", x=part)]}):
        assert "no value can obey" in error_of(server.ask(**request, max_tokens=4), 400)["message"]


ANY = {"type": "json_object"}


@pytest.mark.parametrize(("most", "stream", "tools"), [(20, False, None), (60, True, TOOLS), (None, True, None)])
def test_any_object(server: Running, most: int | None, stream: bool, tools: Any) -> None:
    request = {"response_format": ANY, "tools": tools, "tool_choice": tools and "none", "max_tokens": most}
    asked = [{"role": "user", "content": "The weather in Rome for 3 days, as JSON with the keys city and days."}]
    if stream:
        *chunks, last = server.chunks(messages=asked, **request)
        content = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks)
        reason, told = last["choices"][0]["finish_reason"], last["tooldecoding"]
    else:
        answer = server.ask(messages=asked, **request).json()
        [choice] = answer["choices"]
        assert choice["message"].keys() == {"role", "content"}
        content, reason, told = choice["message"]["content"], choice["finish_reason"], answer["tooldecoding"]
    assert told["valid"] and isinstance(json.loads(content), dict)
    assert reason == ("length" if told["errors"] else "stop")


@pytest.mark.parametrize("wish", ['{"a": {"b": [1, 2.5, null, true]}, "": "say \\"K\\""}', "{}", '{"x": {}}'])
def test_the_model_gets_the_object_that_it_wants(wish: str) -> None:
    tokenizer = byte_level_tokenizer()
    tokenizer.chat_template = "{% for m in messages %}{{ m.content }}{% endfor %}[assistant]"
    decoder = SyntheticDecoder(tiny_model("llama", len(tokenizer)), tokenizer)
    decoder.engine = ScriptedEngine(decoder.table.texts, lambda text: wish[len(text.rpartition("[assistant]")[2]) :])
    asked = read_chat_body({"model": "x", "messages": ROME, "response_format": ANY})
    prepared = Preparation(decoder).prepare(asked)
    [result] = decoder.run([prepared.request])
    [choice] = ChatAnswer(asked, prepared, decoder, "x").whole(result)["choices"]
    assert (choice["message"]["content"], choice["finish_reason"], result.valid) == (wish, "stop", True)
