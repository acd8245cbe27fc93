"""Documentation in its many forms, each as it is found: the types, keys and requiredness that it says."""

import json
from typing import Any

import pytest
from seams import key_text, tool_text

from lookup import DocumentationError, ParameterSpec, extract
from lookup.type_names import value_type


def bfcl(properties: dict[str, Any], required: list[str] | None = None, name: str = "f") -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "dict", "properties": properties}
    if required is not None:
        schema["required"] = required
    return {"name": name, "description": "d", "parameters": schema}


def in_prompt(documentation: str) -> str:
    return f"You compose calls. [Use] {{only}} these, don't invent:\n{documentation}\n\nQuestion: is f(x) 'right'?\n"


DEFINITIONS = {
    "Unit": {"type": "string", "enum": ["m", "km"], "description": "there"},
    "Loop": {"$ref": "#/$defs/Loop"},
    "Tree": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}},
}
ONE = {
    "type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind", "x"]
}  # fmt: skip
OTHER = {"type": "object", "properties": {"kind": {"const": "b"}, "y": {"type": "integer"}}, "required": ["kind"]}
UNIT = {"$ref": "#/$defs/Unit"}
NULL = {"type": "null"}


def key(spec: Any, required: list[str] | None = None) -> ParameterSpec:
    """The only parameter of a tool."""
    tool = bfcl({"x": spec}, required)
    tool["parameters"]["$defs"] = DEFINITIONS
    return extract(tool)["f"].parameters[0]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"type": "array", "items": {"type": "array", "items": {"type": "long"}}}, "x: list[list[int]]"),
        ({"type": "tuple", "items": {"type": "float"}}, "x: tuple[float]"),
        ({"type": ["string", "null"]}, "x: str?"),
        ({"type": ["string", "integer"]}, "x: str | int"),
        ({"anyOf": [{"type": "integer"}, NULL]}, "x: int?"),
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
        ({"type": "array", "enum": ["a", "b"]}, 'x: list in ["a", "b"]'),
        ({"default": None}, "x: any = null"),
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


@pytest.mark.parametrize(
    "source",
    [
        {"name": "f", "parameters": {}},
        {"name": "f", "description": "d", "parameters": None},
        {"name": "f", "parameters": {"type": "object", "properties": {}}},
        {"name": "f", "parameters": {"type": "dict"}},
        {"name": "f", "description": "d"},
        [{"name": "f", "description": "d"}],
        {"type": "function", "function": {"name": "f"}},
        {"tools": [{"name": "f", "description": "d"}]},
        {"name": "f", "description": "d", "input_parameters": None},
        "{'name': 'f', 'description': 'd', 'input_parameters': {\n    None\n}}",
    ],
)
def test_no_parameters(source: Any) -> None:
    for written in (source, source if isinstance(source, str) else json.dumps(source)):
        assert [(t.name, t.parameters) for t in extract(written).tools] == [("f", ())]


def test_a_name_alone_beside_tools_is_a_tool_without_parameters() -> None:
    documented = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}
    for source in ([{"name": "now"}, documented], json.dumps([{"name": "now"}, documented])):
        assert [(t.name, len(t.parameters)) for t in extract(source).tools] == [("now", 0), ("f", 1)]
    assert [t.name for t in extract([documented, {"name": "now", "age": 3}]).tools] == ["f"]


def test_a_bare_tool_beside_others_in_a_list_and_in_json_lines() -> None:
    documents = [{"name": "a", "parameters": {}}, {"name": "b", "description": "no parameters"}]
    assert list(extract(documents)) == list(extract("\n".join(map(json.dumps, documents)))) == ["a", "b"]


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
        ({"default": None}, None, False, "default"),
        ({"required": ["nested"]}, None, False, "habit"),
    ],
)
def test_what_decides_whether_a_key_is_required(spec: Any, listed: Any, required: bool, rule: str) -> None:
    found = key({"type": "string"} | spec, listed)
    assert (found.required, found.rule) == (required, rule)


TWIN = {
    "category_name": "Data",
    "api_name": "Search",
    "api_description": "Unbalanced ( and [ and `{`\n| a | b |",
    "required_parameters": [{"name": "query[]", "type": "STRING", "description": "", "default": ""}],
    "optional_parameters": [{"name": "from", "type": "NUMBER", "description": "", "default": "25.65"}],
    "template_response": {"leak": "str", "name": "str"},
}


def test_tool_bench_lists_with_an_empty_key() -> None:
    schema = {
        "type": "object",
        "properties": {"id_conc": {"type": "string", "description": "", "example_value": "406"}},
        "required": ["", "id_conc"],
        "optional": [""],
    }
    tools = extract(in_prompt(str([{"name": "concert_for_theclique", "description": "d", "parameters": schema}])))
    found = tools["concert_for_theclique"]
    assert tool_text(found) == "concert_for_theclique(id_conc!: str) -> d"
    assert len(found.notes) == 2  # the empty key of both lists


def test_twins_of_two_collections() -> None:
    twins = [TWIN | {"tool_name": name} for name in ("Shop", "News", "News")]
    with pytest.raises(
        DocumentationError, match=r"\[1\]: two tools of one name: 'Search' is documented at .*\[0\] already"
    ):
        extract(twins)
    tools = extract(twins, on_duplicate="rename")
    assert list(tools) == ["Search", "Search_for_News", "Search_for_News_2"]
    assert [t.documented_name for t in tools.tools] == ["", "Search", "Search"]


def test_a_new_name_never_meets_an_old_one() -> None:
    tools = [bfcl({}, name=name) for name in ("a", "a", "a_2", "a")]
    assert list(extract(tools, on_duplicate="rename")) == ["a", "a_3", "a_2", "a_4"]


@pytest.mark.parametrize(
    ("spec", "kind", "required"),
    [
        ({"type": "Dict[str, int], optional", "description": "d"}, "dict[int]", False),
        ({"type": "float, required"}, "float", True),
        ({"param_type": "int", "description": "d", "required": True}, "int", True),
    ],
)
def test_types_that_say_whether_the_key_is_required(spec: Any, kind: str, required: bool) -> None:
    written = in_prompt(json.dumps({"name": "f", "description": "d", "parameters": {"x": spec}}))
    (found,) = extract(written)["f"].parameters
    assert (str(found.type), found.required, found.rule) == (kind, required, "flag")


def test_names_and_schemas_under_other_keys() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    listed = {"parameters": [{"name": "a", "schema": {"type": "string"}}], "required": ["a"]}
    tools = extract(
        [
            {"apiCode": "Get", "description": "d", "parameters": {"a": {"type": "str", "required": True}}},
            {"function_name": "f", "description": "d", "parameters": schema},
            {"name": "g", "description": "d", "args_schema": schema, "parameters": {}},
            {"name": "h", "description": "d", **listed},
            {"tools": {"i": {"description": "d", "parameters": schema}}},
            {"functionDeclarations": [{"name": "stop", "description": "d"}]},
        ]
    )
    named = [f"{name}(a!: str) -> d" for name in ("Get", "f", "g", "h", "i")]
    assert list(map(tool_text, tools.tools)) == [*named, "stop() -> d"]
