"""Each documentation form gives the tool that it documents."""

import json

import pytest

from lookup import MISSING, extract
from lookup.type_names import value_type


def parameter(spec, required=None, **schema):
    """The only parameter ``x`` of a tool with this schema."""
    schema = {"type": "object", "properties": {"x": spec}} | schema
    if required is not None:
        schema["required"] = required
    return extract({"name": "f", "parameters": schema})["f"].parameters[0]


@pytest.mark.parametrize(
    ("spec", "kind", "raw_type"),
    [
        ({"type": "string"}, "str", "string"),
        ({"type": "array", "items": {"type": "number"}}, "list[float]", "array"),
        (
            {"type": "array", "items": {"type": "array", "items": {"type": "long"}}},
            "list[list[int]]",
            "array",
        ),
        ({"type": "tuple", "items": {"type": "float"}}, "tuple[float]", "tuple"),
        ({"type": ["string", "null"]}, "str", '["string", "null"]'),
        ({"type": ["string", "integer"]}, "str | int", '["string", "integer"]'),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "int",
            '[{"type": "integer"}, {"type": "null"}]',
        ),
        (
            {"oneOf": [{"type": "integer"}, {"type": "string"}]},
            "int | str",
            '[{"type": "integer"}, {"type": "string"}]',
        ),
        ({"$ref": "#/$defs/Unit"}, "str", "string"),
        ({"type": "array", "items": {"$ref": "#/$defs/Unit"}}, "list[str]", "array"),
        ({"$ref": "#/$defs/Loop"}, "any", ""),
        ({"$ref": "https://example.com/schema"}, "any", ""),
        ({}, "any", ""),
        (True, "any", ""),
        ({"type": ""}, "any", ""),
    ],
)
def test_types(spec, kind, raw_type):
    definitions = {"Unit": {"type": "string", "enum": ["m", "km"]}, "Loop": {"$ref": "#/$defs/Loop"}}
    found = parameter(spec, **{"$defs": definitions})
    assert (str(found.type), found.raw_type) == (kind, raw_type)


def test_reference_brings_its_enum_and_siblings_win():
    found = parameter(
        {"$ref": "#/definitions/U", "description": "here"},
        definitions={"U": {"type": "string", "enum": ["m"], "description": "there"}},
    )
    assert (found.enum, found.description) == (("m",), "here")


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
def test_type_names(written, kind):
    assert str(value_type(written)) == kind


def test_null_default_is_a_default_and_const_is_an_enum():
    assert parameter({"default": None}).default is None
    assert parameter({}).default is MISSING
    assert parameter({"const": "a"}).enum == ("a",)
    assert parameter({"type": "array", "enum": ["a", "b"]}).enum == ("a", "b")


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
def test_no_parameters(source):
    for given_source in (source, source if isinstance(source, str) else json.dumps(source)):
        tools = extract(given_source)
        assert list(tools) == ["f"]
        assert tools["f"].parameters == ()


def test_bare_tool_beside_others_in_a_list_and_in_json_lines():
    documents = [{"name": "a", "parameters": {}}, {"name": "b", "description": "no parameters"}]
    assert list(extract(documents)) == ["a", "b"]
    assert list(extract("\n".join(map(json.dumps, documents)))) == ["a", "b"]
