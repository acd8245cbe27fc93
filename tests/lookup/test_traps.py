"""The traps of real documentation, each in its original form."""

import json
from typing import Any

import pytest

from lookup import MISSING, DocumentationError, LookupDictionary, ParameterSpec, extract
from voting import TypeCheckError, check_value


def bfcl(properties: dict[str, Any], required: list[str] | None = None, name: str = "f") -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "dict", "properties": properties}
    if required is not None:
        schema["required"] = required
    return {"name": name, "description": "d", "parameters": schema}


def keys(tools: LookupDictionary, name: str = "f") -> dict[str, ParameterSpec]:
    return {p.name: p for p in tools[name].parameters}


def in_prompt(documentation: str) -> str:
    return f"You compose calls. [Use] {{only}} these, don't invent:\n{documentation}\n\nQuestion: is f(x) 'right'?\n"


# Requiredness


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
    found = keys(extract(bfcl({"x": {"type": "string"} | spec}, listed)))["x"]
    assert (found.required, found.rule) == (required, rule)


# Contradicting types, enums and defaults


@pytest.mark.parametrize(
    ("spec", "right", "wrong"),
    [
        ({"type": "boolean", "enum": ["True", "False", "dontcare"]}, ["dontcare", "True"], [True, "x"]),
        ({"type": "integer", "enum": ["1", "2"]}, ["1"], [1]),
        ({"type": "array", "items": {"type": "string"}, "enum": ["a", "b"]}, [["a"], []], [["c"], "a"]),
        ({"type": "string", "enum": ["AA", "Aa", "aa"]}, ["AA", "aa"], ["aA"]),
        ({"type": "string", "enum": ["plus", "black"], "default": None}, ["plus", None], ["", "None"]),
        ({"type": "string", "enum": ["a"], "default": "all"}, ["a", "all"], ["any"]),
        ({"type": "integer", "default": "5 years"}, [5, "5 years"], ["6 years", None]),
        ({"type": "boolean", "default": "false"}, [True, "false"], ["true"]),
        ({"type": "string", "default": None}, ["x", None], [5]),
        ({"type": ["integer", "null"]}, [1, None], ["1"]),
        ({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}, ["a", ["a"]], [1, [1]]),
        ({"type": "integer", "nullable": True}, [None], ["None"]),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, [1, None], ["1"]),
        (
            {"anyOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}], "enum": ["x"]}, {"type": "boolean"}]},
            ["x", True],
            [1],
        ),
        ({"type": ""}, ["a", 1, None], []),
        ({"type": "float", "default": 3}, [3, 2.5], ["3"]),
    ],
)
def test_the_default_and_a_documented_null_are_right_beside_type_and_enum(
    spec: Any, right: list[Any], wrong: list[Any]
) -> None:
    found = keys(extract(in_prompt(json.dumps(bfcl({"x": spec}, [])))))["x"]
    assert found.enum == (tuple(spec["enum"]) if "enum" in spec else None)
    assert found.default == spec.get("default", MISSING)
    for value in right:
        assert check_value(value, found) == value
    for value in wrong:
        with pytest.raises(TypeCheckError):
            check_value(value, found)


# RapidAPI and ToolBench


RAPID = {
    "category_name": "Data",
    "tool_name": "\U0001f44b Demo",
    "api_name": "/users('{id}') ",
    "api_description": "Unbalanced ( and [ and `{`\n| a | b |",
    "required_parameters": [
        {"name": "query[]", "type": "STRING", "description": "", "default": ""},
        {"name": "date\t", "type": "DATE (YYYY-MM-DD)", "description": "", "default": "2020-01-01"},
        {"name": "from", "type": "NUMBER", "description": "", "default": "25.65"},
    ],
    "optional_parameters": [
        {"name": "from", "type": "STRING", "description": "", "default": ""},
        {"name": "mode", "type": "ENUM", "description": "", "default": ""},
    ],
    "method": "GET",
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
    assert [(p.name, p.required, p.default) for p in found.parameters] == [("id_conc", True, MISSING)]
    assert len(found.notes) == 2  # the empty key of both lists


def test_twins_of_two_collections() -> None:
    twins = [RAPID | {"api_name": "Search", "tool_name": name} for name in ("Shop", "News", "News")]
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


# Forms of other frameworks


@pytest.mark.parametrize(
    ("spec", "kind", "required"),
    [
        ({"type": "Dict[str, int], optional", "description": "d"}, "dict[int]", False),
        ({"type": "float, required"}, "float", True),
        ({"param_type": "int", "description": "d", "required": True}, "int", True),
    ],
)
def test_types_that_say_whether_the_key_is_required(spec: Any, kind: str, required: bool) -> None:
    found = keys(extract(in_prompt(json.dumps({"name": "f", "description": "d", "parameters": {"x": spec}}))))["x"]
    assert (str(found.type), found.required, found.rule) == (kind, required, "flag")


@pytest.mark.parametrize(
    ("spec", "kind", "inside"),
    [
        (
            {"type": "object", "oneOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}]},
            "dict",
            "ab",
        ),
        ({"items": {"type": "string"}}, "list[str]", None),
        ({"type": "string", "anyOf": [{"enum": ["p"]}, {"enum": ["q"]}]}, "str", None),
    ],
)
def test_branches_beside_a_type(spec: Any, kind: str, inside: str | None) -> None:
    found = keys(extract(bfcl({"x": spec})))["x"]
    assert str(found.type) == kind
    assert ("".join(p.name for p in found.type.properties) if found.type.properties else None) == inside
    assert found.enum == (("p", "q") if "anyOf" in spec else None)


def test_names_and_schemas_under_other_keys() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    trained = {
        "apiCode": "Get",
        "description": "d",
        "parameters": {"a": {"type": "str", "required": True}},
        "response": {},
    }
    tools = extract(
        [
            trained,
            {"function_name": "f", "description": "d", "parameters": schema},
            {"name": "g", "description": "d", "args_schema": schema, "parameters": {}},
            {
                "name": "h",
                "description": "d",
                "parameters": [{"name": "a", "schema": {"type": "string"}}],
                "required": ["a"],
            },
            {"tools": {"i": {"description": "d", "parameters": schema}}},
            {"functionDeclarations": [{"name": "stop", "description": "d"}]},
        ]
    )
    assert list(tools) == ["Get", "f", "g", "h", "i", "stop"]
    for tool in tools.tools[:-1]:
        assert [(p.name, str(p.type), p.required) for p in tool.parameters] == [("a", "str", True)]


def test_objects_of_a_union_stay_apart() -> None:
    first = {
        "type": "object",
        "properties": {"kind": {"const": "a"}, "x": {"type": "string"}},
        "required": ["kind", "x"],
    }
    second = {"type": "object", "properties": {"kind": {"const": "b"}, "y": {"type": "integer"}}, "required": ["kind"]}
    found = keys(extract(bfcl({"u": {"oneOf": [first, second]}})))["u"]
    assert [[(p.name, p.required, p.enum) for p in branch.properties or ()] for branch in found.type.any_of] == [
        [("kind", True, ("a",)), ("x", True, None)],
        [("kind", True, ("b",)), ("y", False, None)],
    ]


def test_an_object_inside_itself_is_an_object_without_keys() -> None:
    tree = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}}}
    schema = {"type": "object", "properties": {"root": {"$ref": "#/$defs/T"}}, "$defs": {"T": tree}}
    (root,) = extract({"name": "f", "parameters": schema})["f"].parameters
    (kids,) = root.type.properties or ()
    assert str(kids.type) == "list[dict]" and kids.type.items and kids.type.items.properties is None
