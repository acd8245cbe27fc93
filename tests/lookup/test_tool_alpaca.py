"""ToolAlpaca's prose forms compared with the OpenAPI documents they were printed from."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data import DATA, needs_data
from growth import assert_linear
from lookup.errors import DocumentationError, MisreadError
from lookup.forms.corpora.prose_keys import read_prose
from lookup.forms.corpora.tool_alpaca import FORM, OBJECT_FORM


def tools(text):
    found = [entry.tool for entry in FORM.find(text)]
    assert not [tool for tool in found if isinstance(tool, MisreadError)]
    return found


def apis():
    return json.loads((DATA / "toolalpaca" / "eval_simulated.json").read_text(encoding="utf-8"))


def resolved(schema, document):
    if "$ref" in schema:
        return document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def operations(api):
    """Each operation's name, description and keys. If a key is in query and body, the body's is printed."""
    document = json.loads(api["Documentation"])
    for path in document["paths"].values():
        for operation in path.values():
            keys = {p["name"]: (p["required"], p["description"], p["schema"]) for p in operation.get("parameters", ())}
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            body = resolved(content.get("schema", {}), document)
            for key, schema in body.get("properties", {}).items():
                keys[key] = (key in body.get("required", ()), schema.get("description", ""), schema)
            yield operation["operationId"], operation.get("description") or operation.get("summary"), keys


def printed_type(schema):
    if schema["type"] != "array":
        return {"object": "Object"}.get(schema["type"], schema["type"])
    items = schema["items"]
    if "properties" not in items:
        return f"Array[{printed_type(items)}]"
    inner = (f"{key}: {printed_type(s)}. {s['description']}" for key, s in items["properties"].items())
    return f"Array[Object{{{', '.join(inner)}}}. ]"


def demand_same(found, api):
    expected = list(operations(api))
    assert [(tool.name, tool.description) for tool in found] == [(name, text) for name, text, _ in expected]
    for tool, (_, _, keys) in zip(found, expected, strict=True):
        assert [p.name for p in tool.parameters] == list(keys)
        for parameter, (required, text, schema) in zip(tool.parameters, keys.values(), strict=True):
            assert (parameter.required, parameter.rule) == (required, "prose" if required else "habit")
            assert parameter.description.rstrip(".") == text.rstrip(".")
            assert parameter.raw_type == printed_type(schema)
            assert parameter.enum == (tuple(schema["enum"]) if "enum" in schema else None)
            if nested := schema.get("items", {}).get("properties"):
                assert [p.name for p in parameter.type.items.properties] == list(nested)


@needs_data
def test_the_text_and_the_object_agree_with_the_openapi_document():
    for api in apis():
        demand_same(tools(f"You can use:\n\n{api['NLDocumentation']}\n\nUser: hello\n"), api)
        doubled = api["NLDocumentation"].replace("{", "{{").replace("}", "}}")
        demand_same(tools(f"{doubled}\n\nQuestion: {{input}}"), api)
        assert OBJECT_FORM.claims(api["Function_Description"])
        demand_same([tool for tool, _ in OBJECT_FORM.read(api["Function_Description"])], api)


@needs_data
def test_the_numbered_functions_have_every_key_marked():
    checked = 0
    for api in apis():
        found = tools(f"Functions:\n{api['Functions']}\n\nDo it.")
        assert [tool.name for tool in found] == [name for name, _, _ in operations(api)]
        for tool in found:
            assert tool.description
            for parameter in tool.parameters:
                assert (parameter.rule, parameter.type.kind != "any") == ("prose", True)
                checked += 1
    assert checked > 100


@pytest.mark.parametrize(
    ("prose", "required", "raw_type", "kind", "enum", "description"),
    [
        ("Required. string. The city.", True, "string", "str", None, "The city."),
        ("Optional. String. The city", False, "String", "str", None, "The city"),
        ("integer.", None, "integer", "int", None, ""),
        ("Array of Integers. Some.", None, "Array of Integers", "list[int]", None, "Some."),
        ("Array[string].  Filters.", None, "Array[string]", "list[str]", None, "Filters."),
        ("string. One of: [a, b c]. Text.", None, "string", "str", ("a", "b c"), "Text."),
        ("Required. string. Text. One of: [a, b].", True, "string", "str", ("a", "b"), "Text."),
        ("integer. One of: [1, 2, auto].", None, "integer", "int", (1, 2, "auto"), ""),
        ("number. One of: [1, 0.5]", None, "number", "float", (1, 0.5), ""),
        ("boolean. One of: [true]. x", None, "boolean", "bool", (True,), "x"),
        ("string. One of: [1, true].", None, "string", "str", ("1", "true"), ""),
        ("Array[integer]. One of: [1, 2].", None, "Array[integer]", "list[int]", (1, 2), ""),
        ("string. One of: ['a, b', 'c'].", None, "string", "str", ("a, b", "c"), ""),
        ("string. It is One of: [a, b] or none.", None, "string", "str", None, "It is One of: [a, b] or none."),
        ("string. From [0, to). One of: [a.", None, "string", "str", None, "From [0, to). One of: [a."),
        ("Object.  Filters, e.g. {a}.", None, "Object", "dict", None, "Filters, e.g. {a}."),
        ("Required. The city.", True, "", "any", None, "The city."),
        ("The place where it is required.", None, "", "any", None, "The place where it is required."),
        ("Object{unclosed: string. x", None, "", "any", None, "Object{unclosed: string. x"),
        ("#Body. The rest.", None, "#Body", "any", None, "The rest."),
    ],
)
def test_prose(prose, required, raw_type, kind, enum, description):
    found = read_prose("k", prose, habit=None)
    assert (found.required, found.raw_type, str(found.type)) == (required, raw_type, kind)
    assert (found.enum, found.description) == (enum, description)


def test_keys_inside_an_object():
    prose = (
        "Required. Array[Object{id: string. The id, or {x}, as in: a, b., range: Required. "
        "Array[integer. One of: [1]. ]. From [0, to)., deep: Object{query: any. (optional), a: b}. }. ]. All of them."
    )
    found = read_prose("k", prose, habit=True)
    assert (found.required, found.description) == (True, "All of them.")
    assert found.raw_type == prose.removeprefix("Required. ").removesuffix(". All of them.")
    identifier, range_, deep = found.type.items.properties
    assert (identifier.name, identifier.required, identifier.description) == (
        "id",
        True,
        "The id, or {x}, as in: a, b.",
    )
    assert (range_.name, range_.type.items.enum, range_.description) == ("range", (1,), "From [0, to).")
    [query] = deep.type.properties
    assert (query.name, query.required, query.description) == ("query", False, "(optional), a: b")


def test_names_without_types_inside_an_object():
    found = read_prose("k", "Object{from, to}. The span.", habit=None)
    assert [(p.name, p.raw_type) for p in found.type.properties] == [("from", ""), ("to", "")]


TYPES = st.sampled_from([("string", "str"), ("integer", "int"), ("Array[number]", "list[float]"), ("Object", "dict")])
WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters=".[]{}()oOrR", exclude_categories=["Cc", "Z"]), max_size=9
)
MEMBERS = st.lists(st.text("abc é中'-", min_size=1).map(str.strip).filter(bool), min_size=1, max_size=3)


@given(st.dictionaries(st.text(min_size=1), st.tuples(st.booleans(), TYPES, WORDS, st.none() | MEMBERS), max_size=3))
def test_what_is_printed_reads_as_itself(keys):
    def printed(required, names, text, members):
        enum = f" One of: [{', '.join(members)}]." if members else ""
        return f"{'Required. ' * required}{names[0]}.{enum}{f' {text}.' * bool(text)}"

    prose = {key: printed(*said) for key, said in keys.items()}
    [tool] = tools(f"a-b: Text: of it.\nParameters: {json.dumps(prose)}\nOutput: x.\n - Structure: Object{{a}}\n")
    assert (tool.name, tool.description) == ("a-b", "Text: of it.")
    assert [p.name for p in tool.parameters] == list(keys)
    for parameter, (required, (raw_type, kind), text, members) in zip(tool.parameters, keys.values(), strict=True):
        assert (parameter.required, parameter.raw_type, str(parameter.type)) == (required, raw_type, kind)
        quoted = bool(members) and members[0].startswith("'")
        assert quoted or parameter.enum == (tuple(members) if members else None)
        assert parameter.description == (f"{text}." if text else "")


LAYOUTS = {
    "names that are no identifiers": (
        'preferred-routes_get: Routes.\nParameters: {"from": "Required. string."}\nOutput: x\n/a.b: B.\n'
        "Parameters: {}\nOutput: y\n - Format: z\n",
        "preferred-routes_get(from) /a.b()",
    ),
    "description of several lines": (
        'a: One.\nParameters: {"x": "string."}\nOutput: o\n - Structure: s\nb: Two,\nof: several\nlines.\n'
        'Parameters: {"y": "string."}',
        "a(x) b(y)",
    ),
    "object over several lines": (
        'a: One.\nParameters: {\n  "x": "string.",\n  "y": "Required. Foo"\n}\nb: c',
        "a(x y)",
    ),
    "indented, windows": (
        '  a: One.\r\n  Parameters: {"x": "string."}\r\n  Output: o\r\n  b: B.\r\n  Parameters: {}\r\n  Output: p',
        "a(x) b()",
    ),
    "bullets": ('- a: One.\n  Parameters: {"x": "string."}\n- b: Two.\n  Parameters: {"y": "string."}', "a(x) b(y)"),
    "numbered without keys": (
        "1. Name: a\nDescription: A.\nInput: None\nOutput: o\n\n2. Name: b\nDescription: B\nInput: {}",
        "a() b()",
    ),
    "untyped but described": ('1. Name: a\nDescription: A.\nInput: {"q": "The query"}', "a(q)"),
    "output is no key": (
        '1. Name: a\nDescription: A.\nInput: {"q": "Optional. String."}\nOutput: {"Input": "String. x"}\n\n'
        "The detailed output format:\n#A: Object{b}",
        "a(q)",
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    text, expected = LAYOUTS[layout]
    assert " ".join(f"{t.name}({' '.join(p.name for p in t.parameters)})" for t in tools(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        'Thought: I need it\nAction: search\nInput: {"query": "Berlin"}\nOutput: found',
        'Action: search\nParameters: {"query": "Berlin"}',
        'Name: search\nInput: {"query": "Berlin"}\nOutput: found',
        'search: find it\nInput: {"query": "Berlin"}\nOutput: found',
        'search: Searches.\nParameters: {"type": "object", "properties": {"q": {"type": "string"}}}',
        'Name: search\nDescription: Searches.\nParameters: {"type": "object"}',
        "Name: search\nInput: {}\nOutput: found",
        'search: a call\n\nParameters: {"q": "string. The query."}',
        "search: see below\nParameters: {what you like",
        "Parameters: {}",
    ],
)
def test_what_only_resembles_documentation(text):
    assert not list(FORM.find(text))


def test_a_malformed_object_is_named():
    [entry] = FORM.find('a: A.\nParameters: {"q": "Required. string. The "query"."}\nOutput: x')
    assert isinstance(entry.tool, MisreadError)
    assert "tool 'a'" in str(entry.tool)
    with pytest.raises(DocumentationError, match="tool 'a'"):
        list(OBJECT_FORM.read({"a": 'A.\nParameters: {"q": "string.}'}))


FRAGMENTS = [
    "a: b", "\n", "\r\n", " ", "Parameters: {", "Input: None", "Input: ", "1. Name: c", "Description: d", "Output: e",
    " - Structure: f", " - Format: g", "{{", "}}", "{", "}", '"', '"k": "', "Required. ", "string. ", "One of: [", "]",
    "Array[", "Object{", "x: integer. ", ",", '"""',
]  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS)).map("".join))
def test_any_text_gives_stretches_in_order(text):
    position = 0
    for entry in FORM.find(text):
        assert position <= entry.start < entry.end <= len(text)
        position = entry.end
    read_prose("k", text, habit=None)


def test_stretches_reach_to_the_end_of_the_output():
    text = 'See:\na: A.\nParameters: {"q": "string."}\nOutput: x\n - Format: y\n - Structure: {"z": 1}\n\nGo: on'
    [entry] = FORM.find(text)
    assert text[entry.start : entry.end] == text[text.index("a: A") : text.index("\n\nGo")]


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"components": "a\nParameters: {}"},
        {"a": "A.\nParameters: {}", "b": "B."},
        {"a": "A.\nParameters: {}", "b": 1},
        {"NLDocumentation": "a: A.\nParameters: {}\nb: B.\nParameters: {}"},
    ],
)
def test_other_objects_are_not_claimed(data):
    assert not OBJECT_FORM.claims(data)


WORST = {
    "objects": lambda n: 'a: b\nParameters: {"' * n,
    "objects on one line": lambda n: "a: b\n" + 'Parameters: {"' * n,
    "objects with texts": lambda n: 'a: b\nParameters: {"a": """\n' * n,
    "doubled braces": lambda n: "a: b\nParameters: " + "{" * n,
    "members": lambda n: 'a: b\nParameters: {"a": "string. ' + "One of: [" * n + '"}',
    "closed members": lambda n: 'a: b\nParameters: {"a": "string. ' + "One of: [a]. " * n + 'x"}',
    "nested objects": lambda n: 'a: b\nParameters: {"a": "' + "Object{a: " * n + "}" * n + '."}',
    "nested lists": lambda n: 'a: b\nParameters: {"a": "' + "Array[" * n + "]" * n + '."}',
    "keys in an object": lambda n: 'a: b\nParameters: {"a": "Object{' + "a: string. x., " * n + '}."}',
    "commas": lambda n: 'a: b\nParameters: {"a": "Object{' + "," * n + '}."}',
    "odd brackets": lambda n: 'a: b\nParameters: {"a": "string. ' + "[{]" * n + '"}',
    "names": lambda n: "a: b\n" * n + "Parameters: {}",
    "one line": lambda n: "a:" * n + "Parameters: {}",
    "numbers": lambda n: "1. Name: a\n" * n + "Input: {}",
    "outputs": lambda n: "a: b\nParameters: {}\n" + "Output: x\n" * n,
    "spaces": lambda n: "a: b\nParameters:" + " " * n + "x" + " " * n,
}


def read(text):
    list(FORM.find(text))


@pytest.mark.parametrize("worst", WORST)
def test_doubling_the_text_doubles_the_time(worst):
    assert_linear(read, WORST[worst], 4000)
