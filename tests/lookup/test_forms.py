"""Documentation in its many forms, each as it is found: the types, keys and requiredness that it says."""

import json
from typing import Any

import pytest
from seams import key_text, tool_text

from lookup import DocumentationError, ParameterSpec, extract
from lookup.type_names import value_type

DEFINITIONS = {
    "Unit": {"type": "string", "enum": ["m", "km"], "description": "there"},
    "Loop": {"$ref": "#/$defs/Loop"},
    "Tree": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}},
}
ONE = {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind", "x"]}
OTHER = {"type": "object", "properties": {"kind": {"const": "b"}, "y": {"type": "integer"}}, "required": ["kind"]}
UNIT = {"$ref": "#/$defs/Unit"}
NULL = {"type": "null"}


def key(spec: Any, required: list[str] | None = None) -> ParameterSpec:
    """The only parameter of a tool."""
    listed = {} if required is None else {"required": required}
    schema = {"type": "dict", "properties": {"x": spec}, "$defs": DEFINITIONS, **listed}
    return extract({"name": "f", "description": "d", "parameters": schema})["f"].parameters[0]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"type": "array", "items": {"type": "array", "items": {"type": "long"}}}, "x: list[list[int]]"),
        ({"type": "tuple", "items": {"type": "float"}}, "x: tuple[float]"),
        ({"type": ["string", "null"]}, "x: str?"),
        ({"type": ["string", "integer"]}, "x: str | int"),
        ({"anyOf": [{"type": "integer"}, NULL]}, "x: int?"),
        ({"anyOf": [{"const": "v"}, NULL]}, 'x: str? in ["v"]'),
        ({"anyOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}], "enum": ["x"]}, {"type": "boolean"}]},
         'x: int | str in ["x"] | bool'),
        ({"oneOf": [{"type": "integer"}, NULL, {"type": "string"}]}, "x: int | str?"),
        ({**UNIT, "description": "here"}, 'x: str in ["m", "km"] # here'),
        ({"type": "array", "items": UNIT}, 'x: list[str in ["m", "km"]]'),
        ({"items": {"type": "string"}}, "x: list[str]"),
        ({"$ref": "#/$defs/Loop"}, "x: any"),
        ({"$ref": "https://example.com/schema"}, "x: any"),
        (True, "x: any"),
        ({"type": ""}, "x: any"),
        ({"type": "object", "oneOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}]},
         "x: {a: any, b: any}"),
        ({"oneOf": [ONE, OTHER]}, 'x: {kind!: str in ["a"], x!: str} | {kind!: str in ["b"], y: int}'),
        ({"$ref": "#/$defs/Tree"}, "x: {kids: list[dict]}"),  # an object inside itself is one without keys
        ({"type": "string", "anyOf": [{"enum": ["p"]}, {"enum": ["q"]}]}, 'x: str in ["p", "q"]'),
        ({"const": "a"}, 'x: str in ["a"]'),
        ({"enum": ["a", None]}, 'x: str? in ["a", null]'),
        ({"type": "array", "enum": ["a", "b"]}, 'x: list in ["a", "b"]'),
        ({"default": None}, "x: any = null"),
        ({"type": "Dict[str, int], optional"}, "x: dict[int]"),
        ({"type": "float, required"}, "x!: float"),
        ({"param_type": "int"}, "x: int"),
    ],
)  # fmt: skip
def test_types(spec: Any, expected: str) -> None:
    assert key_text(key(spec, [])) == expected


@pytest.mark.parametrize("written", ["string", '["string", "null"]', '[{"type": "integer"}, {"type": "null"}]', ""])
def test_types_as_written_are_kept(written: str) -> None:
    parsed = json.loads(written) if written.startswith("[") else written
    assert key({"anyOf" if "{" in written else "type": parsed}).raw_type == written


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("String", "str"), ("char", "str"), ("datetime", "str"), ("Integer", "int"), ("long", "int"),
        ("number", "float"), ("double", "float"), ("Boolean", "bool"), ("ArrayList", "list"),
        ("Array", "list"), ("List[str]", "list[str]"), ("list(str)", "list[str]"),
        ("Array<Integer>", "list[int]"), ("string[]", "list[str]"),
        ("List[List[int]]", "list[list[int]]"), ("array of strings", "list[str]"), ("object", "dict"),
        ("HashMap", "dict"), ("Map", "dict"), ("hashtable", "dict"), ("Dict[str, Any]", "dict"),
        ("Tuple[int, int]", "tuple[int]"), ("Optional[int]", "int"), ("str | None", "str"),
        ("int | str", "int | str"), ("any", "any"), ("", "any"), ("torch.dtype", "any"), ("[" * 500, "any"),
        ("list[" * 30, "any"),
    ],
)  # fmt: skip
def test_type_names(written: str, kind: str) -> None:
    assert str(value_type(written)) == kind


A = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
LISTED = {"parameters": [{"name": "a", "schema": {"type": "string"}}], "required": ["a"]}


@pytest.mark.parametrize(
    ("source", "tools"),
    [
        ({"name": "f", "parameters": {}}, ["f()"]),
        ({"name": "f", "description": "d", "parameters": None}, ["f() -> d"]),
        ({"name": "f", "parameters": {"type": "object", "properties": {}}}, ["f()"]),
        ({"name": "f", "parameters": {"type": "dict"}}, ["f()"]),
        ({"name": "f", "description": "d"}, ["f() -> d"]),
        ([{"name": "f", "description": "d"}], ["f() -> d"]),
        ({"type": "function", "function": {"name": "f"}}, ["f()"]),
        ({"tools": [{"name": "f", "description": "d"}]}, ["f() -> d"]),
        ({"name": "f", "description": "d", "input_parameters": None}, ["f() -> d"]),
        ("{'name': 'f', 'description': 'd', 'input_parameters': {\n    None\n}}", ["f() -> d"]),
        ([{"name": "now"}, {"name": "f", "parameters": A}], ["now()", "f(a!: str)"]),
        ([{"name": "f", "parameters": A}, {"name": "now", "age": 3}], ["f(a!: str)"]),
        ([{"name": "a", "parameters": {}}, {"name": "b", "description": "d"}], ["a()", "b() -> d"]),
        ('{"name": "a", "parameters": {}}\n{"name": "b", "description": "d"}', ["a()", "b() -> d"]),
        ({"apiCode": "F", "description": "d", "parameters": {"a": {"type": "str", "required": True}}},
         ["F(a!: str) -> d"]),
        ({"function_name": "f", "description": "d", "parameters": A}, ["f(a!: str) -> d"]),
        ({"name": "g", "description": "d", "args_schema": A, "parameters": {}}, ["g(a!: str) -> d"]),
        ({"name": "h", "description": "d", **LISTED}, ["h(a!: str) -> d"]),
        ({"tools": {"i": {"description": "d", "parameters": A}}}, ["i(a!: str) -> d"]),
        ([{"functionDeclarations": [{"name": "stop", "description": "d"}]}], ["stop() -> d"]),
    ],
)  # fmt: skip
def test_what_documents_a_tool(source: Any, tools: list[str]) -> None:
    for written in (source, source if isinstance(source, str) else json.dumps(source)):
        assert list(map(tool_text, extract(written).tools)) == tools


@pytest.mark.parametrize(
    ("spec", "listed", "required", "rule"),
    [
        ({"optional": True}, [], False, "flag"),
        ({"optional": "true"}, None, False, "flag"),
        ({"optional": "yes"}, ["x"], False, "flag"),  # a tool with both: the key itself takes precedence
        ({"required": "true"}, None, True, "flag"),
        ({"optional": False}, None, True, "flag"),
        ({"required": True}, [], True, "flag"),
        ({"required": "false"}, None, False, "flag"),  # bool("false") is True
        ({"required": False, "default": None}, None, False, "flag"),
        ({"default": 3}, ["x"], True, "list"),
        ({"description": "Required. The city."}, [], False, "list"),
        ({"description": "name of the district where the service is required"}, None, False, "habit"),
        ({"description": "an optional extra"}, None, False, "habit"),
        ({"description": "Required. The city."}, None, True, "prose"),
        ({"description": "[Optional] The city. Default is auto."}, None, False, "prose"),
        ({"description": "The city (required)"}, None, True, "prose"),
        ({"description": "(Required, string) The city."}, None, True, "prose"),
        ({"description": "The city (required, if there is no zip)."}, None, False, "habit"),
        ({"description": "**Required.** The city."}, None, True, "prose"),
        ({"description": "必填。城市"}, None, True, "prose"),
        ({"description": "城市\uff08可选\uff09"}, None, False, "prose"),
        ({"description": "可选: 北京, 上海"}, None, False, "habit"),  # choices
        ({"default": None}, None, False, "default"),
        ({"type": "str, optional"}, None, False, "flag"),
        ({"type": "str, required"}, [], True, "flag"),
        ({"required": ["nested"]}, None, False, "habit"),
    ],
)
def test_what_decides_whether_a_key_is_required(spec: Any, listed: Any, required: bool, rule: str) -> None:
    found = key({"type": "string"} | spec, listed)
    assert (found.required, found.rule) == (required, rule)


def test_tool_bench_lists_with_an_empty_key() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["", "a"], "optional": [""]}
    (found,) = extract([{"name": "f", "description": "d", "parameters": schema}]).tools
    assert tool_text(found) == "f(a!: str) -> d"
    assert len(found.notes) == 2  # the empty key of both lists


def test_tools_of_one_name_are_an_error_or_get_names_that_no_other_has() -> None:
    twin = {"api_name": "Search", "api_description": "d", "required_parameters": [], "optional_parameters": []}
    twins = [twin | {"tool_name": name} for name in ("Shop", "News", "News")]
    with pytest.raises(DocumentationError, match=r"\[1\]: two tools .*'Search' is documented at .*\[0\] already"):
        extract(twins)
    tools = extract(twins, on_duplicate="rename")
    assert list(tools) == ["Search", "Search_for_News", "Search_for_News_2"]
    assert [t.documented_name for t in tools.tools] == ["", "Search", "Search"]
    named = [{"name": name, "parameters": {}} for name in ("a", "a", "a_2", "a")]
    assert list(extract(named, on_duplicate="rename")) == ["a", "a_3", "a_2", "a_4"]
