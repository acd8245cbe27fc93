"""Each documentation form gives the tool that it documents."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookup import ANY, MISSING, LookupDictionary, ParameterSpec, ToolSpec, extract
from lookup.types.type_names import value_type

KEYS = st.text(min_size=1) | st.sampled_from(["name", "type", "parameters", "properties", "required", "description"])


def says_nothing(text):
    """Whether a description does not decide whether its key is required."""
    return "optional" not in text.lower() and "required" not in text.lower()


NAMES = st.text(min_size=1).filter(str.strip)
RAW_TYPES = st.sampled_from(["string", "integer", "float", "boolean", "array", "dict", "tuple", "any", "HashMap"])
VALUES = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers(), max_size=2)


@st.composite
def parameters(draw, api_bank=False):
    keys = draw(st.lists(KEYS, unique=True, max_size=5))
    specs = []
    for key in keys:
        raw_type = draw(RAW_TYPES)
        description = draw(st.text().filter(says_nothing))
        if api_bank:
            required = "[optional]" not in description.lower()
            specs.append(ParameterSpec(key, value_type(raw_type), raw_type, required, description))
            continue
        enum = draw(st.none() | st.lists(VALUES, min_size=1, max_size=3).map(tuple))
        default = draw(st.just(MISSING) | VALUES)
        required = draw(st.booleans())
        specs.append(ParameterSpec(key, value_type(raw_type), raw_type, required, description, enum, default))
    return tuple(specs)


def dictionaries(api_bank):
    tools = st.builds(ToolSpec, NAMES, st.text(), parameters(api_bank=api_bank))
    return st.lists(tools, min_size=1, max_size=3, unique_by=lambda tool: tool.name).map(
        lambda tools: LookupDictionary(tuple(tools))
    )


def json_schema(tool):
    properties = {}
    for p in tool.parameters:
        properties[p.name] = {"type": p.raw_type, "description": p.description}
        if p.enum is not None:
            properties[p.name]["enum"] = list(p.enum)
        if p.default is not MISSING:
            properties[p.name]["default"] = p.default
    schema = {"type": "dict", "properties": properties, "required": [p.name for p in tool.required]}
    return {"name": tool.name, "description": tool.description, "parameters": schema}


def api_bank(tool):
    keys = {p.name: {"type": p.raw_type, "description": p.description} for p in tool.parameters}
    return {
        "name": tool.name,
        "description": tool.description,
        "input_parameters": keys,
        "output_parameters": {"name": {"type": "str", "description": ""}},
    }


def layouts(documents):
    return [
        documents,
        json.dumps(documents),
        json.dumps(documents, indent=4),
        "\n".join(map(json.dumps, documents)),
        f"Use:\n```json\n{json.dumps(documents, indent=2, ensure_ascii=False)}\n```\nUser: [hi] {{you}}",
        f"tools = {documents!r}\nGo.",
        " and ".join(["Tools:", *map(json.dumps, documents)]),
        json.dumps({"api_name": "ToolSearcher", "input": {"keywords": "x"}, "output": documents}),
    ]


@given(dictionaries(api_bank=False))
def test_json_schema_extracts_to_itself(tools):
    plain = [json_schema(tool) for tool in tools.values()]
    for source in layouts(plain):
        assert extract(source) == tools
    assert extract({"tools": [{"type": "function", "function": document} for document in plain]}) == tools
    for schema_key in ("inputSchema", "input_schema"):
        renamed = [{schema_key if k == "parameters" else k: v for k, v in d.items()} for d in plain]
        assert extract({"tools": renamed}) == tools


@given(dictionaries(api_bank=True))
def test_api_bank_extracts_to_itself(tools):
    for source in layouts([api_bank(tool) for tool in tools.values()]):
        assert extract(source) == tools


def parameter(spec, required=None, **schema):
    """The only parameter ``x`` of a tool with this schema."""
    schema = {"type": "object", "properties": {"x": spec}} | schema
    if required is not None:
        schema["required"] = required
    return extract({"name": "f", "parameters": schema})["f"].parameters[0]


@pytest.mark.parametrize(
    ("spec", "required_list", "required"),
    [
        ({}, ["x"], True),
        ({}, [], False),
        ({}, None, False),
        ({"required": True}, None, True),
        ({"required": "true"}, None, True),
        ({"required": "false"}, None, False),
        ({"optional": False}, None, True),
        ({"optional": "yes"}, None, False),
        ({"optional": True}, ["x"], False),
        ({"required": True}, [], True),
        ({"required": ["nested"]}, None, False),
    ],
)
def test_required(spec, required_list, required):
    assert parameter(spec, required_list).required is required


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


def test_keys_equal_to_schema_words_are_ordinary_keys():
    inner = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    properties = {key: {"type": "string"} for key in ("name", "description", "type", "required", "properties")}
    properties["parameters"] = inner
    tool = {"name": "f", "parameters": {"type": "object", "properties": properties, "required": ["required"]}}
    tools = extract(f"Do: {json.dumps(tool)}")
    assert list(tools) == ["f"]
    assert [p.name for p in tools["f"].parameters] == list(properties)
    assert [p.name for p in tools["f"].required] == ["required"]


@pytest.mark.parametrize(
    "text",
    [
        'Answer as {"name": function name, "parameters": dictionary of argument name and its value}.',
        'Answer as {"name": <function-name>, "arguments": <args-json-object>}.',
        'For example {"name": "uber.ride", "parameters": {"type": "plus", "time": 10}}.',
        'Call {"type": "function", "function": {"name": "uber.ride", "arguments": "{}"}}.',
        'With {"tool_choice": {"type": "function", "function": {"name": "uber.ride"}}}.',
        "Use [brackets], {braces} and {'sets', } {\"a\": b} as you like, don't (unless [",
        'It says "{\\"name\\": \\"g\\"}" in a string: {"text": "{\\"name\\": 1, \\"parameters\\": {}}"}',
    ],
)
def test_calls_and_other_braces_are_no_tools(text):
    tool = '{"name": "uber.ride", "description": "", "parameters": {}}'
    assert list(extract(f"{text}\n{tool}\n{text}")) == ["uber.ride"]


def test_unknown_type_is_any():
    assert parameter({"type": "torch.dtype"}).type == ANY
