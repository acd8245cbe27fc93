"""Any tools, printed in any form of objects, extract to themselves: as objects, as text and in prompts.

The tests of the text forms (XML, docstrings, prose, signatures, YAML) contain the same law.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from drawn_tools import PLAIN, TYPES, a_key, changed, dictionaries, without_raw_types
from hypothesis import given, settings
from hypothesis import strategies as st

from lookup import MISSING, LookupDictionary, ParameterSpec, ToolSpec, ValueType, extract
from lookup.type_names import type_of, value_type
from tooldecoding.chat.documentation import json_schema


def with_inferred_types(tools: LookupDictionary) -> LookupDictionary:
    """The tools as JSON Schema writes them: an enum without a type has the type of its members."""

    def inferred(t: ValueType) -> ValueType:
        if t.kind != "any" or t.any_of or not t.enum:
            return t
        return replace(type_of(m for m in t.enum if m is not None), enum=t.enum, nullable=t.nullable)

    return changed(tools, kind=inferred)


def prompts(documents: list[Any]) -> list[Any]:
    return [
        documents,
        json.dumps(documents),
        "\n".join(json.dumps(d, ensure_ascii=False) for d in documents),
        f"Use:\n```json\n{json.dumps(documents, indent=4)}\n```\nUser: [hi] {{you}}, it's",
        f'api_list = {documents!r}\ntask = "a "b""',
        json.dumps({"jsonrpc": "2.0", "result": {"tools": documents}}),
    ]


def check_json_schema(tools: LookupDictionary, key: str) -> None:
    """``key`` is the name of the parameters, or ``function`` for tools in OpenAI's wrapper."""
    plain = [json_schema(tool) for tool in tools.tools]
    wrapped = [{"type": "function", "function": tool} for tool in plain]
    renamed = [{key if k == "parameters" else k: v for k, v in tool.items()} for tool in plain]
    for source in prompts(wrapped if key == "function" else renamed):
        assert without_raw_types(extract(source)) == with_inferred_types(tools)


SCHEMAS = st.sampled_from(["parameters", "inputSchema", "input_schema", "arguments", "function"])


@given(dictionaries(a_key(TYPES)), SCHEMAS)
def test_json_schema(tools: LookupDictionary, key: str) -> None:
    check_json_schema(tools, key)


@settings(max_examples=40)
@given(dictionaries(a_key(TYPES)))
def test_signatures(tools: LookupDictionary) -> None:
    """A signature reads back as the tool, but for descriptions and defaults."""
    wordless = changed(tools, lambda p: replace(p, description="", default=MISSING))
    expected = LookupDictionary(tuple(replace(tool, description="") for tool in wordless.tools))
    found = extract([json_schema(tool, prose=False) for tool in tools.tools])
    assert without_raw_types(found) == with_inferred_types(expected)


RAW = {"str": "STRING", "int": "int", "float": "NUMBER", "bool": "BOOLEAN", "list": "ARRAY", "dict": "OBJECT"}


def row_of(p: ParameterSpec) -> dict[str, Any]:
    row = {"type": RAW[p.type.kind], "description": p.description}
    enum = {} if p.enum is None else {"enum": list(p.enum)}
    return row | enum | ({} if p.default is MISSING else {"default": p.default})


def seal(t: ToolSpec) -> dict[str, Any]:
    keys = {"parameters": {p.name: row_of(p) for p in t.parameters}, "required": [p.name for p in t.required]}
    return {"api_name": t.name, "api_description": t.description, **keys, "responses": {"leak": {"type": "str"}}}


def rapid(t: ToolSpec) -> dict[str, Any]:
    rows = {f"{which}_parameters": [{"name": p.name, **row_of(p)} for p in keys]
            for which, keys in (("required", t.required), ("optional", t.optional))}  # fmt: skip
    head = {"tool_name": "c", "api_name": t.name, "api_description": t.description}
    return {**head, **rows, "template_response": {"name": "leak"}}


def gorilla(t: ToolSpec) -> dict[str, Any]:
    rows = [{"name": p.name, **row_of(p), "required": p.required} for p in t.parameters]
    return {"name": "A title", "api_name": t.name, "description": t.description, "parameters": rows}


def api_bank(t: ToolSpec) -> dict[str, Any]:
    keys = {p.name: {**row_of(p), "required": p.required} for p in t.parameters}
    leak = {"leak": {"type": "str", "description": ""}}
    return {"name": t.name, "description": t.description, "input_parameters": keys, "output_parameters": leak}


@pytest.mark.parametrize("form", [seal, rapid, gorilla, api_bank])
@given(tools=dictionaries(a_key(PLAIN)))
@settings(max_examples=40)
def test_keys_without_a_schema(form: Callable[[ToolSpec], dict[str, Any]], tools: LookupDictionary) -> None:
    def plain(p: ParameterSpec) -> ParameterSpec:
        raw = RAW[p.type.kind]
        default = MISSING if form is rapid and p.default == "" else p.default
        return replace(p, raw_type=raw, type=value_type(raw), default=default)

    right = changed(tools, plain)
    if form is rapid:
        right = LookupDictionary(tuple(replace(t, parameters=(*t.required, *t.optional)) for t in right.tools))
    for source in prompts([form(tool) for tool in tools.tools]):
        assert extract(source) == right
