"""Any tools, printed in any form of objects, extract to themselves: as objects, as text and in prompts.

The tests of the text forms (XML, docstrings, prose, signatures, YAML) contain the same law.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookup import MISSING, LookupDictionary, ParameterSpec, ToolSpec, ValueType, extract
from lookup.type_names import united, value_type
from tooldecoding.chat.documentation import json_schema

WORDS = ["name", "type", "parameters", "properties", "required", "description", "items", "enum", "$ref", "default"]
KEYS = st.text(min_size=1, max_size=8) | st.sampled_from(WORDS)
NAMES = st.text(min_size=1, max_size=8).filter(str.strip) | st.sampled_from(["uber.ride", "uber.ride2", "GET /a/{b}"])
# Words that decide whether a key is required are tested elsewhere.
TEXTS = st.text(max_size=20).filter(lambda text: "optional" not in text.lower() and "required" not in text.lower())
VALUES = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
ENUMS = st.none() | st.lists(VALUES, min_size=1, max_size=3).map(tuple)
DEFAULTS = st.just(MISSING) | VALUES
PLAIN = st.sampled_from([ValueType(kind) for kind in ("str", "int", "float", "bool", "list", "dict")])


def keys(types: st.SearchStrategy[ValueType], least: int, most: int) -> st.SearchStrategy[tuple[ParameterSpec, ...]]:
    key = st.builds(ParameterSpec, KEYS, types, st.just(""), st.booleans(), TEXTS, ENUMS, DEFAULTS)
    return st.lists(key, min_size=least, max_size=most, unique_by=lambda p: p.name).map(tuple)


TYPES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.builds(ValueType, st.sampled_from(["list", "dict"]), inner),
        st.builds(ValueType, st.just("dict"), properties=keys(inner, 1, 3)),
        st.lists(inner, min_size=2, max_size=3).map(united),
        inner.map(lambda t: t if t.kind == "any" else replace(t, nullable=True)),
    ),
    max_leaves=4,
)


def dictionaries(types: st.SearchStrategy[ValueType]) -> st.SearchStrategy[LookupDictionary]:
    tools = st.builds(ToolSpec, NAMES, TEXTS, keys(types, 0, 5))
    distinct = st.lists(tools, min_size=1, max_size=3, unique_by=lambda tool: tool.name)
    return distinct.map(lambda tools: LookupDictionary(tuple(tools)))


def changed(tools: LookupDictionary, key: Callable[[ParameterSpec], ParameterSpec]) -> LookupDictionary:
    """The tools with every key replaced, from the inside out."""

    def of_type(t: ValueType) -> ValueType:
        properties = t.properties and tuple(map(of_key, t.properties))
        branches = tuple(map(of_type, t.any_of))
        return replace(t, items=t.items and of_type(t.items), properties=properties, any_of=branches)

    def of_key(p: ParameterSpec) -> ParameterSpec:
        return key(replace(p, type=of_type(p.type)))

    return LookupDictionary(tuple(replace(t, parameters=tuple(map(of_key, t.parameters))) for t in tools.tools))


def without_raw_types(tools: LookupDictionary) -> LookupDictionary:
    return changed(tools, lambda p: replace(p, raw_type=""))


def prompts(documents: list[Any]) -> list[Any]:
    return [
        documents,
        json.dumps(documents),
        "\n".join(json.dumps(d, ensure_ascii=False) for d in documents),
        f"Use:\n```json\n{json.dumps(documents, indent=4)}\n```\nUser: [hi] {{you}}, it's",
        f'api_list = {documents!r}\ntask = "a "b""',
        json.dumps({"jsonrpc": "2.0", "result": {"tools": documents}}),
    ]


@given(dictionaries(TYPES), st.sampled_from(["parameters", "inputSchema", "input_schema", "arguments", "function"]))
def test_json_schema(tools: LookupDictionary, key: str) -> None:
    """``key`` is the name of the parameters, or ``function`` for tools in OpenAI's wrapper."""
    plain = [json_schema(tool) for tool in tools.tools]
    wrapped = [{"type": "function", "function": tool} for tool in plain]
    renamed = [{key if k == "parameters" else k: v for k, v in tool.items()} for tool in plain]
    for source in prompts(wrapped if key == "function" else renamed):
        assert without_raw_types(extract(source)) == tools


@settings(max_examples=40)
@given(dictionaries(TYPES))
def test_signatures(tools: LookupDictionary) -> None:
    """A signature reads back as the tool, but for descriptions and defaults."""
    wordless = changed(tools, lambda p: replace(p, description="", default=MISSING))
    expected = LookupDictionary(tuple(replace(tool, description="") for tool in wordless.tools))
    found = extract([json_schema(tool, prose=False) for tool in tools.tools])
    assert without_raw_types(found) == expected


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
@given(tools=dictionaries(PLAIN))
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
